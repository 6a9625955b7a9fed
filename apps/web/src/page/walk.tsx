import type { PeopleMaze, PeopleTrialCreated } from "@hallumaze/contract";
import {
  cellSide,
  cellsSeen,
  formatNumber,
  hasEscaped,
  type Heading,
  linePath,
  middleOf,
  personPath,
  type PersonWalk,
  routeAddress,
  startPersonWalk,
  tryMove,
  type ViewCell,
  wallPath,
} from "@hallumaze/display";
import { type FormEvent, type ReactNode, useEffect, useEffectEvent, useRef, useState } from "react";

import { readJson, send } from "./api.ts";
import { useDialogs } from "./dialogs.tsx";
import { TrapSign } from "./maze-drawing.tsx";
import { usePreferences } from "./preferences.tsx";
import { Untrusted } from "./reply-pane.tsx";

/** A maze for people: what a model is asked to do, done by hand, with the confidence asked at each step. */
export function WalkPage(): ReactNode {
  const { t, language } = usePreferences();
  const { sayError } = useDialogs();
  const [maze, setMaze] = useState<PeopleMaze | null>(null);
  const [participant, setParticipant] = useState("");
  const [size, setSize] = useState(7);
  const [seed, setSeed] = useState(1001);
  const [mirage, setMirage] = useState(true);
  const [confidence, setConfidence] = useState(true);
  const start = async (event: FormEvent) => {
    event.preventDefault();
    try {
      const query = `size=${size}&seed=${seed}&mirage=${mirage ? "on" : "off"}&language=${language}`;
      setMaze(await readJson<PeopleMaze>(`/api/people/maze?${query}`));
    } catch (error) {
      sayError(error);
    }
  };
  if (maze !== null) {
    return (
      <Walking
        key={`${maze.size} ${maze.seed}`}
        maze={maze}
        participant={participant.trim()}
        confidence={confidence}
        onLeave={() => setMaze(null)}
      />
    );
  }
  const number = (label: string, value: number, set: (value: number) => void, max: number, min: number) => (
    <label className="field">
      {label}
      <input
        type="number"
        required
        min={min}
        max={max}
        step={1}
        value={value}
        onChange={(event) => set(Number(event.currentTarget.value))}
      />
    </label>
  );
  return (
    <form className="card walk-form" onSubmit={(event) => void start(event)}>
      <h1>{t("walk.title")}</h1>
      <p>{t("walk.intro")}</p>
      <label className="field">
        {t("walk.participant")}
        <input
          required
          maxLength={60}
          value={participant}
          onChange={(event) => setParticipant(event.currentTarget.value)}
        />
      </label>
      {number(t("walk.size"), size, setSize, 25, 3)}
      {number(t("walk.seed"), seed, setSeed, Number.MAX_SAFE_INTEGER, 0)}
      <label className="inline">
        <input type="checkbox" checked={mirage} onChange={(event) => setMirage(event.currentTarget.checked)} />
        {t("walk.mirage")}
      </label>
      <label className="inline">
        <input type="checkbox" checked={confidence} onChange={(event) => setConfidence(event.currentTarget.checked)} />
        {t("walk.confidence")}
      </label>
      <div className="buttons">
        <button type="submit" className="main">
          {t("walk.begin")}
        </button>
      </div>
    </form>
  );
}

const headingKeys: Readonly<Record<string, Heading>> = {
  ArrowUp: "N",
  ArrowRight: "E",
  ArrowDown: "S",
  ArrowLeft: "W",
};
const headingSigns = [
  ["N", "↑"],
  ["W", "←"],
  ["E", "→"],
  ["S", "↓"],
] as const;

