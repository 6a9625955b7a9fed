import type {
  FailureGroup,
  ModelProgress,
  RequestTally,
  StorePort,
  SweepProgress,
  TrialState,
} from "@hallumaze/engine";
import type { JudgeAgreement, JudgeGroup, LedgerFigures, SweepFigures, TrialGroup } from "@hallumaze/watching";

import { type Database, isUuid } from "./database.ts";
import { StoreError } from "./errors.ts";
import { Prisma } from "./generated/client.ts";
import { sumMoney } from "./money.ts";
import { decodeNullable, decodeText, encodeText } from "./storable-text.ts";
import { lastEstimate, toRecord } from "./sweeps.ts";

/** The method of the store that counts. */
export function createProgressMethods(database: Database): Pick<StorePort, "progress" | "tally" | "replyHistory"> {
  return {
    progress: (sweepId) => progress(database, sweepId),
    replyHistory: (model, options) => replyHistory(database, model, options),
    tally: (sweepId, sinceMs) => tally(database, sweepId, sinceMs),
  };
}

async function progress(database: Database, sweepId: string): Promise<SweepProgress> {
  const found = isUuid(sweepId)
    ? await database.run((prisma) => prisma.sweep.findUnique({ where: { id: sweepId }, include: lastEstimate }))
    : null;
  if (found === null) throw new StoreError("sweep-unknown", `No sweep has the id ${sweepId}.`);
  const [groups, costs, failures, money, [counts]] = await Promise.all([
    countGroups(database, sweepId),
    sumCosts(database, sweepId),
    findFailures(database, sweepId),
    sumMoney(database, sweepId),
    database.query<{ readonly leftGrid: number; readonly lateDuplicates: number }>(Prisma.sql`
      SELECT (SELECT count(*)::int FROM trials WHERE sweep_id = ${sweepId}::uuid AND NOT in_grid) AS "leftGrid",
        (SELECT count(*)::int FROM exchanges e JOIN trials t ON t.id = e.trial_id
         WHERE e.late_duplicate AND t.sweep_id = ${sweepId}::uuid) AS "lateDuplicates"`),
  ]);
  return {
    sweep: toRecord(found),
    models: toModels(groups, costs),
    failures,
    leftGrid: counts?.leftGrid ?? 0,
    lateDuplicates: counts?.lateDuplicates ?? 0,
    money,
  };
}

interface Group {
  readonly alias: string;
  readonly lane: string;
  readonly state: TrialState;
  readonly outcome: string | null;
  readonly count: number;
  readonly reused: number;
  readonly recentlyFinished: number;
  /** Seconds since the first of these; null where there is none. */
  readonly sinceSeconds: number | null;
}

const isRecent = Prisma.sql`state IN ('done', 'failed') AND source_trial_id IS NULL
        AND finished_at > clock_timestamp() - interval '1 minute'`;

/** A cell taken over from another sweep was finished there: it does not count as speed here. */
async function countGroups(database: Database, sweepId: string): Promise<readonly Group[]> {
  return database.query<Group>(Prisma.sql`
    SELECT alias, lane, state::text AS state, outcome, count(*)::int AS count,
      (count(*) FILTER (WHERE state = 'done' AND source_trial_id IS NOT NULL))::int AS reused,
      (count(*) FILTER (WHERE ${isRecent}))::int AS "recentlyFinished",
      (extract(epoch FROM clock_timestamp() - min(finished_at) FILTER (WHERE ${isRecent})))::float8 AS "sinceSeconds"
    FROM trials WHERE sweep_id = ${sweepId}::uuid AND in_grid
    GROUP BY alias, lane, state, outcome ORDER BY alias, lane`);
}

type CostRow = Pick<
  ModelProgress,
  "alias" | "lane" | "costUsd" | "costUnknown" | "requests" | "followUps" | "failedRequests" | "limiterMs"
>;

/** Every request counts, also those of lost tries and late replies: they are on the bill. */
async function sumCosts(database: Database, sweepId: string): Promise<ReadonlyMap<string, CostRow>> {
  const rows = await database.query<CostRow>(Prisma.sql`
    SELECT t.alias, t.lane, trim_scale(sum(e.cost_usd))::text AS "costUsd",
      (count(*) FILTER (WHERE e.cost_usd IS NULL AND (e.text IS NOT NULL OR e.cost_bound_usd IS NOT NULL)))::int AS "costUnknown",
      count(*)::int AS requests, (count(*) FILTER (WHERE e.turn > 0))::int AS "followUps",
      (count(*) FILTER (WHERE e.outcome IS NOT NULL))::int AS "failedRequests",
      coalesce(sum(e.limiter_ms), 0)::float8 AS "limiterMs"
    FROM trials t JOIN exchanges e ON e.trial_id = t.id
    WHERE t.sweep_id = ${sweepId}::uuid GROUP BY t.alias, t.lane`);
  return new Map(rows.map((row) => [JSON.stringify([row.alias, row.lane]), row]));
}

