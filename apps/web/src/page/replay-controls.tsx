import {
  confidenceRuns,
  curveX,
  formatCount,
  formatShare,
  nextEvent,
  playedTo,
  type Replay,
  runPath,
  type ViewStep,
} from "@hallumaze/display";
import { memo, type ReactNode, useCallback, useEffect, useMemo, useState } from "react";

import { usePreferences } from "./preferences.tsx";

/** Attempts a second that the reader may choose. */
const speeds = [1, 2, 5, 10, 50, 500] as const;

/** A replay's position, and ways to change it. Position 0 is START; `length` is behind the last attempt. */
export interface Player {
  readonly position: number;
  readonly length: number;
  readonly isPlaying: boolean;
  readonly speed: number;
  /** Goes to a position, as near as there is one, and stops. */
  readonly seek: (position: number) => void;
  readonly toggle: () => void;
  readonly setSpeed: (speed: number) => void;
}

/** A player for a walk of so many attempts. It begins at START and stands still until it is told to go. */
export function usePlayer(length: number): Player {
  const [position, setPosition] = useState(0);
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<number>(length > 400 ? 50 : 2);
  const seek = useCallback(
    (to: number) => {
      setPlaying(false);
      setPosition(Math.max(0, Math.min(length, Math.round(to))));
    },
    [length],
  );
  const toggle = useCallback(() => {
    setPosition((now) => (!isPlaying && now >= length ? 0 : now));
    setPlaying(!isPlaying);
  }, [isPlaying, length]);
  useEffect(() => {
    if (!isPlaying) return;
    let frame = 0;
    let from: number | null = null;
    let startMs = 0;
    const draw = (nowMs: number) => {
      setPosition((now) => {
        if (from === null) {
          from = now;
          startMs = nowMs;
        }
        return playedTo(from, nowMs - startMs, speed, length).position;
      });
      if (from !== null && playedTo(from, nowMs - startMs, speed, length).ended) setPlaying(false);
      else frame = requestAnimationFrame(draw);
    };
    frame = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, speed, length]);
  return useMemo(
    () => ({ position, length, isPlaying, speed, seek, toggle, setSpeed }),
    [position, length, isPlaying, speed, seek, toggle],
  );
}

/**
 * Keys of a replay: left and right a step, with Shift an event, Home and End, Space to play. True where the key was one of
 * them; fields and buttons keep their own.
 */
export function playByKey(event: KeyboardEvent, player: Player, nextEventAt: (direction: 1 | -1) => number): boolean {
  if (event.altKey || event.ctrlKey || event.metaKey) return false;
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest("input, select, textarea, dialog, [role=tab]")) return false;
  switch (event.key) {
    case "ArrowRight":
      player.seek(event.shiftKey ? nextEventAt(1) : player.position + 1);
      return true;
    case "ArrowLeft":
      player.seek(event.shiftKey ? nextEventAt(-1) : player.position - 1);
      return true;
    case "Home":
      player.seek(0);
      return true;
    case "End":
      player.seek(player.length);
      return true;
    case " ":
      if (target?.closest("button, a, summary")) return false;
      player.toggle();
      return true;
    default:
      return false;
  }
}

/** Buttons, a scrubber and the speed of a replay, with the line that says what the step is. */
export function ReplayControls(props: { readonly player: Player; readonly replay: Replay }): ReactNode {
  const { player, replay } = props;
  const { t, language } = usePreferences();
  const { position, length } = player;
  const told = useStepText(replay);
  const button = (label: string, sign: string, to: number, disabled: boolean) => (
    <button
      type="button"
      className="icon"
      aria-label={label}
      title={label}
      disabled={disabled}
      onClick={() => player.seek(to)}
    >
      {sign}
    </button>
  );
  return (
    <div className="controls">
      <div className="control-row">
        {button(t("replay.first"), "⇤", 0, position === 0)}
        {button(t("replay.previousEvent"), "«", nextEvent(replay, position, -1), position === 0)}
        {button(t("replay.back"), "‹", position - 1, position === 0)}
        <button type="button" className="main play" onClick={player.toggle} disabled={length === 0}>
          {player.isPlaying ? t("replay.pause") : t("replay.play")}
        </button>
        {button(t("replay.forward"), "›", position + 1, position >= length)}
        {button(t("replay.nextEvent"), "»", nextEvent(replay, position, 1), position >= length)}
        {button(t("replay.last"), "⇥", length, position >= length)}
        <label className="inline">
          {t("replay.speed")}
          <select value={player.speed} onChange={(event) => player.setSpeed(Number(event.currentTarget.value))}>
            {speeds.map((speed) => (
              <option key={speed} value={speed}>
                {t("replay.perSecond", { n: speed })}
              </option>
            ))}
          </select>
        </label>
      </div>
      <input
        className="scrub"
        type="range"
        min={0}
        max={length}
        value={position}
        aria-label={t("replay.position")}
        aria-valuetext={told(position)}
        onChange={(event) => player.seek(Number(event.currentTarget.value))}
      />
      <p className="step-text" aria-live={player.isPlaying ? "off" : "polite"}>
        <b>{t("replay.stepOf", { n: formatCount(position, language), of: formatCount(length, language) })}</b>{" "}
        {told(position)}
      </p>
    </div>
  );
}

