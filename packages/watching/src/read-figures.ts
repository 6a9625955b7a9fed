import type { LimiterPort, QueuePort } from "@hallumaze/engine";

import type { Figures, FiguresPort, LaneFigures, LedgerFigures } from "./figures.ts";

/** What reading the figures needs from outside. */
export interface FiguresPorts {
  readonly store: FiguresPort;
  readonly queue: Pick<QueuePort, "depth">;
  readonly limiter: Pick<LimiterPort, "use">;
  /** The lane of the limiter that a judge's lane takes from. */
  readonly limiterLaneOf: (lane: string) => string;
  /** Milliseconds on a clock that only runs forward. */
  readonly monotonicMs: () => number;
}

/** The last look, and how it went. */
export interface Reading {
  /** Null before the first look that succeeded. */
  readonly figures: Figures | null;
  /** Since that look; null before it. */
  readonly ageMs: number | null;
  /** What the last look failed with; null where it succeeded. */
  readonly error: unknown;
  readonly failures: number;
}

/** Reads the figures at most so often, whoever asks. */
export interface FiguresReader {
  /** The last look where it is fresh, else a new one; never rejects. */
  readonly read: () => Promise<Reading>;
  /** A look that began after this call; never rejects. */
  readonly readNow: () => Promise<Reading>;
}

/** Of a sweep there may be many models, of a ledger many sweeps: what is shown of them is bounded. */
const sweepLimit = 20;
const laneLimit = 200;
/** A look never takes more than this share of the time: one of 1 s comes every 20 s at most. */
const shareOfTime = 0.05;

/** Opens a reader; `minIntervalMs` (10 s unless told) is the least time between two looks that nobody insists on. */
export function openFiguresReader(ports: FiguresPorts, minIntervalMs = 10_000): FiguresReader {
  let last: Reading = { figures: null, ageMs: null, error: null, failures: 0 };
  let readAtMs = Number.NEGATIVE_INFINITY;
  let freshUntilMs = Number.NEGATIVE_INFINITY;
  let underWay: Promise<void> | null = null;

  const look = async (): Promise<void> => {
    const startedMs = ports.monotonicMs();
    try {
      const ledger = await ports.store.figures(sweepLimit);
      const figures = { ledger, lanes: await readLanes(ports, ledger) };
      readAtMs = ports.monotonicMs();
      last = { figures, ageMs: 0, error: null, failures: last.failures };
    } catch (error) {
      last = { ...last, error, failures: last.failures + 1 };
    }
    const endedMs = ports.monotonicMs();
    freshUntilMs = endedMs + Math.max(minIntervalMs, (endedMs - startedMs) / shareOfTime);
  };
  const begin = (): Promise<void> => {
    underWay ??= look().finally(() => {
      underWay = null;
    });
    return underWay;
  };
  const tell = (): Reading => ({ ...last, ageMs: last.figures === null ? null : ports.monotonicMs() - readAtMs });
  return {
    read: async () => {
      if (ports.monotonicMs() >= freshUntilMs) await begin();
      return tell();
    },
    readNow: async () => {
      if (underWay !== null) await underWay;
      await begin();
      return tell();
    },
  };
}

async function readLanes(ports: FiguresPorts, ledger: LedgerFigures): Promise<readonly LaneFigures[]> {
  const known = [
    ...lanesOf(ledger.trials).map((lane) => ({ lane, role: "solve" as const })),
    ...lanesOf(ledger.judges).map((lane) => ({ lane, role: "judge" as const })),
  ].slice(0, laneLimit);
  return Promise.all(
    known.map(async ({ lane, role }): Promise<LaneFigures> => {
      const [use, depth] = await Promise.all([
        ports.limiter.use([role === "judge" ? ports.limiterLaneOf(lane) : lane]).catch(() => []),
        ports.queue.depth(lane).catch(() => null),
      ]);
      return { lane, role, use: use[0] ?? null, depth };
    }),
  );
}

/** Lanes of the given groups, those with unfinished work first. */
function lanesOf(groups: readonly { readonly lane: string; readonly state: string }[]): readonly string[] {
  const isOpen = ({ state }: { readonly state: string }): boolean =>
    state === "planned" || state === "queued" || state === "running" || state === "blocked";
  return [...new Set([...groups.filter(isOpen), ...groups].map(({ lane }) => lane))];
}