async function tally(database: Database, sweepId: string, sinceMs: number): Promise<RequestTally> {
  const since = Prisma.sql`to_timestamp(${sinceMs}::float8 / 1000)`;
  const [row] = isUuid(sweepId)
    ? await database.query<RequestTally>(Prisma.sql`
        WITH calls AS (
          SELECT e.input_tokens, e.output_tokens, e.cost_usd, e.created_at, e.http_ms,
            e.cost_usd IS NULL AND (e.text IS NOT NULL OR e.cost_bound_usd IS NOT NULL) AS is_unknown
          FROM trials t JOIN exchanges e ON e.trial_id = t.id
          WHERE t.sweep_id = ${sweepId}::uuid AND e.created_at >= ${since}
          UNION ALL
          SELECT j.input_tokens, j.output_tokens, j.cost_usd, j.created_at, j.http_ms, j.cost_usd IS NULL
          FROM trials t JOIN results r ON r.trial_id = t.id JOIN judgements j ON j.result_id = r.id
          WHERE t.sweep_id = ${sweepId}::uuid AND j.decided_by = 'judge' AND j.created_at >= ${since}
        )
        SELECT count(*)::int AS requests, coalesce(sum(input_tokens), 0)::float8 AS "inputTokens",
          coalesce(sum(output_tokens), 0)::float8 AS "outputTokens", trim_scale(sum(cost_usd))::text AS "costUsd",
          (count(*) FILTER (WHERE is_unknown))::int AS "costUnknown",
          (extract(epoch FROM max(created_at) - min(created_at - http_ms * interval '1 millisecond')) * 1000)::float8
            AS "elapsedMs"
        FROM calls`)
    : [];
  return row ?? { requests: 0, inputTokens: 0, outputTokens: 0, costUsd: null, costUnknown: 0, elapsedMs: null };
}

async function replyHistory(
  database: Database,
  model: Parameters<StorePort["replyHistory"]>[0],
  { rehearsal }: { readonly rehearsal: boolean },
): ReturnType<StorePort["replyHistory"]> {
  // Text, not jsonb: a parameter may hold \u0000. Equal parameters are written in the same order.
  return database.query<Awaited<ReturnType<StorePort["replyHistory"]>>[number]>(Prisma.sql`
    SELECT t.size, t.language, (t.plan->>'maxTokens')::float8 AS "maxTokens", count(*)::int AS n,
      avg(e.output_tokens)::float8 AS "outputTokensMean", stddev_samp(e.output_tokens)::float8 AS "outputTokensSd",
      avg(e.input_tokens)::float8 AS "inputTokensMean", avg(e.http_ms)::float8 AS "httpMsMean"
    FROM trials t JOIN exchanges e ON e.trial_id = t.id
    WHERE t.model = ${encodeText(`${model.provider}/${model.model}`)} AND t.rehearsal = ${rehearsal}
      AND (t.plan->>'baseUrl') IS NOT DISTINCT FROM ${model.baseUrl}::text
      AND (t.plan->'params')::text = ${JSON.stringify(model.params)}
      AND e.turn = 0 AND e.outcome IS NULL AND e.output_tokens IS NOT NULL
    GROUP BY t.size, t.language, 3`);
}

/** What an operator's park blocks has no outcome: no try of it has ended. */
const failureKind = Prisma.sql`coalesce(outcome, CASE WHEN state = 'blocked' THEN 'lane_parked' ELSE 'internal' END)`;

async function findFailures(database: Database, sweepId: string): Promise<readonly FailureGroup[]> {
  const rows = await database.query<
    Omit<FailureGroup, "firstMessage"> & { readonly firstMessage: string | null }
  >(Prisma.sql`
    SELECT alias, ${failureKind} AS outcome, count(*)::int AS count,
      (array_agg(message ORDER BY finished_at, id))[1] AS "firstMessage"
    FROM trials WHERE sweep_id = ${sweepId}::uuid AND in_grid AND state IN ('failed', 'blocked')
    GROUP BY alias, ${failureKind} ORDER BY alias, count(*) DESC, 2`);
  return rows.map((row) => ({
    ...row,
    alias: decodeText(row.alias),
    firstMessage: decodeNullable(row.firstMessage) ?? "",
  }));
}

const noTrials: Readonly<Record<TrialState, number>> = {
  planned: 0,
  queued: 0,
  running: 0,
  done: 0,
  failed: 0,
  cancelled: 0,
  blocked: 0,
};

