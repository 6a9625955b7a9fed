// The faults of a chaos run. Each begins, lasts and ends; what it took away is back when it resolves.
import { setTimeout as sleep } from "node:timers/promises";

import type { Random } from "@hallumaze/foundation";
import type { Rule } from "@hallumaze/mock-providers";

import type { ChaosStage } from "./chaos-stage.ts";
import type { Pool, Victim } from "./chaos-workers.ts";

/** Provider faults that happen all the time. */
export const everyDay: readonly Rule[] = [
  { name: "529", probability: 0.03, fail: "overloaded" },
  { name: "429", probability: 0.02, fail: { kind: "rate_limited", retryAfterMs: 500 } },
  { name: "reset before headers", probability: 0.01, delivery: { reset: "before_headers" } },
  { name: "reset in the body", probability: 0.01, delivery: { reset: "in_body" } },
  { name: "cut", probability: 0.01, delivery: { cut: { afterEvents: 1 } } },
  { name: "black hole", probability: 0.005, delivery: { blackHole: true } },
  { name: "empty", probability: 0.01, reply: { text: "" } },
  { name: "truncated", probability: 0.01, reply: { finish: "length" } },
];

const outages: readonly (readonly Rule[])[] = [
  [{ name: "outage: 503", fail: "unavailable" }],
  [{ name: "outage: 529", fail: "overloaded" }],
  [{ name: "outage: reset", delivery: { reset: "before_headers" } }],
  [{ name: "outage: black hole", delivery: { blackHole: true } }],
];

/** What a fault is done to, and by whose draws. */
export interface FaultPorts {
  readonly chaos: ChaosStage;
  readonly pool: Pool;
  readonly random: Random;
  /** Ends waits early; what was taken away comes back all the same. */
  readonly signal: AbortSignal;
  /** Longest that a worker stands still: above lock and lease, or below where a run is short. */
  readonly standstillMs: number;
  /** Longest that a clock is off, either way. */
  readonly clockMs: number;
}

type Fault = (ports: FaultPorts) => Promise<void>;

const waits = async (ms: number, signal: AbortSignal): Promise<void> => {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
};
const between = (random: Random, least: number, most: number): number => least + random.below(most - least + 1);

const withVictim =
  (hurt: (victim: Victim, ports: FaultPorts) => Promise<void>): Fault =>
  async (ports) => {
    const victim = ports.pool.take((count) => ports.random.below(count));
    if (victim === null) return;
    try {
      await hurt(victim, ports);
    } finally {
      ports.pool.giveBack(victim);
    }
  };

/** Faults of workers, by name; they go on beside those of servers. */
export const workerFaults = {
  "kill -9": withVictim(async (victim) => {
    victim.kill("SIGKILL");
    await victim.ended;
  }),
  "SIGTERM, then SIGKILL": withVictim(async (victim, { random, signal }) => {
    victim.kill("SIGTERM");
    await waits(between(random, 0, 1500), signal);
    victim.kill("SIGKILL");
    await victim.ended;
  }),
  "short freeze": withVictim(async (victim, { random, signal }) => {
    victim.freeze();
    await waits(between(random, 500, 8000), signal);
    victim.thaw();
  }),
  "long freeze": withVictim(async (victim, { random, signal, standstillMs }) => {
    victim.freeze();
    await waits(between(random, standstillMs * 0.8, standstillMs), signal);
    victim.thaw();
  }),
  "blocked event loop": withVictim(async (victim, { random, signal, standstillMs }) => {
    const ms = between(random, standstillMs * 0.5, standstillMs);
    victim.block(ms);
    await waits(ms, signal);
  }),
  "clock off": withVictim(async (victim, { random, signal, clockMs }) => {
    victim.setClock(between(random, -clockMs, clockMs));
    await waits(between(random, 3000, 30_000), signal);
    victim.setClock(0);
  }),
} as const satisfies Readonly<Record<string, Fault>>;

const whileAway = async ({ random, signal }: FaultPorts, least: number, most: number): Promise<void> =>
  waits(between(random, least, most), signal);

/** Faults of servers and of the way to them, by name. */
export const serverFaults = {
  "Redis killed": async (ports) => {
    await ports.chaos.redis.kill();
    await whileAway(ports, 0, 8000);
    await ports.chaos.redis.restart();
  },
  "Redis emptied": async (ports) => {
    await ports.chaos.redis.kill();
    await whileAway(ports, 0, 3000);
    await ports.chaos.redis.restart({ emptied: true });
  },
  "Redis stands still": async (ports) => {
    ports.chaos.redis.freeze();
    await whileAway(ports, 1000, 12_000);
    ports.chaos.redis.thaw();
  },
  "PostgreSQL stopped fast": ({ chaos }) => chaos.postgres.restart("fast"),
  "PostgreSQL stopped at once": ({ chaos }) => chaos.postgres.restart("immediate"),
  "PostgreSQL killed": ({ chaos }) => chaos.postgres.restart("kill"),
  "PostgreSQL stands still": async (ports) => {
    ports.chaos.postgres.freeze();
    await whileAway(ports, 1000, 12_000);
    ports.chaos.postgres.thaw();
  },
  "PostgreSQL out of reach": async (ports) => {
    await ports.chaos.postgresProxy.refuse();
    await whileAway(ports, 1000, 20_000);
    await ports.chaos.postgresProxy.accept();
  },
  "Redis out of reach": async (ports) => {
    await ports.chaos.redisProxy.refuse();
    await whileAway(ports, 1000, 20_000);
    await ports.chaos.redisProxy.accept();
  },
  "connections cut": async ({ chaos }) => {
    chaos.postgresProxy.reset();
    chaos.redisProxy.reset();
  },
  "connections of Redis hang for good": async ({ chaos }) => chaos.redisProxy.swallow(),
  "slow network": async (ports) => {
    const { random, chaos } = ports;
    chaos.postgresProxy.delay(between(random, 20, 200));
    chaos.redisProxy.delay(between(random, 20, 200));
    await whileAway(ports, 3000, 12_000);
    chaos.postgresProxy.delay(0);
    chaos.redisProxy.delay(0);
  },
  "disk full": async (ports) => {
    const { disk } = ports.chaos;
    if (disk === null) return;
    disk.fill();
    await whileAway(ports, 2000, 8000);
    disk.empty();
  },
  "provider outage": async (ports) => {
    const rules = outages[ports.random.below(outages.length)] ?? [];
    ports.chaos.mock.script(rules);
    await whileAway(ports, 1000, 8000);
    ports.chaos.mock.script(everyDay);
  },
} as const satisfies Readonly<Record<string, Fault>>;

/** How often each fault was done, and what went wrong in doing one: a server that did not come back in time, most likely. */
export interface FaultLog {
  readonly done: Record<string, number>;
  readonly troubles: string[];
}

/** Does faults one after the other until the signal fires, and keeps a log. `open` is waited for before each. */
export async function inflict(
  faults: Readonly<Record<string, Fault>>,
  names: readonly string[],
  ports: FaultPorts,
  gapMs: { readonly least: number; readonly most: number },
  log: FaultLog,
  open: () => Promise<void>,
): Promise<void> {
  const { random, signal } = ports;
  while (!signal.aborted) {
    await waits(between(random, gapMs.least, gapMs.most), signal);
    await open();
    const name = names[random.below(names.length)] ?? "";
    const fault = faults[name];
    if (signal.aborted || fault === undefined) return;
    log.done[name] = (log.done[name] ?? 0) + 1;
    await fault(ports).catch((error: unknown) => log.troubles.push(`${name}: ${String(error)}`));
  }
}
