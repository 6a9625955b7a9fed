import type { PairList, TrialView } from "@hallumaze/contract";
import {
  formatCount,
  formatNumber,
  formatUsd,
  nextEvent,
  pairsPath,
  prepareReplay,
  type Replay,
  routeAddress,
  trialPath,
  visibleText,
} from "@hallumaze/display";
import * as Tabs from "@radix-ui/react-tabs";
import {
  memo,
  type ReactNode,
  useCallback,
  useDeferredValue,
  useEffect,
  useEffectEvent,
  useId,
  useMemo,
  useRef,
  useState,
} from "react";

import { useApi } from "./api.ts";
import { Legend, MazeDrawing, type MazeLayers } from "./maze-drawing.tsx";
import { usePreferences } from "./preferences.tsx";
import { ConfidenceCurve, playByKey, type Player, ReplayControls, usePlayer } from "./replay-controls.tsx";
import { type ReplyPlace, ReplyPane, Untrusted } from "./reply-pane.tsx";
import { Loaded } from "./states.tsx";
import { Exchanges, Judgements, Metrics, Prompt } from "./trial-parts.tsx";

/** One trial, or two side by side: the maze walked step by step beside what the model wrote. */
export function TrialPage(props: {
  readonly id: string;
  readonly beside: string | null;
  readonly sweep: string | null;
}): ReactNode {
  const { id, beside } = props;
  const query = useApi<TrialView>(trialPath(id), isUnderWay);
  const other = useApi<TrialView>(beside === null ? null : trialPath(beside));
  return (
    <Loaded query={query}>
      {(trial) =>
        beside === null ? (
          <One trial={trial} sweep={props.sweep ?? trial.sweep} />
        ) : (
          <Loaded query={other}>
            {(second) => <Two trials={[trial, second]} sweep={props.sweep ?? trial.sweep} />}
          </Loaded>
        )
      }
    </Loaded>
  );
}

/** A trial that has not ended is looked at again and again: no event names it. */
function isUnderWay({ state }: TrialView): boolean {
  return state === "planned" || state === "queued" || state === "running" || state === "blocked";
}

function One({ trial, sweep }: { readonly trial: TrialView; readonly sweep: string | null }): ReactNode {
  const { t } = usePreferences();
  const replay = useMemo(() => prepareReplay(trial.walk?.steps ?? []), [trial]);
  const player = usePlayer(replay.steps.length);
  const [hovered, setHovered] = useState<number | null>(null);
  const [place, setPlace] = useState<ReplyPlace | null>(null);
  const pane = useRef<HTMLDivElement>(null);
  // The reply may be a moment behind the maze: a fast replay stays smooth.
  const calmPosition = useDeferredValue(player.position);
  useReplayKeys(player, replay);
  const show = useCallback(({ reply, start }: { readonly reply: number; readonly start: number }) => {
    setPlace((before) => ({ reply, start, wish: (before?.wish ?? 0) + 1 }));
    pane.current?.scrollIntoView({ block: "nearest" });
  }, []);
  const link = { hovered, onHover: setHovered, onPick: (attempt: number) => player.seek(attempt + 1) };
  return (
    <>
      <TrialHead trial={trial} sweep={sweep} />
      <div className="trial">
        <ReplayPart trial={trial} replay={replay} player={player} {...link} />
        <section className="card reply-card" aria-label={t("reply.title")} ref={pane}>
          <h2>{t("reply.title")}</h2>
          {trial.reading !== null && trial.reading.flags.length > 0 && (
            <p className="quiet">{t("reply.flags", { flags: trial.reading.flags.join(", ") })}</p>
          )}
          <ReplyPane trial={trial} replay={replay} position={calmPosition} place={place} {...link} />
        </section>
      </div>
      <Parts trial={trial} onShow={show} />
    </>
  );
}

/** What stands below a replay. Not drawn anew at each of its steps. */
const Parts = memo(function Parts(props: {
  readonly trial: TrialView;
  readonly onShow: (place: { readonly reply: number; readonly start: number }) => void;
}) {
  const { trial, onShow } = props;
  const { t } = usePreferences();
  return (
    <Tabs.Root defaultValue="metrics" className="card">
      <Tabs.List className="tabs" aria-label={t("trial.parts")}>
        <Tabs.Trigger value="metrics">{t("trial.metrics")}</Tabs.Trigger>
        <Tabs.Trigger value="judgements">
          {t("trial.judgements")} <small>{trial.judgements.length}</small>
        </Tabs.Trigger>
        <Tabs.Trigger value="exchanges">
          {t("trial.exchanges")} <small>{trial.exchanges.length}</small>
        </Tabs.Trigger>
        <Tabs.Trigger value="prompt">{t("trial.prompt")}</Tabs.Trigger>
      </Tabs.List>
      <Tabs.Content value="metrics">
        <Metrics trial={trial} />
      </Tabs.Content>
      <Tabs.Content value="judgements">
        <Judgements trial={trial} onShow={onShow} />
      </Tabs.Content>
      <Tabs.Content value="exchanges">
        <Exchanges trial={trial} />
      </Tabs.Content>
      <Tabs.Content value="prompt">
        <Prompt trial={trial} />
      </Tabs.Content>
    </Tabs.Root>
  );
});

