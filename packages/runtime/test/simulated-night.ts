import { randomUUID } from "node:crypto";

import {
  type AutoPlan,
  driveBatch,
  type DrivePorts,
  driveTimes,
  openGatherer,
  trialSource,
  turnLive,
} from "@hallumaze/batching";
import { type Interval, runTrial, submitSweep, toDeliveryResult } from "@hallumaze/engine";
import type { Random } from "@hallumaze/foundation";
import { type Ledger, openStore } from "@hallumaze/store";
import { isBatchLane, parseSpec } from "@hallumaze/sweep";
import { createDatabase } from "@hallumaze/testkit";
import pg from "pg";

import { openLaneCatalog } from "../src/lane-catalog.ts";
import { openLiveTimes } from "../src/live-times.ts";
import { openLogger } from "../src/logger.ts";
import { planInHouse } from "../src/plan-house.ts";
import { trialPorts, workerTimes } from "../src/worker.ts";
import { simulatedVendor, type VendorHabits } from "./simulated-vendor.ts";
import { openWorld, simulatedLimiter, simulatedQueue } from "./simulated-world.ts";
import type { AtEnd } from "./worker-stage.ts";

/** One night: a spec of mode auto, and how the vendor behaves. */
export interface Night {
  readonly name: string;
  /** Without name and deadlines, which are told in hours from the start: the sweep's, and models' own by alias. */
  readonly spec: Readonly<Record<string, unknown>> & {
    readonly models: readonly { readonly as: string; readonly [more: string]: unknown }[];
  };
  readonly deadlineHours: number;
  readonly ownDeadlineHours: Readonly<Record<string, number>>;
  readonly slots: number;
  readonly habits: VendorHabits;
  readonly random: Random;
}

/** What was promised, and what came of it. */
export interface Morning {
  readonly auto: AutoPlan | null;
  readonly costUsd: Interval | null;
  readonly spentUsd: number;
  readonly states: Readonly<Record<string, number>>;
  /** Trials that ended after their model's deadline, by model. */
  readonly late: Readonly<Record<string, number>>;
  /** Hours from the start to the last end, and to the first moment at which plan would turn to live calls; null: none. */
  readonly hours: number;
  readonly hoursToTurn: number | null;
  /** Answers of mode auto from calls and from batches, and of any mode those beyond the first of a trial. */
  readonly liveReplies: number;
  readonly batchReplies: number;
  readonly repeats: number;
  readonly lateDuplicates: number;
  readonly batches: number;
  readonly reservedUsd: number;
}

/** Longest sleep of the batch worker, in ms. */
const longestMs = 30 * 60_000;
const hourMs = 3_600_000;

/** Lives through a night, after those before it. */
export type ThroughNights = (night: Night) => Promise<Morning>;

/**
 * Opens a ledger on a clock that stands still while anything works: the statements of the store find the simulated moment
 * where they ask for `clock_timestamp()`. Nights are lived through with it one after the other.
 */
export async function openNights(atEnd: AtEnd): Promise<ThroughNights> {
  const { url: databaseUrl, drop } = await createDatabase();
  await (await openStore({ databaseUrl, poolSize: 1 })).close();
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  let nowMs = Date.UTC(2026, 10, 30, 20);
  const tell = async (ms: number): Promise<void> => {
    nowMs = ms;
    await client.query("UPDATE simulated.moment SET at = to_timestamp($1 / 1000.0)", [ms]);
  };
  await client.query(`CREATE SCHEMA simulated; CREATE TABLE simulated.moment (at timestamptz NOT NULL);
    INSERT INTO simulated.moment VALUES (now());
    CREATE FUNCTION simulated.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT at FROM simulated.moment'`);
  // Found before the server's own: that alone makes the store live in the simulation.
  await client.query(
    `ALTER DATABASE ${new URL(databaseUrl).pathname.slice(1)} SET search_path = simulated, pg_catalog, public`,
  );
  await tell(nowMs);
  const store = await openStore({ databaseUrl, poolSize: 4, migrate: false });
  atEnd(async () => {
    await store.close();
    await client.end();
    await drop();
  });
  return async (night) => {
    const morning = await live(night, store, client, nowMs, tell);
    // The next night begins on another day.
    await tell(nowMs + 48 * hourMs);
    return morning;
  };
}