function Walking(props: {
  readonly maze: PeopleMaze;
  readonly participant: string;
  readonly confidence: boolean;
  readonly onLeave: () => void;
}): ReactNode {
  const { maze } = props;
  const { t, word, language } = usePreferences();
  const { sayError } = useDialogs();
  const [walk, setWalk] = useState<PersonWalk>(() => startPersonWalk(maze.rows));
  const [sure, setSure] = useState(80);
  const [kept, setKept] = useState<PeopleTrialCreated | null>(null);
  const [isSending, setSending] = useState(false);
  const startedAt = useRef(0);
  const endedAt = useRef<number | null>(null);
  const go = (dir: Heading) => setWalk((before) => tryMove(before, dir, props.confidence ? sure / 100 : null));
  const escaped = hasEscaped(walk);
  useEffect(() => {
    startedAt.current = performance.now();
  }, []);
  useEffect(() => {
    if (escaped) endedAt.current ??= performance.now();
  }, [escaped]);
  const press = useEffectEvent((event: KeyboardEvent) => {
    const dir = headingKeys[event.key];
    if (dir === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target instanceof Element && event.target.closest("input, select, textarea, dialog")) return;
    event.preventDefault();
    go(dir);
  });
  useEffect(() => {
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  const keep = async () => {
    setSending(true);
    try {
      const { size, seed, mirage, language: mazeLanguage } = maze;
      const steps = walk.moves.map(({ from, dir, confidence }) => ({ from, dir, confidence }));
      const latencyMs = Math.round((endedAt.current ?? performance.now()) - startedAt.current);
      const about = { participant: props.participant, size, seed, mirage, language: mazeLanguage };
      const body = { ...about, confidence: props.confidence, steps, finalPath: personPath(walk), latencyMs };
      setKept(await send<PeopleTrialCreated>("/api/people/trials", body));
    } catch (error) {
      sayError(error);
    } finally {
      setSending(false);
    }
  };
  const last = walk.moves.at(-1);
  const signs = maze.signs.filter(({ row, col }) => row === walk.here[0] && col === walk.here[1]);
  return (
    <div className="trial">
      <section className="card" aria-label={t("walk.title")}>
        <h1>{t("walk.title")}</h1>
        <PersonMaze maze={maze} walk={walk} />
        <p role="status" className="step-text">
          {last === undefined
            ? t("replay.atStart")
            : t(last.open ? "walk.moved" : "walk.wall", {
                dir: word("direction", last.dir),
                cell: `(${walk.here.join(",")})`,
                n: walk.moves.length,
              })}{" "}
          {escaped && <b>{t("walk.escaped")}</b>}
        </p>
      </section>
      <section className="card" aria-label={t("walk.controls")}>
        <h2>{t("walk.controls")}</h2>
        {props.confidence && !escaped && (
          <label className="field">
            {t("walk.sure", { share: `${sure}%` })}
            <input
              type="range"
              min={0}
              max={100}
              step={5}
              value={sure}
              onChange={(event) => setSure(Number(event.currentTarget.value))}
            />
          </label>
        )}
        {signs.map(({ dir, hint }) => (
          <p key={dir} className="notice">
            <b>{word("direction", dir)}</b> <Untrusted text={hint ?? ""} />
          </p>
        ))}
        {!escaped && (
          <div className="pad">
            {headingSigns.map(([dir, sign]) => (
              <button key={dir} type="button" className={`pad-${dir}`} onClick={() => go(dir)}>
                <span aria-hidden="true">{sign}</span> {word("direction", dir)}
              </button>
            ))}
          </div>
        )}
        <p className="quiet">{t("walk.keys")}</p>
        <details>
          <summary>{t("walk.text")}</summary>
          <pre className="raw">
            <Untrusted text={maze.text} />
          </pre>
        </details>
        {kept === null ? (
          <div className="buttons">
            <button type="button" onClick={props.onLeave}>
              {t("walk.leave")}
            </button>
            <button
              type="button"
              className="main"
              disabled={walk.moves.length === 0 || isSending}
              onClick={() => void keep()}
            >
              {escaped ? t("walk.keep") : t("walk.giveUp")}
            </button>
          </div>
        ) : (
          <p className="notice" role="status">
            {t("walk.kept", { sr: kept.sr, mei: formatNumber(kept.mei, 3, language) })}{" "}
            <a href={routeAddress({ view: "trial", id: kept.trialId, beside: null, sweep: null })}>{t("walk.look")}</a>{" "}
            <button type="button" onClick={props.onLeave}>
              {t("walk.another")}
            </button>
          </p>
        )}
      </section>
    </div>
  );
}

/** The maze with all its walls, as a model's text has it, the cells stood on, and the way walked. */
function PersonMaze({ maze, walk }: { readonly maze: PeopleMaze; readonly walk: PersonWalk }): ReactNode {
  const { t } = usePreferences();
  const side = maze.size * cellSide;
  const seen = cellsSeen(walk);
  const here = middleOf(walk.here);
  const path: readonly ViewCell[] = [[0, 0], ...walk.moves.filter(({ open }) => open).map(({ to }) => to)];
  const exit = (maze.size - 1) * cellSide;
  return (
    <svg
      className="maze"
      viewBox={`-4 -4 ${side + 8} ${side + 8}`}
      role="img"
      aria-label={t("walk.mazeLabel", { size: maze.size })}
    >
      <rect className="maze-floor" width={side} height={side} />
      {seen.map(([row, column]) => (
        <rect
          key={`${row},${column}`}
          className="maze-seen"
          x={column * cellSide}
          y={row * cellSide}
          width={cellSide}
          height={cellSide}
        />
      ))}
      <rect className="maze-exit" x={exit} y={exit} width={cellSide} height={cellSide} />
      <text className="maze-letter" x={exit + cellSide / 2} y={exit + cellSide * 0.92}>
        {t("maze.exit")}
      </text>
      {maze.signs.map((sign) => (
        <TrapSign key={`${sign.row},${sign.col},${sign.dir}`} trap={sign} />
      ))}
      <path className="mark mark-trail" d={linePath(path)} />
      <g className="walker" transform={`translate(${here.x} ${here.y})`}>
        <circle r={cellSide * 0.22} />
      </g>
      <path className="maze-walls" d={wallPath(maze.rows)} />
    </svg>
  );
}
