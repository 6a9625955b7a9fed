import type { Clock } from "@hallumaze/foundation";

import type { Vendor } from "./dialect.ts";

/** How the server's part in a request ended. A number is the status of a reply that went out whole. */
export type RequestEnd = number | "stalled" | "cut" | "reset" | "black_hole" | "client_gone" | "server_closed";

/** Largest sums of any 60 seconds. `admitted` counts at arrival, the others at completion. */
export interface WindowMaxima {
  readonly admitted: number;
  readonly completed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly tokens: number;
}

/** Counts of one (vendor, key, model), or of all. */
export interface LaneCounts {
  readonly requests: number;
  /** Answers that were worked out and charged, whether or not the client was still there. */
  readonly completed: number;
  /** Of these, those whose client had gone. */
  readonly completedUnheard: number;
  readonly rateLimited: number;
  readonly inFlight: number;
  readonly inFlightPeak: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly maxima60s: WindowMaxima;
}

/** What the server has seen since its start or the last reset. */
export interface Counts extends LaneCounts {
  readonly byPath: Readonly<Record<string, number>>;
  /** By `vendor/model`. */
  readonly byModel: Readonly<Record<string, number>>;
  /** By status or kind of end, at the end of a request. */
  readonly byEnd: Readonly<Record<string, number>>;
  /** By name or place of the rule that was applied. */
  readonly byRule: Readonly<Record<string, number>>;
  readonly connections: number;
  readonly lanes: readonly (LaneCounts & { readonly vendor: Vendor; readonly model: string; readonly keyId: string })[];
  readonly sinceMs: number;
}

/** One request as it came, for assertions. */
export interface LoggedRequest {
  /** From 1, in the order of arrival. */
  readonly number: number;
  readonly atMs: number;
  readonly connection: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyText: string;
  readonly vendor: Vendor | null;
  readonly model: string | null;
  readonly rule: string | null;
  readonly end: RequestEnd | null;
  readonly endedAtMs: number | null;
}

const amountNames = ["admitted", "completed", "inputTokens", "outputTokens", "tokens"] as const;

/** Lane of a request in the counts. */
export interface LaneId {
  readonly vendor: Vendor;
  readonly model: string;
  readonly keyId: string;
}

interface LaneState {
  requests: number;
  completed: number;
  completedUnheard: number;
  rateLimited: number;
  inFlight: number;
  inFlightPeak: number;
  inputTokens: number;
  outputTokens: number;
  window: SlidingWindow<(typeof amountNames)[number]>;
}

/** The counters of a server. */
export type CountKeeper = ReturnType<typeof keepCounts>;

