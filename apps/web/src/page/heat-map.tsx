import type { GridView } from "@hallumaze/contract";
import {
  formatNumber,
  type GridLayout,
  inkOn,
  stateSigns,
  type Theme,
  trialAt,
  unknown,
  unknownColours,
  valueColour,
  visibleText,
} from "@hallumaze/display";
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useEffect,
  useEffectEvent,
  useMemo,
  useRef,
  useState,
} from "react";

import { usePreferences } from "./preferences.tsx";
import { stateFill } from "./states.tsx";

const cell = 16;
const gap = 10;
const headHeight = 26;

interface HeatMapProps {
  readonly grid: GridView;
  readonly layout: GridLayout;
  /** Each condition in words, by its place. */
  readonly conditionTexts: readonly string[];
  readonly onOpen: (trial: number) => void;
}

interface Place {
  readonly row: number;
  readonly column: number;
}

/**
 * A grid drawn on a canvas as large as the window on it: only what is in view is drawn, so that 200,000 cells scroll as
 * lightly as a hundred. Arrow keys go from cell to cell, Enter opens the trial; the cell is read out.
 */
export function HeatMap(props: HeatMapProps): ReactNode {
  const { grid, layout, conditionTexts } = props;
  const { t, word, theme, language } = usePreferences();
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [at, setAt] = useState<Place>({ row: 0, column: 0 });
  const [isFocused, setFocused] = useState(false);
  const [pointed, setPointed] = useState<Place | null>(null);
  const tops = useMemo(() => rowTops(layout), [layout]);
  const paints = useMemo(() => paintsOf(grid, theme), [grid, theme]);
  const labelWidth = Math.min(
    300,
    Math.max(140, ...layout.rows.map((row) => labelOf(grid, row, conditionTexts).length * 6.4)),
  );
  const width = layout.columns * cell;
  const height = (tops.at(-1) ?? 0) + cell;

  const draw = useEffectEvent(() => {
    const [board, frame] = [canvas.current, scroller.current];
    if (board === null || frame === null) return;
    const cursor = isFocused ? at : null;
    drawGrid(board, frame, { grid, layout, conditionTexts, tops, paints, labelWidth, theme, cursor });
  });
  useEffect(() => draw());
  useEffect(() => {
    const frame = scroller.current;
    if (frame === null) return;
    let pending = 0;
    const later = () => {
      pending ||= requestAnimationFrame(() => {
        pending = 0;
        draw();
      });
    };
    const sizes = new ResizeObserver(later);
    sizes.observe(frame);
    frame.addEventListener("scroll", later, { passive: true });
    return () => {
      cancelAnimationFrame(pending);
      sizes.disconnect();
      frame.removeEventListener("scroll", later);
    };
  }, []);

  const placeOf = (event: MouseEvent): Place | null => {
    const frame = scroller.current;
    if (frame === null) return null;
    const box = frame.getBoundingClientRect();
    const x = event.clientX - box.left - labelWidth + frame.scrollLeft;
    const y = event.clientY - box.top - headHeight + frame.scrollTop;
    if (event.clientX - box.left < labelWidth || event.clientY - box.top < headHeight) return null;
    const row = tops.findLastIndex((top) => top <= y);
    const column = Math.floor(x / cell);
    return trialAt(layout, row, column) === null ? null : { row, column };
  };
  const text = ({ row, column }: Place): string => {
    const trial = trialAt(layout, row, column);
    const shown = layout.rows[row];
    const where = [
      visibleText(grid.models[shown?.model ?? 0] ?? ""),
      conditionTexts[shown?.condition ?? 0] ?? "",
      t("trial.seed", { seed: String(grid.seeds[column] ?? "") }),
    ];
    if (trial === null) return [...where, t("grid.empty")].join(" · ");
    const state = word("state", grid.states[grid.cells.state[trial] ?? -1] ?? unknown);
    const value = grid.metric === "state" ? [] : [formatNumber(grid.cells.value[trial] ?? null, 3, language)];
    return [...where, state, ...value].join(" · ");
  };
  const move = (event: KeyboardEvent) => {
    const to = movedBy(event, at, layout);
    if (event.key === "Enter" || event.key === " ") {
      const trial = trialAt(layout, at.row, at.column);
      if (trial !== null) props.onOpen(trial);
    } else if (to === null) return;
    else {
      setAt(to);
      showPlace(scroller.current, to, tops, labelWidth);
    }
    event.preventDefault();
  };
  const shown = isFocused ? at : pointed;
  return (
    <div className="heat-map">
      {/* An application: its keys go from cell to cell. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
      <div
        ref={scroller}
        className="heat-map-frame"
        style={{ height: height + headHeight + 20 }}
        role="application"
        aria-roledescription={t("grid.role")}
        aria-label={t("grid.label", { n: grid.cells.trialId.length })}
        tabIndex={0}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
        onKeyDown={move}
        onMouseMove={(event) => setPointed(placeOf(event))}
        onMouseLeave={() => setPointed(null)}
        onClick={(event) => {
          const place = placeOf(event);
          const trial = place === null ? null : trialAt(layout, place.row, place.column);
          if (trial !== null) props.onOpen(trial);
        }}
      >
        <canvas ref={canvas} className="heat-map-canvas" />
        <div className="heat-map-size" style={{ width: width + labelWidth, height: height + headHeight }} />
      </div>
      <p className="heat-map-text" aria-live="polite">
        {shown === null ? t("grid.hint") : text(shown)}
      </p>
    </div>
  );
}

function labelOf(grid: GridView, row: GridLayout["rows"][number], conditionTexts: readonly string[]): string {
  return row.first ? visibleText(grid.models[row.model] ?? "") : (conditionTexts[row.condition] ?? "");
}

/** The upper edge of each row: each model begins with a line for its name. */
function rowTops(layout: GridLayout): readonly number[] {
  let top = 0;
  return layout.rows.map(({ first }) => {
    top += first ? gap + cell : 0;
    const own = top;
    top += cell;
    return own;
  });
}

/** Fill and sign of each trial, worked out once and not at each drawing. */
function paintsOf(
  grid: GridView,
  theme: Theme,
): { readonly fills: readonly string[]; readonly signs: readonly string[] } {
  const states = grid.states.map((state) => ({ fill: stateFill(state, theme), sign: stateSigns[state] ?? "" }));
  if (grid.metric === "state") {
    return {
      fills: grid.cells.state.map((state) => states[state]?.fill ?? unknownColours[theme]),
      signs: grid.cells.state.map((state) => states[state]?.sign ?? ""),
    };
  }
  const bounds = { min: grid.range?.lo ?? 0, max: grid.range?.hi ?? 1 };
  return {
    fills: grid.cells.value.map((value) => valueColour(value, bounds, theme)),
    signs: grid.cells.value.map((value, at) =>
      value === null ? (states[grid.cells.state[at] ?? -1]?.sign ?? "") : "",
    ),
  };
}

interface Drawing {
  readonly grid: GridView;
  readonly layout: GridLayout;
  readonly conditionTexts: readonly string[];
  readonly tops: readonly number[];
  readonly paints: ReturnType<typeof paintsOf>;
  readonly labelWidth: number;
  readonly theme: Theme;
  readonly cursor: Place | null;
}

function drawGrid(board: HTMLCanvasElement, frame: HTMLElement, drawing: Drawing): void {
  const { grid, layout, tops, paints, labelWidth, theme, cursor } = drawing;
  const scale = devicePixelRatio;
  const { clientWidth: width, clientHeight: height, scrollLeft: left, scrollTop: top } = frame;
  if (board.width !== width * scale || board.height !== height * scale) {
    board.width = width * scale;
    board.height = height * scale;
    board.style.width = `${width}px`;
    board.style.height = `${height}px`;
  }
  const pen = board.getContext("2d");
  if (pen === null) return;
  const style = getComputedStyle(frame);
  const [ink, ground] = [style.color, style.getPropertyValue("--card")];
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = "bold 11px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  const firstColumn = Math.max(0, Math.floor(left / cell));
  const lastColumn = Math.min(layout.columns - 1, Math.floor((left + width - labelWidth) / cell));
  const visible = tops.flatMap((y, row) => (y + cell >= top && y - gap - cell <= top + height ? [row] : []));
  for (const row of visible) {
    const y = (tops[row] ?? 0) - top + headHeight;
    for (let column = firstColumn; column <= lastColumn; column++) {
      const trial = layout.trials[row * layout.columns + column] ?? -1;
      if (trial < 0) continue;
      const x = labelWidth + column * cell - left;
      const fill = paints.fills[trial] ?? "";
      pen.fillStyle = fill;
      pen.fillRect(x, y, cell - 1, cell - 1);
      const sign = paints.signs[trial];
      if (sign) {
        pen.fillStyle = inkOn(fill);
        pen.fillText(sign, x + cell / 2 - 0.5, y + cell / 2);
      }
    }
  }
  if (cursor !== null) {
    const x = labelWidth + cursor.column * cell - left;
    const y = (tops[cursor.row] ?? 0) - top + headHeight;
    pen.lineWidth = 3;
    pen.strokeStyle = theme === "dark" ? "#000000" : "#ffffff";
    pen.strokeRect(x - 1.5, y - 1.5, cell + 2, cell + 2);
    pen.lineWidth = 2;
    pen.strokeStyle = ink;
    pen.strokeRect(x - 2.5, y - 2.5, cell + 4, cell + 4);
  }
  // Names stay in view: they are drawn last, over what scrolled below them.
  pen.fillStyle = ground;
  pen.fillRect(0, 0, labelWidth, height);
  pen.fillRect(0, 0, width, headHeight);
  pen.fillStyle = ink;
  pen.textAlign = "left";
  for (const row of visible) {
    const shown = layout.rows[row];
    if (shown === undefined) continue;
    const y = (tops[row] ?? 0) - top + headHeight;
    pen.save();
    pen.beginPath();
    // A model's name has a line of its own: it may be longer than the conditions below it.
    pen.rect(0, headHeight, width, height);
    pen.clip();
    if (shown.first) {
      pen.font = "600 12px system-ui, sans-serif";
      pen.fillText(visibleText(grid.models[shown.model] ?? ""), 2, y - cell / 2);
    }
    pen.font = "11px system-ui, sans-serif";
    pen.fillText(drawing.conditionTexts[shown.condition] ?? "", 12, y + cell / 2, labelWidth - 16);
    pen.restore();
  }
  pen.save();
  pen.beginPath();
  pen.rect(labelWidth, 0, width, headHeight);
  pen.clip();
  pen.font = "11px system-ui, sans-serif";
  const every = Math.max(1, Math.ceil(64 / cell));
  for (let column = firstColumn - (firstColumn % every); column <= lastColumn; column += every) {
    pen.fillText(String(grid.seeds[column] ?? ""), labelWidth + column * cell - left, headHeight / 2);
  }
  pen.restore();
}

function movedBy(event: KeyboardEvent, at: Place, layout: GridLayout): Place | null {
  const { row, column } = at;
  const rows = layout.rows.length - 1;
  const columns = layout.columns - 1;
  switch (event.key) {
    case "ArrowLeft":
      return { row, column: Math.max(0, column - 1) };
    case "ArrowRight":
      return { row, column: Math.min(columns, column + 1) };
    case "ArrowUp":
      return { row: Math.max(0, row - 1), column };
    case "ArrowDown":
      return { row: Math.min(rows, row + 1), column };
    case "Home":
      return { row: event.ctrlKey ? 0 : row, column: 0 };
    case "End":
      return { row: event.ctrlKey ? rows : row, column: columns };
    case "PageUp":
      return { row: Math.max(0, row - 10), column };
    case "PageDown":
      return { row: Math.min(rows, row + 10), column };
    default:
      return null;
  }
}

/** Scrolls as little as brings a cell into the part of the frame that the names leave free. */
function showPlace(frame: HTMLElement | null, place: Place, tops: readonly number[], labelWidth: number): void {
  if (frame === null) return;
  const x = place.column * cell;
  const y = tops[place.row] ?? 0;
  const [width, height] = [frame.clientWidth - labelWidth, frame.clientHeight - headHeight];
  if (x < frame.scrollLeft) frame.scrollLeft = x - cell;
  else if (x + cell > frame.scrollLeft + width) frame.scrollLeft = x + 2 * cell - width;
  if (y - cell - gap < frame.scrollTop) frame.scrollTop = y - cell - gap;
  else if (y + cell > frame.scrollTop + height) frame.scrollTop = y + 2 * cell - height;
}
