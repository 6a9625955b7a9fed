import type { MazeView } from "@hallumaze/contract";
import {
  cellSide,
  linePath,
  type Mark,
  marksPath,
  marksShown,
  middleOf,
  recentSteps,
  type Replay,
  standsAt,
  type ViewCell,
  type ViewStep,
  visibleText,
  wallPath,
} from "@hallumaze/display";
import { memo, type PointerEvent, type ReactNode, useId, useMemo } from "react";

import { usePreferences } from "./preferences.tsx";

/** What of a maze is drawn beside its walls and the walk. */
export interface MazeLayers {
  readonly solution: boolean;
  readonly deadEnds: boolean;
  readonly traps: boolean;
  /** The path that the model gave as its last word. */
  readonly finalPath: boolean;
}

interface MazeDrawingProps {
  readonly maze: Pick<MazeView, "rows" | "solution" | "deadEnds" | "traps">;
  readonly replay: Replay;
  readonly position: number;
  /** The attempt that is pointed at, here or in the reply; null where none is. */
  readonly hovered: number | null;
  /** Null where none was read. */
  readonly finalPath: readonly ViewCell[] | null;
  readonly layers: MazeLayers;
  readonly label: string;
  readonly onHover: (attempt: number | null) => void;
  readonly onPick: (attempt: number) => void;
}

/** Marks are drawn in groups of so many, of which all but the last never change while a walk is replayed. */
const groupSize = 256;
const tailLength = 12;
const margin = 4;

/** A maze with the walk up to a position: incremental, so that a step redraws little however long the walk is. */
export function MazeDrawing(props: MazeDrawingProps): ReactNode {
  const { maze, replay, position, hovered, layers, onHover, onPick } = props;
  const { t } = usePreferences();
  const side = maze.rows.length * cellSide;
  const title = useId();
  const here = standsAt(replay, position);
  const arrivals = useMemo(() => arrivalsByCell(replay.steps), [replay]);
  const attemptAt = (event: PointerEvent<SVGSVGElement>): number | null => {
    const box = event.currentTarget.getBoundingClientRect();
    const scale = (side + 2 * margin) / box.width;
    const column = Math.floor(((event.clientX - box.left) * scale - margin) / cellSide);
    const row = Math.floor(((event.clientY - box.top) * scale - margin) / cellSide);
    const found = arrivals.get(`${row},${column}`) ?? [];
    return found.findLast((attempt) => attempt < position) ?? found[0] ?? null;
  };
  const hoveredStep = hovered === null ? undefined : replay.steps[hovered];
  return (
    <svg
      className="maze"
      viewBox={`${-margin} ${-margin} ${side + 2 * margin} ${side + 2 * margin}`}
      role="img"
      aria-labelledby={title}
      onPointerMove={(event) => onHover(attemptAt(event))}
      onPointerLeave={() => onHover(null)}
      onPointerDown={(event) => {
        const attempt = attemptAt(event);
        if (attempt !== null) onPick(attempt);
      }}
    >
      <title id={title}>{props.label}</title>
      <MazeGround maze={maze} layers={layers} startText={t("maze.start")} exitText={t("maze.exit")} />
      <Marks marks={replay.marks} shown={marksShown(replay.marks, position)} />
      {layers.finalPath && props.finalPath !== null && (
        <path className="maze-final-path" d={linePath(props.finalPath)} />
      )}
      <Tail steps={recentSteps(replay, position, tailLength)} />
      {hoveredStep !== undefined && <Hovered step={hoveredStep} />}
      {here !== null && <Walker x={middleOf(here).x} y={middleOf(here).y} last={replay.steps[position - 1]} />}
      <MazeWalls rows={maze.rows} />
      {layers.traps && maze.traps.map((trap) => <TrapSign key={`${trap.row},${trap.col},${trap.dir}`} trap={trap} />)}
    </svg>
  );
}

/** Attempts by the cell that they end on, or bumped from: `row,column`. */
function arrivalsByCell(steps: readonly ViewStep[]): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  steps.forEach(({ to, from }, attempt) => {
    const cell = to ?? from;
    if (cell === null) return;
    const key = cell.join();
    const list = found.get(key);
    if (list === undefined) found.set(key, [attempt]);
    else list.push(attempt);
  });
  return found;
}

/** The walls alone, over everything else. */
const MazeWalls = memo(function MazeWalls({ rows }: { readonly rows: readonly (readonly number[])[] }) {
  return <path className="maze-walls" d={wallPath(rows)} />;
});

const MazeGround = memo(function MazeGround(props: {
  readonly maze: MazeDrawingProps["maze"];
  readonly layers: MazeLayers;
  readonly startText: string;
  readonly exitText: string;
}) {
  const { maze, layers } = props;
  const size = maze.rows.length;
  const last = (size - 1) * cellSide;
  return (
    <g>
      <rect className="maze-floor" width={size * cellSide} height={size * cellSide} />
      <rect className="maze-start" width={cellSide} height={cellSide} />
      <rect className="maze-exit" x={last} y={last} width={cellSide} height={cellSide} />
      {layers.deadEnds &&
        maze.deadEnds.map((cell) => (
          <circle
            key={cell.join()}
            className="maze-dead-end"
            cx={middleOf(cell).x}
            cy={middleOf(cell).y}
            r={cellSide * 0.32}
          />
        ))}
      {layers.solution && <path className="maze-solution" d={linePath(maze.solution)} />}
      <text className="maze-letter" x={cellSide / 2} y={cellSide * 0.92}>
        {props.startText}
      </text>
      <text className="maze-letter" x={last + cellSide / 2} y={last + cellSide * 0.92}>
        {props.exitText}
      </text>
    </g>
  );
});