function Two(props: { readonly trials: readonly [TrialView, TrialView]; readonly sweep: string | null }): ReactNode {
  const { trials, sweep } = props;
  const { t } = usePreferences();
  const [first, second] = trials;
  const replays = useMemo(
    () => [prepareReplay(first.walk?.steps ?? []), prepareReplay(second.walk?.steps ?? [])] as const,
    [first, second],
  );
  const [isTogether, setTogether] = useState(true);
  const together = usePlayer(Math.max(replays[0].steps.length, replays[1].steps.length));
  const alone = [usePlayer(replays[0].steps.length), usePlayer(replays[1].steps.length)] as const;
  useReplayKeys(isTogether ? together : alone[0], replays[0]);
  const differ = first.maze.size !== second.maze.size || first.maze.seed !== second.maze.seed;
  return (
    <>
      <h1>{t("beside.title")}</h1>
      {differ && <p className="notice">{t("beside.differ")}</p>}
      <label className="inline">
        <input type="checkbox" checked={isTogether} onChange={(event) => setTogether(event.currentTarget.checked)} />
        {t("beside.together")}
      </label>
      <div className="two">
        {([0, 1] as const).map((at) => (
          <div key={at}>
            <TrialHead trial={trials[at]} sweep={sweep} isHalf />
            <HalfReplay
              trial={trials[at]}
              replay={replays[at]}
              player={isTogether ? clipped(together, replays[at].steps.length) : alone[at]}
            />
          </div>
        ))}
      </div>
    </>
  );
}

/** A shared player as one of the two walks sees it: the shorter one waits at its end. */
function clipped(player: Player, length: number): Player {
  return { ...player, position: Math.min(player.position, length), length };
}

function HalfReplay(props: { readonly trial: TrialView; readonly replay: Replay; readonly player: Player }): ReactNode {
  const { trial, replay, player } = props;
  const { t } = usePreferences();
  const [hovered, setHovered] = useState<number | null>(null);
  const link = { hovered, onHover: setHovered, onPick: (attempt: number) => player.seek(attempt + 1) };
  return (
    <>
      <ReplayPart trial={trial} replay={replay} player={player} {...link} />
      <section className="card reply-card reply-half" aria-label={t("reply.title")}>
        <ReplyPane trial={trial} replay={replay} position={player.position} place={null} {...link} />
      </section>
      <section className="card">
        <Metrics trial={trial} />
      </section>
    </>
  );
}