async function live(
  night: Night,
  ledger: Ledger,
  connection: pg.Client,
  startMs: number,
  tell: (ms: number) => Promise<void>,
): Promise<Morning> {
  const world = openWorld(startMs, tell);
  const store = world.watched(ledger);
  const client = world.watched(connection);
  const queue = simulatedQueue(world, night.slots);
  const vendor = simulatedVendor(world, night.habits, night.random);
  const limiter = simulatedLimiter(world);
  const { spec } = parseSpec(specText(night, startMs), { fileName: "night.json" });
  const options = { fresh: true, rehearsal: false, concurrency: night.slots, nowMs: startMs };
  const plan = await planInHouse({ store }, spec, options);
  const provenance = { gitCommit: null, gitDirty: null, programVersion: "test", nodeVersion: process.version };
  const { signal } = new AbortController();

  const catalog = openLaneCatalog(store, limiter);
  const held = { claims: new Map(), reservations: new Map() };
  const logger = openLogger("silent");
  const times = { ...workerTimes, leaseMs: 7 * 24 * hourMs };
  const trial = {
    ...trialPorts({ store, provider: vendor.live, limiter, logger }, times, held, catalog),
    now: world.now,
    fraction: night.random.fraction,
    sleep: world.sleep,
    isDraining: () => false,
  };
  const nextId = (): string => randomUUID();
  const gatherer = openGatherer({
    ...trial,
    store,
    vendor: vendor.batches,
    newId: nextId,
    quietMs: 3000,
    longestMs: 60_000,
    observe: {
      sealed: () => undefined,
      trouble: (_trialId, error) => {
        throw error;
      },
    },
  });
  const trials = trialSource({ ...trial, store }, gatherer);
  const none = (): void => undefined;
  const drive: DrivePorts = {
    ...trial,
    store,
    limiter,
    queue,
    judging,
    vendor: vendor.batches,
    settingsOf: catalog.settingsOf,
    times: driveTimes,
    observe: {
      submitted: none,
      refused: none,
      landed: none,
      finished: none,
      dropped: none,
      wentLive: none,
      parked: none,
      trouble: none,
    },
  };
  const liveHours = openLiveTimes({ ...catalog, store, slots: night.slots, rehearsal: false, now: world.now });
  const turning = { store, queue, now: world.now, liveHours, observe: none };

  /** What the batch worker does each second, once; gives how many batches it took a step further, and when to look again. */
  const pass = async (): Promise<number> => {
    await catalog.refresh();
    const lateMs = await turnLive(turning, catalog.autoModels(false));
    for (const { lane } of await store.listOpenLanes(null)) {
      if (isBatchLane(lane)) await gatherer.gather(lane, trials, new AbortController().signal, false);
    }
    let driven = 0;
    for (;;) {
      const batch = await store.takeBatch({
        workerId: trial.workerId,
        leaseMs: 60_000,
        rehearsal: false,
        isDead: () => false,
      });
      if (batch === null) break;
      await driveBatch(drive, batch, signal);
      driven += 1;
    }
    if (driven > 0 || gatherer.isGathering()) return world.now() + 1000;
    // A look at a batch of which nothing has changed changes nothing: those are left out, and the next is a minute late.
    const changeMs = vendor.nextChangeMs();
    const waking = [
      lateMs,
      changeMs === null ? null : Math.max(changeMs, world.now()) + 66_000,
      await nextSubmissionMs(client),
    ];
    return Math.min(world.now() + longestMs, ...waking.filter((ms) => ms !== null));
  };
  const countOpen = async (sweepId: string): Promise<number> => {
    const { rows } = await client.query<{ open: number }>(
      "SELECT count(*)::int AS open FROM trials WHERE sweep_id = $1 AND state IN ('planned', 'queued', 'running')",
      [sweepId],
    );
    return rows[0]?.open ?? 0;
  };
  return world.run(async () => {
    const ports = { store, queue: { ...unused, ...queue } };
    const { sweep } = await submitSweep(ports, spec, { provenance, fresh: true, rehearsal: false, signal });
    await catalog.refresh();
    queue.serve(async (delivery) => toDeliveryResult(await runTrial(trial, delivery, new AbortController().signal)));
    while ((await countOpen(sweep.sweepId)) > 0) {
      const wakeMs = await pass();
      await world.sleep(Math.max(1000, wakeMs - world.now()));
    }
    const deadlines = new Map(plan.auto?.models.map((model) => [model.alias, Date.parse(model.deadline)]));
    return reckon(client, sweep.sweepId, { deadlines, startMs, batches: vendor.made(), plan });
  });
}