/** What a step is, in words: where from, where to, what it was, how sure the model said it was. */
export function useStepText(replay: Replay): (position: number) => string {
  const { t, word, language } = usePreferences();
  return (position) => {
    const step = replay.steps[position - 1];
    const note = replay.notes[position - 1];
    if (step === undefined || note === undefined) return t("replay.atStart");
    const notes = note === "plain" ? [] : [word("note", note)];
    const implied = note === "trapTaken" ? ["trapFaced", "decision", "branch"] : [];
    const told = step.marks.filter((mark) => mark !== note && !implied.includes(mark));
    const marks = told.map((mark) => word("mark", mark));
    const sure =
      step.confidence === null ? [] : [t("step.confidence", { share: formatShare(step.confidence, language) })];
    return [moveText(step), ...notes, ...marks.filter((mark) => mark !== ""), ...sure].join(" · ");
  };
}

function moveText({ from, to, dir }: ViewStep): string {
  const cell = (at: readonly [number, number] | null) => (at === null ? "?" : `(${at[0]},${at[1]})`);
  return dir === null ? `${cell(from)} → ${cell(to)}` : `${cell(from)} ${dir} → ${cell(to)}`;
}

const box = { width: 600, height: 90 };

/** The confidences of a walk in step with its replay; errors are marked on it. Gaps are attempts without one. */
export function ConfidenceCurve(props: {
  readonly replay: Replay;
  readonly position: number;
  readonly hovered: number | null;
  readonly onHover: (attempt: number | null) => void;
  readonly onPick: (attempt: number) => void;
}): ReactNode {
  const { replay, position, hovered } = props;
  const { t, language } = usePreferences();
  const length = replay.steps.length;
  const sized = { ...box, length };
  const known = useMemo(() => replay.steps.filter(({ confidence }) => confidence !== null).length, [replay]);
  const attemptAt = (event: { clientX: number; currentTarget: SVGSVGElement }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    return Math.max(0, Math.min(length - 1, Math.floor(((event.clientX - left) / width) * length)));
  };
  if (known === 0) return <p className="quiet">{t("confidence.none")}</p>;
  const x = position === 0 ? 0 : curveX(position - 1, sized);
  return (
    <figure className="curve">
      <figcaption>{t("confidence.title")}</figcaption>
      <svg
        viewBox={`0 -6 ${box.width} ${box.height + 12}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t("confidence.label", { n: formatCount(known, language), of: formatCount(length, language) })}
        onPointerMove={(event) => props.onHover(attemptAt(event))}
        onPointerLeave={() => props.onHover(null)}
        onPointerDown={(event) => props.onPick(attemptAt(event))}
      >
        <CurveGround replay={replay} />
        {hovered !== null && (
          <line
            className="curve-hovered"
            x1={curveX(hovered, sized)}
            x2={curveX(hovered, sized)}
            y1={-6}
            y2={box.height + 6}
          />
        )}
        <rect className="curve-future" x={x} y={-6} width={box.width - x} height={box.height + 12} />
        <line className="curve-here" x1={x} x2={x} y1={-6} y2={box.height + 6} />
      </svg>
    </figure>
  );
}

const CurveGround = memo(function CurveGround({ replay }: { readonly replay: Replay }) {
  const sized = { ...box, length: replay.steps.length };
  const runs = confidenceRuns(replay.steps.map(({ confidence }) => confidence));
  const errors = replay.steps
    .map((step, at) => (step.marks.includes("illegal") ? `M${curveX(at, sized).toFixed(1)} ${box.height}v6` : ""))
    .join("");
  const hints = replay.steps
    .map((step, at) => (step.marks.includes("hint") ? `M${curveX(at, sized).toFixed(1)} -6V${box.height + 6}` : ""))
    .join("");
  return (
    <>
      <path className="curve-hints" d={hints} />
      {[0, 0.5, 1].map((share) => (
        <line
          key={share}
          className="curve-rule"
          x1={0}
          x2={box.width}
          y1={share * box.height}
          y2={share * box.height}
        />
      ))}
      {runs.map((run) => (
        <path key={run[0]?.x} className="curve-line" d={`${runPath(run, sized)}${run.length === 1 ? "h2" : ""}`} />
      ))}
      <path className="curve-errors" d={errors} />
    </>
  );
});