/** Keys work wherever the reader is on the page but in fields, buttons and tabs: a replay is what the page is for. */
function useReplayKeys(player: Player, replay: Replay): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const isOurs = playByKey(event, player, (direction) => nextEvent(replay, player.position, direction));
    if (isOurs) event.preventDefault();
  });
  useEffect(() => {
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

function ReplayPart(props: {
  readonly trial: TrialView;
  readonly replay: Replay;
  readonly player: Player;
  readonly hovered: number | null;
  readonly onHover: (attempt: number | null) => void;
  readonly onPick: (attempt: number) => void;
}): ReactNode {
  const { trial, replay, player, hovered, onHover, onPick } = props;
  const { t, language } = usePreferences();
  const [layers, setLayers] = useState<MazeLayers>({ solution: true, deadEnds: false, traps: true, finalPath: false });
  const heading = useId();
  const layer = (name: keyof MazeLayers) => (
    <label className="inline" key={name}>
      <input
        type="checkbox"
        checked={layers[name]}
        onChange={(event) => setLayers({ ...layers, [name]: event.currentTarget.checked })}
      />
      {t(`layer.${name}`)}
    </label>
  );
  const hints = trial.maze.traps.filter(({ hint }) => hint !== null);
  return (
    <section className="card replay" aria-labelledby={heading}>
      <h2 id={heading}>{t("replay.title")}</h2>
      <MazeDrawing
        maze={trial.maze}
        replay={replay}
        position={player.position}
        hovered={hovered}
        finalPath={trial.reading?.finalPath ?? null}
        layers={layers}
        onHover={onHover}
        onPick={onPick}
        label={t("maze.label", {
          size: trial.maze.size,
          seed: String(trial.maze.seed),
          moves: trial.maze.solution.length - 1,
          deadEnds: trial.maze.deadEnds.length,
          traps: trial.maze.traps.length,
        })}
      />
      {replay.steps.length === 0 ? (
        <p className="notice">{t("replay.none")}</p>
      ) : (
        <>
          <ReplayControls player={player} replay={replay} />
          <ConfidenceCurve
            replay={replay}
            position={player.position}
            hovered={hovered}
            onHover={onHover}
            onPick={onPick}
          />
        </>
      )}
      <div className="layers">{(["solution", "deadEnds", "traps", "finalPath"] as const).map(layer)}</div>
      <Legend />
      {hints.length > 0 && (
        <details className="hints" open>
          <summary>{t("maze.hints", { n: formatCount(hints.length, language) })}</summary>
          <ul>
            {hints.map(({ row, col, dir, hint }) => (
              <li key={`${row},${col},${dir}`}>
                <code>
                  ({row},{col}) {dir}
                </code>{" "}
                <bdi>
                  <Untrusted text={hint ?? ""} />
                </bdi>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

const TrialHead = memo(function TrialHead(props: {
  readonly trial: TrialView;
  readonly sweep: string | null;
  readonly isHalf?: boolean;
}) {
  const { trial, sweep, isHalf } = props;
  const { t, word, language } = usePreferences();
  const Title = isHalf ? "h2" : "h1";
  const mei = trial.profiles
    .find(({ profile }) => profile === "robust")
    ?.formulas.find(({ metric }) => metric === "mei");
  return (
    <header className="trial-head">
      {sweep !== null && !isHalf && (
        <a href={routeAddress({ view: "sweep", name: sweep, tab: "grid" })}>
          ← <bdi>{visibleText(sweep)}</bdi>
        </a>
      )}
      <Title>
        <bdi>{visibleText(trial.model)}</bdi>
      </Title>
      <p className="badges">
        <span className={`badge state-${trial.state}`}>{word("state", trial.state)}</span>
        {trial.outcome !== null && <span className="badge">{word("outcome", trial.outcome)}</span>}
        <span className="badge">
          {trial.size}×{trial.size}
        </span>
        <span className="badge">{t("trial.seed", { seed: String(trial.seed) })}</span>
        <span className="badge">{t("trial.group", { group: trial.group })}</span>
        <span className="badge">{trial.mirage ? t("mirage.on") : t("mirage.off")}</span>
        <span className="badge">{word("language", trial.language)}</span>
        {trial.level?.level != null && <span className="badge">L{trial.level.level}</span>}
        {trial.rehearsal && <span className="badge">{t("sweep.rehearsal")}</span>}
      </p>
      <p className="quiet">
        {t("trial.figures", {
          mei: formatNumber(mei?.value ?? null, 3, language),
          cost: formatUsd(trial.costUsd === null ? null : Number(trial.costUsd), language),
          tries: formatCount(trial.tries, language),
        })}
        {trial.message !== null && (
          <>
            {" "}
            · <Untrusted text={trial.message} />
          </>
        )}
      </p>
      {sweep !== null && !isHalf && <Pairs trial={trial} sweep={sweep} />}
      {isHalf && (
        <a href={routeAddress({ view: "trial", id: trial.trialId, beside: null, sweep })}>{t("beside.alone")}</a>
      )}
    </header>
  );
});

/** Other trials on the same maze, to be opened beside this one. */
function Pairs({ trial, sweep }: { readonly trial: TrialView; readonly sweep: string }): ReactNode {
  const { t, word, language } = usePreferences();
  const query = useApi<PairList>(pairsPath(sweep, trial.trialId));
  const pairs = query.data?.pairs ?? [];
  if (pairs.length === 0) return null;
  return (
    <label className="inline pairs">
      {t("beside.choose")}
      <select
        value=""
        onChange={(event) => {
          if (event.currentTarget.value === "") return;
          location.hash = routeAddress({ view: "trial", id: trial.trialId, beside: event.currentTarget.value, sweep });
        }}
      >
        <option value="">{t("beside.pick", { n: pairs.length })}</option>
        {pairs.map((pair) => (
          <option key={pair.trialId} value={pair.trialId}>
            {[
              word("relation", pair.relation),
              visibleText(pair.model),
              pair.mirage ? t("mirage.on") : t("mirage.off"),
              t("trial.group", { group: pair.group }),
              word("language", pair.language),
              pair.mei === null ? word("state", pair.state) : `MEI ${formatNumber(pair.mei, 2, language)}`,
            ].join(" · ")}
          </option>
        ))}
      </select>
    </label>
  );
}