/** Outcomes are counted for trials that have ended: that of a retry under way is not one of the trial. */
function toModels(groups: readonly Group[], costs: ReadonlyMap<string, CostRow>): readonly ModelProgress[] {
  const byModel = new Map<string, Group[]>();
  for (const group of groups) {
    const key = JSON.stringify([group.alias, group.lane]);
    byModel.set(key, [...(byModel.get(key) ?? []), group]);
  }
  return [...byModel].map(([key, ofModel]) => {
    const states = { ...noTrials };
    const outcomes: Record<string, number> = {};
    for (const { state, outcome, count } of ofModel) {
      states[state] += count;
      const hasEnded = state !== "planned" && state !== "queued" && state !== "running";
      if (hasEnded && outcome !== null) outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
    }
    return {
      alias: decodeText(ofModel[0]?.alias ?? ""),
      lane: ofModel[0]?.lane ?? "",
      states,
      reused: ofModel.reduce((sum, group) => sum + group.reused, 0),
      outcomes,
      finishedPerSecond: finishedPerSecond(ofModel),
      costUsd: costs.get(key)?.costUsd ?? null,
      costUnknown: costs.get(key)?.costUnknown ?? 0,
      requests: costs.get(key)?.requests ?? 0,
      followUps: costs.get(key)?.followUps ?? 0,
      failedRequests: costs.get(key)?.failedRequests ?? 0,
      limiterMs: costs.get(key)?.limiterMs ?? 0,
    };
  });
}

/** Over the time since the first of the last minute's, at least a second: one trial just ended is no high rate. */
function finishedPerSecond(groups: readonly Group[]): number {
  const finished = groups.reduce((sum, group) => sum + group.recentlyFinished, 0);
  const sinceSeconds = Math.max(1, ...groups.map((group) => group.sinceSeconds ?? 0));
  return finished / Math.min(60, sinceSeconds);
}

/** Since the first of a group that may start now was given to the queue; null where none waits. */
const oldestWaitingMs = Prisma.sql`(1000 * extract(epoch FROM clock_timestamp() - min(queued_at) FILTER (
      WHERE state = 'queued' AND (not_before IS NULL OR not_before <= clock_timestamp()))))::float8 AS "oldestWaitingMs"`;

/**
 * Counts the ledger for whoever watches it: of the newest `sweepLimit` sweeps. Reads every trial of theirs, so it is for
 * callers that keep what it gives (see `openFiguresReader`).
 */
export async function readFigures(database: Database, sweepLimit: number): Promise<LedgerFigures> {
  const sweeps = await database.query<SweepFigures & { readonly atMs: number }>(Prisma.sql`
    SELECT id::text AS "sweepId", name AS sweep, budget_usd::float8 AS "budgetUsd", spent_usd::float8 AS "spentUsd",
      reserved_usd::float8 AS "reservedUsd", floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "atMs"
    FROM sweeps ORDER BY submitted_at DESC, id LIMIT ${sweepLimit}`);
  const ids = JSON.stringify(sweeps.map(({ sweepId }) => sweepId));
  const isShown = Prisma.sql`sweep_id IN (SELECT i::uuid FROM json_array_elements_text(${ids}::json) AS i)`;
  const [trials, judges, agreements] = await Promise.all([
    database.query<Omit<TrialGroup, "sweep">>(Prisma.sql`
      SELECT sweep_id::text AS "sweepId", alias, lane, state::text AS state, outcome, count(*)::int AS count,
        ${oldestWaitingMs}, (1000 * extract(epoch FROM max(finished_at)))::float8 AS "lastFinishedAtMs"
      FROM trials WHERE ${isShown} AND in_grid GROUP BY sweep_id, alias, lane, state, outcome
      ORDER BY sweep_id, alias, lane, state, outcome`),
    database.query<Omit<JudgeGroup, "sweep">>(Prisma.sql`
      SELECT sweep_id::text AS "sweepId", lane, state::text AS state, outcome, count(*)::int AS count, ${oldestWaitingMs}
      FROM judge_requests WHERE sweep_id IS NULL OR ${isShown} GROUP BY sweep_id, lane, state, outcome
      ORDER BY sweep_id, lane, state, outcome`),
    database.query<JudgeAgreement>(Prisma.sql`
      SELECT DISTINCT ON (judge_model, prompt_version) judge_model AS judge, prompt_version AS "promptVersion", items,
        agreed, open
      FROM calibrations WHERE split = 'test' ORDER BY judge_model, prompt_version, created_at DESC LIMIT 50`),
  ]);
  const names = new Map(sweeps.map(({ sweepId, sweep }) => [sweepId, decodeText(sweep)]));
  const nameOf = (sweepId: string | null): string => (sweepId === null ? "" : (names.get(sweepId) ?? ""));
  return {
    atMs: sweeps[0]?.atMs ?? 0,
    sweeps: sweeps.map(({ atMs: _atMs, ...sweep }) => ({ ...sweep, sweep: nameOf(sweep.sweepId) })),
    trials: trials.map((row) => ({ ...row, alias: decodeText(row.alias), sweep: nameOf(row.sweepId) })),
    judges: judges.map((row) => ({ ...row, sweep: nameOf(row.sweepId) })),
    agreements,
  };
}