const turns = { N: 0, E: 90, S: 180, W: 270 } as const;

/** A trap: an arrow that points where its hint leads. The hint is its title, and stands in the list beside the maze too. */
export function TrapSign({ trap }: { readonly trap: MazeView["traps"][number] }): ReactNode {
  const { x, y } = middleOf([trap.row, trap.col]);
  const far = cellSide * 0.34;
  return (
    <g
      className={trap.hint === null ? "maze-trap maze-trap-mute" : "maze-trap"}
      transform={`translate(${x} ${y}) rotate(${turns[trap.dir]}) translate(0 ${-far})`}
    >
      <path d="M-8 5L0 -7L8 5Z" />
      <text y="4" transform={`rotate(${-turns[trap.dir]})`}>
        !
      </text>
      {trap.hint !== null && <title>{visibleText(trap.hint)}</title>}
    </g>
  );
}

function Marks({ marks, shown }: { readonly marks: readonly Mark[]; readonly shown: number }): ReactNode {
  const groups = Math.ceil(shown / groupSize);
  return (
    <g>
      {Array.from({ length: groups }, (_, group) => {
        const start = group * groupSize;
        return <MarkGroup key={start} marks={marks} start={start} end={Math.min(shown, start + groupSize)} />;
      })}
    </g>
  );
}

const MarkGroup = memo(function MarkGroup(props: {
  readonly marks: readonly Mark[];
  readonly start: number;
  readonly end: number;
}) {
  const marks = props.marks.slice(props.start, props.end);
  const has = (sign: Mark["sign"]) => marks.some((mark) => mark.sign === sign);
  return (
    <>
      {(["trail", "trap", "leap", "bump"] as const).map((sign) =>
        has(sign) ? <path key={sign} className={`mark mark-${sign}`} d={marksPath(marks, sign)} /> : null,
      )}
    </>
  );
});

/** The last steps, the newest strongest: where the walk came from, and whether it went back. */
function Tail({ steps }: { readonly steps: readonly ViewStep[] }): ReactNode {
  const lines = steps.flatMap((step, at) =>
    step.kind === "ok" && step.from !== null && step.to !== null && step.relocation !== "teleport"
      ? [{ d: linePath([step.from, step.to]), age: steps.length - at }]
      : [],
  );
  return (
    <g className="tail">
      {lines.map(({ d, age }) => (
        <path key={age} d={d} opacity={Math.max(0.1, 1 - age / (tailLength + 1))} />
      ))}
    </g>
  );
}

function Hovered({ step }: { readonly step: ViewStep }): ReactNode {
  const cell = step.to ?? step.from;
  if (cell === null) return null;
  const { x, y } = middleOf(cell);
  const d = step.from !== null && step.to !== null ? linePath([step.from, step.to]) : "";
  return (
    <g className="hovered-step">
      {d !== "" && <path d={d} />}
      <circle cx={x} cy={y} r={cellSide * 0.38} />
    </g>
  );
}

/** The walker; after an illegal attempt it shows where it ran into the wall. */
function Walker(props: { readonly x: number; readonly y: number; readonly last: ViewStep | undefined }): ReactNode {
  const { x, y, last } = props;
  const bumped = last !== undefined && (last.kind === "wall" || last.kind === "outOfGrid") && last.dir !== null;
  return (
    <g className={bumped ? "walker walker-bumped" : "walker"} transform={`translate(${x} ${y})`}>
      <circle r={cellSide * 0.22} />
      {bumped && last.dir !== null && (
        <g transform={`rotate(${turns[last.dir]})`}>
          <path d={`M0 ${-cellSide * 0.22}V${-cellSide * 0.42}M-7 ${-cellSide * 0.44}H7`} />
        </g>
      )}
    </g>
  );
}

/** What the signs of the drawing mean. */
export function Legend(): ReactNode {
  const { t } = usePreferences();
  return (
    <ul className="legend maze-legend">
      {(["trail", "tail", "bump", "leap", "trap", "solution", "finalPath"] as const).map((sign) => (
        <li key={sign}>
          <svg viewBox="0 0 24 12" aria-hidden="true" focusable="false">
            {sign === "bump" ? (
              <path className="mark mark-bump" d="M8 2l8 8M16 2l-8 8" />
            ) : sign === "trap" ? (
              <g className="maze-trap">
                <path d="M6 10L12 1L18 10Z" />
              </g>
            ) : sign === "leap" ? (
              <path className="mark mark-leap" d="M1 10Q12 -4 23 10" />
            ) : sign === "solution" ? (
              <path className="maze-solution" d="M1 6H23" />
            ) : sign === "finalPath" ? (
              <path className="maze-final-path" d="M1 6H23" />
            ) : sign === "tail" ? (
              <g className="tail">
                <path d="M1 6H23" />
              </g>
            ) : (
              <path className="mark mark-trail" d="M1 6H23" />
            )}
          </svg>
          {t(`legend.${sign}`)}
        </li>
      ))}
    </ul>
  );
}