/** Keeps the counters of a server; times come from its clock. */
export function keepCounts(clock: Clock) {
  let sinceMs = clock();
  let all = newLane();
  let lanes = new Map<string, { readonly id: LaneId; readonly state: LaneState }>();
  let tables = newTables();
  let connections = 0;
  const watchers = new Set<() => void>();
  const tell = (): void => watchers.forEach((watcher) => watcher());
  const laneOf = (id: LaneId): LaneState => {
    const name = `${id.vendor} ${id.keyId} ${id.model}`;
    const known = lanes.get(name);
    if (known !== undefined) return known.state;
    const state = newLane();
    lanes.set(name, { id, state });
    return state;
  };
  const bothOf = (id: LaneId): readonly LaneState[] => [all, laneOf(id)];
  return {
    connected: (): void => {
      connections += 1;
    },
    arrived: (path: string): void => {
      all.requests += 1;
      count(tables.byPath, path);
      tell();
    },
    identified: (id: LaneId): void => {
      laneOf(id).requests += 1;
      count(tables.byModel, `${id.vendor}/${id.model}`);
      for (const state of bothOf(id)) {
        state.inFlight += 1;
        state.inFlightPeak = Math.max(state.inFlightPeak, state.inFlight);
      }
      tell();
    },
    ruleApplied: (name: string): void => count(tables.byRule, name),
    admitted: (id: LaneId): void => addAmounts(bothOf(id), clock(), { admitted: 1 }),
    rateLimited: (id: LaneId): void => bothOf(id).forEach((state) => (state.rateLimited += 1)),
    completed: (id: LaneId, inputTokens: number, outputTokens: number, heard: boolean): void => {
      for (const state of bothOf(id)) {
        state.completed += 1;
        state.completedUnheard += heard ? 0 : 1;
        state.inputTokens += inputTokens;
        state.outputTokens += outputTokens;
      }
      const tokens = inputTokens + outputTokens;
      addAmounts(bothOf(id), clock(), { completed: 1, inputTokens, outputTokens, tokens });
    },
    ended: (id: LaneId | null, end: RequestEnd): void => {
      if (id !== null) for (const state of bothOf(id)) state.inFlight = Math.max(0, state.inFlight - 1);
      count(tables.byEnd, String(end));
      tell();
    },
    counts: (): Counts => ({
      ...laneCounts(all),
      ...structuredClone(tables),
      connections,
      lanes: Array.from(lanes.values(), ({ id, state }) => ({ ...id, ...laneCounts(state) })),
      sinceMs,
    }),
    /** Starts all counts anew; requests in flight stay in flight. */
    reset: (): void => {
      sinceMs = clock();
      all = newLane(all.inFlight);
      lanes = new Map(Array.from(lanes, ([name, { id, state }]) => [name, { id, state: newLane(state.inFlight) }]));
      tables = newTables();
      connections = 0;
    },
    /** Calls the watcher after each arrival and each end; gives what takes it off again. */
    watch: (watcher: () => void): (() => void) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}

function newLane(inFlight = 0): LaneState {
  return {
    requests: 0,
    completed: 0,
    completedUnheard: 0,
    rateLimited: 0,
    inFlight,
    inFlightPeak: inFlight,
    inputTokens: 0,
    outputTokens: 0,
    window: openWindow(amountNames),
  };
}

function newTables() {
  const table = (): Record<string, number> => ({});
  return { byPath: table(), byModel: table(), byEnd: table(), byRule: table() };
}

function laneCounts({ window, ...numbers }: LaneState): LaneCounts {
  return { ...numbers, maxima60s: window.maxima() };
}

function addAmounts(
  states: readonly LaneState[],
  atMs: number,
  amounts: Partial<Record<(typeof amountNames)[number], number>>,
) {
  const whole = { admitted: 0, completed: 0, inputTokens: 0, outputTokens: 0, tokens: 0, ...amounts };
  for (const { window } of states) window.add(atMs, whole);
}

function count(table: Record<string, number>, name: string): void {
  table[name] = (table[name] ?? 0) + 1;
}

/** Amounts that fell within the last 60 seconds, and the largest sums that any 60 seconds held. */
interface SlidingWindow<Name extends string> {
  /** Adds amounts at a time; times never run back. */
  readonly add: (atMs: number, amounts: Readonly<Record<Name, number>>) => void;
  readonly maxima: () => Readonly<Record<Name, number>>;
}

const spanMs = 60_000;

/** Opens a window over the named amounts. Memory grows with the events of one span alone. */
function openWindow<Name extends string>(names: readonly Name[]): SlidingWindow<Name> {
  const zero = (): Record<Name, number> => Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
  const sums = zero();
  const maxima = zero();
  let events: { readonly atMs: number; readonly amounts: Readonly<Record<Name, number>> }[] = [];
  let oldest = 0;
  return {
    add: (atMs, amounts) => {
      for (let event = events[oldest]; event !== undefined && event.atMs <= atMs - spanMs; event = events[oldest]) {
        for (const name of names) sums[name] -= event.amounts[name];
        oldest += 1;
      }
      if (oldest > 1024) {
        events = events.slice(oldest);
        oldest = 0;
      }
      events.push({ atMs, amounts });
      for (const name of names) {
        sums[name] += amounts[name];
        maxima[name] = Math.max(maxima[name], sums[name]);
      }
    },
    maxima: () => ({ ...maxima }),
  };
}