function specText({ spec, name, deadlineHours, ownDeadlineHours }: Night, startMs: number): string {
  const at = (hours: number): string => new Date(Math.round(startMs + hours * hourMs)).toISOString();
  const models = spec.models.map((model) => {
    const own = ownDeadlineHours[model.as];
    return own === undefined ? model : { ...model, deadline: at(own) };
  });
  return JSON.stringify({ mode: "auto", deadline: at(deadlineHours), ...spec, models, name });
}

/** No night has judges. */
const judging: DrivePorts["judging"] = {
  land: async () => {
    throw new Error("nobody judges at night");
  },
  blockLane: async () => 0,
  limiterLaneOf: (lane) => lane,
};

/** What a queue has beside its deliveries: nothing here asks for it. */
const unused = {
  consume: async () => {
    throw new Error("the simulated queue serves by itself");
  },
  depth: async () => ({ waiting: 0, active: 0, delayed: 0 }),
  ping: async () => undefined,
  close: async () => undefined,
};

/** When a batch that stands before its submission, or whose submission's answer was lost, is due; null: none. */
async function nextSubmissionMs(client: pg.Client): Promise<number | null> {
  const { rows } = await client.query<{ ms: number | null }>(
    "SELECT (extract(epoch FROM min(not_before)) * 1000)::float8 AS ms FROM batches WHERE state IN ('sealed', 'submitting')",
  );
  return rows[0]?.ms ?? null;
}

async function reckon(
  client: pg.Client,
  sweepId: string,
  night: {
    readonly deadlines: ReadonlyMap<string, number>;
    readonly startMs: number;
    readonly batches: number;
    readonly plan: Awaited<ReturnType<typeof planInHouse>>;
  },
): Promise<Morning> {
  const ended = await client.query<{ alias: string; state: string; ms: number }>(
    "SELECT alias, state::text, (extract(epoch FROM finished_at) * 1000)::float8 AS ms FROM trials WHERE sweep_id = $1",
    [sweepId],
  );
  const states: Record<string, number> = {};
  for (const { state } of ended.rows) states[state] = (states[state] ?? 0) + 1;
  const sums = await client.query<
    Omit<Morning, "auto" | "costUsd" | "states" | "late" | "hours" | "hoursToTurn" | "batches">
  >(
    `WITH asked AS (SELECT e.*, t.alias FROM exchanges e JOIN trials t ON t.id = e.trial_id WHERE t.sweep_id = $1)
     SELECT s.spent_usd::float8 AS "spentUsd", s.reserved_usd::float8 AS "reservedUsd",
       (SELECT count(*)::int FROM asked WHERE outcome IS NULL AND batch_id IS NULL AND alias = ANY ($2)) AS "liveReplies",
       (SELECT count(*)::int FROM asked WHERE outcome IS NULL AND batch_id IS NOT NULL) AS "batchReplies",
       (SELECT (count(*) - count(DISTINCT trial_id))::int FROM asked WHERE outcome IS NULL) AS repeats,
       (SELECT count(*)::int FROM asked WHERE late_duplicate) AS "lateDuplicates"
     FROM sweeps s WHERE s.id = $1`,
    [sweepId, [...night.deadlines.keys()]],
  );
  const [row] = sums.rows;
  const turns = night.plan.auto?.models.map(({ turnsLiveAt }) => turnsLiveAt) ?? [];
  if (row === undefined) throw new Error("a sum without a row");
  return {
    ...row,
    auto: night.plan.auto,
    costUsd: night.plan.estimate.costUsd,
    states,
    late: Object.fromEntries(
      [...night.deadlines].map(([alias, deadline]) => [
        alias,
        ended.rows.filter((trial) => trial.alias === alias && trial.ms > deadline).length,
      ]),
    ),
    hours: (Math.max(...ended.rows.map(({ ms }) => ms)) - night.startMs) / hourMs,
    hoursToTurn: turns.length === 0 ? null : (Math.min(...turns.map(Date.parse)) - night.startMs) / hourMs,
    batches: night.batches,
  };
}
