import { setImmediate as turn } from "node:timers/promises";

import type {
  Delivery,
  DeliveryResult,
  LaneLimits,
  LimiterPort,
  QueuePort,
  ReservationRequest,
} from "@hallumaze/engine";

/** A clock that stands still while anything works, and jumps to the next moment at which somebody wants to be woken. */
export interface SimulatedWorld {
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** The same object; while one of its calls is under way the clock stands still. */
  readonly watched: <Port extends object>(port: Port) => Port;
  /** Works until this is over. Throws what it throws, and where nothing is left that could wake anybody. */
  readonly run: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** Opens a world; `tell` hears of each new moment before anybody wakes. */
export function openWorld(startMs: number, tell: (nowMs: number) => Promise<void>): SimulatedWorld {
  let nowMs = startMs;
  let busy = 0;
  const sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];
  const settle = async (): Promise<void> => {
    // What an answer sets off shows within a turn or two of the event loop.
    for (let quiet = 0; quiet < 3; ) {
      await turn();
      quiet = busy === 0 ? quiet + 1 : 0;
    }
  };
  const counted = async <Result>(work: Promise<Result>): Promise<Result> => {
    busy += 1;
    try {
      return await work;
    } finally {
      busy -= 1;
    }
  };
  async function* countedPages(pages: AsyncIterable<unknown>): AsyncGenerator<unknown, void> {
    const iterator = pages[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await counted(iterator.next());
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  }
  return {
    now: () => nowMs,
    sleep: (ms) =>
      new Promise((resolve) => {
        sleepers.push({ atMs: nowMs + Math.max(0, ms), wake: resolve });
      }),
    watched: (port) =>
      new Proxy(port, {
        get: (target, name): unknown => {
          const member: unknown = Reflect.get(target, name);
          if (typeof member !== "function") return member;
          return (...given: unknown[]): unknown => {
            const result: unknown = Reflect.apply(member, target, given);
            if (result instanceof Promise) return counted(result);
            const isPaged = typeof result === "object" && result !== null && Symbol.asyncIterator in result;
            return isPaged ? countedPages(result as AsyncIterable<unknown>) : result;
          };
        },
      }),
    run: async (work) => {
      let isOver = false;
      const result = work().finally(() => {
        isOver = true;
      });
      result.catch(() => undefined);
      for (;;) {
        await settle();
        if (isOver) return result;
        sleepers.sort((a, b) => a.atMs - b.atMs);
        const [next] = sleepers;
        if (next === undefined) throw new Error("nobody is left who could wake anybody");
        if (next.atMs > nowMs) {
          nowMs = next.atMs;
          await tell(nowMs);
        }
        while (sleepers[0] !== undefined && sleepers[0].atMs <= nowMs) sleepers.shift()?.wake();
      }
    },
  };
}

/** A queue that delivers in the world's time: in order of due time and turn, each delivery until it is done. */
export function simulatedQueue(
  world: SimulatedWorld,
  slots: number,
): Pick<QueuePort, "enqueue"> & {
  readonly serve: (handle: (delivery: Delivery) => Promise<DeliveryResult>) => void;
} {
  interface Waiting extends Delivery {
    readonly dueMs: number;
  }
  const lanes = new Map<string, { readonly waiting: Map<string, Waiting>; active: number }>();
  let handler: ((delivery: Delivery) => Promise<DeliveryResult>) | null = null;
  const pump = (name: string): void => {
    const lane = lanes.get(name);
    if (lane === undefined || handler === null) return;
    for (const [key, item] of lane.waiting) {
      if (lane.active >= slots) return;
      if (item.dueMs > world.now()) continue;
      lane.waiting.delete(key);
      lane.active += 1;
      void handler(item)
        .then((result) => {
          if (result.kind === "again") add(name, item, result.afterMs);
        })
        .finally(() => {
          lane.active -= 1;
          pump(name);
        });
    }
  };
  const add = (name: string, { trialId, generation }: Delivery, delayMs: number): void => {
    const lane = lanes.get(name) ?? { waiting: new Map<string, Waiting>(), active: 0 };
    lanes.set(name, lane);
    lane.waiting.set(`${trialId} ${generation}`, { trialId, generation, dueMs: world.now() + delayMs });
    if (delayMs > 0) void world.sleep(delayMs).then(() => pump(name));
  };
  return {
    enqueue: async (name, items) => {
      for (const item of items) add(name, item, item.delayMs);
      pump(name);
    },
    serve: (handle) => {
      handler = handle;
      for (const name of lanes.keys()) pump(name);
    },
  };
}

/** Uses this share of what a lane allows, as the real limiter does about. */
const usedShare = 0.95;

/** A limiter without a burst, in the world's time: each request gets its moment in line, and keeps it. */
export function simulatedLimiter(world: SimulatedWorld): LimiterPort {
  interface Lane {
    limits: LaneLimits;
    /** When the next in line may start, by dimension. */
    readonly freeAtMs: Map<keyof LaneLimits, number>;
    readonly tickets: Map<string, number>;
    readonly held: Map<string, ReservationRequest>;
    coolsUntilMs: number;
  }
  const lanes = new Map<string, Lane>();
  const laneOf = (name: string): Lane => {
    const known = lanes.get(name);
    if (known !== undefined) return known;
    const lane = { limits: {}, freeAtMs: new Map(), tickets: new Map(), held: new Map(), coolsUntilMs: 0 };
    lanes.set(name, lane);
    return lane;
  };
  const charge = (lane: Lane, input: number, output: number, requests: number): void => {
    const amounts = { rpm: requests, inputTpm: input, outputTpm: output, tpm: input + output } as const;
    for (const dimension of ["rpm", "inputTpm", "outputTpm", "tpm"] as const) {
      const limit = lane.limits[dimension];
      if (limit === undefined) continue;
      const fromMs = Math.max(world.now(), lane.freeAtMs.get(dimension) ?? 0);
      lane.freeAtMs.set(dimension, fromMs + (amounts[dimension] * 60_000) / (limit * usedShare));
    }
  };
  return {
    configure: async (name, limits) => {
      laneOf(name).limits = limits;
    },
    reserve: async (name, request) => {
      const lane = laneOf(name);
      let ticketMs = lane.tickets.get(request.id);
      if (ticketMs === undefined) {
        ticketMs = Math.max(world.now(), ...lane.freeAtMs.values());
        lane.tickets.set(request.id, ticketMs);
        charge(lane, request.inputTokens, request.outputTokens, 1);
      }
      const startsMs = Math.max(ticketMs, lane.coolsUntilMs);
      if (startsMs > world.now()) return { kind: "wait", afterMs: startsMs - world.now(), binding: "rpm" };
      if (lane.held.size >= (lane.limits.concurrency ?? Number.POSITIVE_INFINITY)) {
        return { kind: "wait", afterMs: 1000, binding: "concurrency" };
      }
      lane.tickets.delete(request.id);
      lane.held.set(request.id, request);
      return { kind: "granted" };
    },
    settle: async (name, id, used) => {
      const lane = laneOf(name);
      const request = lane.held.get(id);
      lane.held.delete(id);
      if (request === undefined) return;
      const beyond = (real: number | null, estimate: number): number => Math.max(0, (real ?? estimate) - estimate);
      charge(lane, beyond(used.inputTokens, request.inputTokens), beyond(used.outputTokens, request.outputTokens), 0);
    },
    cancel: async (name, id) => void laneOf(name).held.delete(id),
    renew: async () => undefined,
    cool: async (name, forMs) => {
      laneOf(name).coolsUntilMs = world.now() + forMs;
    },
    learn: async () => undefined,
    park: async () => true,
    resume: async () => false,
    use: async () => [],
    close: async () => undefined,
  };
}
