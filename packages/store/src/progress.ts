import type {
  FailureGroup,
  ModelProgress,
  RequestTally,
  StorePort,
  SweepProgress,
  TrialState,
} from "@hallumaze/engine";
import type { JudgeStorePort } from "@hallumaze/judging";
import type {
  Alert,
  AlertPort,
  JudgeAgreement,
  JudgeGroup,
  LedgerFigures,
  SweepFigures,
  TrialGroup,
} from "@hallumaze/watching";

import { batchStandings } from "./batches.ts";
import { type Database, isUuid, jsonRows } from "./database.ts";
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

/** From counts that the database keeps as they change: its time does not grow with the trials. */
async function progress(database: Database, sweepId: string): Promise<SweepProgress> {
  const found = isUuid(sweepId)
    ? await database.run((prisma) => prisma.sweep.findUnique({ where: { id: sweepId }, include: lastEstimate }))
    : null;
  if (found === null) throw new StoreError("sweep-unknown", `No sweep has the id ${sweepId}.`);
  const [groups, speeds, costs, failures, money] = await Promise.all([
    countGroups(database, sweepId),
    measureSpeeds(database, sweepId),
    sumCosts(database, sweepId),
    findFailures(database, sweepId),
    sumMoney(database, sweepId),
  ]);
  return {
    sweep: toRecord(found),
    models: toModels(
      groups.filter((group) => group.inGrid),
      speeds,
      costs,
    ),
    failures,
    leftGrid: groups.filter((group) => !group.inGrid).reduce((sum, group) => sum + group.count, 0),
    lateDuplicates: [...costs.values()].reduce((sum, cost) => sum + cost.lateDuplicates, 0),
    money,
  };
}

interface Group {
  readonly alias: string;
  readonly lane: string;
  readonly state: TrialState;
  readonly outcome: string | null;
  readonly inGrid: boolean;
  readonly count: number;
  readonly reused: number;
}

async function countGroups(database: Database, sweepId: string): Promise<readonly Group[]> {
  return database.query<Group>(Prisma.sql`
    SELECT alias, lane, state::text AS state, nullif(outcome, '') AS outcome, in_grid AS "inGrid", sum(trials)::float8 AS count,
      coalesce(sum(trials) FILTER (WHERE state = 'done' AND reused), 0)::float8 AS reused
    FROM trial_tallies WHERE sweep_id = ${sweepId}::uuid
    GROUP BY alias, lane, state, outcome, in_grid HAVING sum(trials) <> 0 ORDER BY alias, lane`);
}

interface Speed {
  readonly alias: string;
  readonly lane: string;
  readonly finished: number;
  /** Seconds since the first of these. */
  readonly sinceSeconds: number;
}

/** What ended in the last minute. A cell taken over from another sweep was finished there: it is no speed here. */
async function measureSpeeds(database: Database, sweepId: string): Promise<ReadonlyMap<string, Speed>> {
  const rows = await database.query<Speed>(Prisma.sql`
    SELECT alias, lane, count(*)::float8 AS finished, extract(epoch FROM now() - min(finished_at))::float8 AS "sinceSeconds"
    FROM trials WHERE sweep_id = ${sweepId}::uuid AND in_grid AND state IN ('done', 'failed') AND source_trial_id IS NULL
      AND finished_at > now() - interval '1 minute'
    GROUP BY alias, lane`);
  return new Map(rows.map((row) => [modelKey(row), row]));
}

type CostRow = Pick<
  ModelProgress,
  "alias" | "lane" | "costUsd" | "costUnknown" | "requests" | "followUps" | "failedRequests" | "limiterMs"
> & { readonly lateDuplicates: number };

/** Every request counts, also those of lost tries and late replies: they are on the bill. */
async function sumCosts(database: Database, sweepId: string): Promise<ReadonlyMap<string, CostRow>> {
  const rows = await database.query<CostRow>(Prisma.sql`
    SELECT alias, lane, CASE WHEN sum(cost_known) > 0 THEN trim_scale(sum(cost_usd))::text END AS "costUsd",
      sum(cost_unknown)::float8 AS "costUnknown", sum(requests)::float8 AS requests, sum(follow_ups)::float8 AS "followUps",
      sum(failed)::float8 AS "failedRequests", sum(limiter_ms)::float8 AS "limiterMs", sum(late)::float8 AS "lateDuplicates"
    FROM exchange_tallies WHERE sweep_id = ${sweepId}::uuid GROUP BY alias, lane`);
  return new Map(rows.map((row) => [modelKey(row), row]));
}

function modelKey({ alias, lane }: { readonly alias: string; readonly lane: string }): string {
  return JSON.stringify([alias, lane]);
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
      avg(e.input_tokens)::float8 AS "inputTokensMean",
      -- The time of a batch, hours as it may be, says nothing of how long a call takes.
      (avg(e.http_ms) FILTER (WHERE e.batch_id IS NULL))::float8 AS "httpMsMean"
    FROM trials t JOIN exchanges e ON e.trial_id = t.id
    WHERE t.model = ${encodeText(`${model.provider}/${model.model}`)} AND t.rehearsal = ${rehearsal}
      AND (t.plan->>'baseUrl') IS NOT DISTINCT FROM ${model.baseUrl}::text
      AND (t.plan->'params')::text = ${JSON.stringify(model.params)}
      AND e.turn = 0 AND e.outcome IS NULL AND e.output_tokens IS NOT NULL
    GROUP BY t.size, t.language, 3`);
}

/** The first message of a kind comes by an index, one look a kind. What an operator's park blocks has no outcome of its own. */
async function findFailures(database: Database, sweepId: string): Promise<readonly FailureGroup[]> {
  const first = (condition: Prisma.Sql): Prisma.Sql => Prisma.sql`(
      SELECT t.message FROM trials t
      WHERE t.sweep_id = ${sweepId}::uuid AND t.alias = k.alias AND ${condition} AND t.in_grid AND t.state IN ('failed', 'blocked')
      ORDER BY t.finished_at, t.id LIMIT 1)`;
  const rows = await database.query<
    Omit<FailureGroup, "firstMessage"> & { readonly firstMessage: string | null }
  >(Prisma.sql`
    SELECT k.alias, CASE WHEN k.outcome <> '' THEN k.outcome WHEN k.parked THEN 'lane_parked' ELSE 'internal' END AS outcome, k.count,
      CASE WHEN k.outcome = '' THEN ${first(Prisma.sql`t.outcome IS NULL AND (t.state = 'blocked') = k.parked`)}
        ELSE ${first(Prisma.sql`t.outcome = k.outcome`)} END AS "firstMessage"
    FROM (
      SELECT alias, outcome, outcome = '' AND state = 'blocked' AS parked, sum(trials)::float8 AS count FROM trial_tallies
      WHERE sweep_id = ${sweepId}::uuid AND in_grid AND state IN ('failed', 'blocked')
      GROUP BY 1, 2, 3 HAVING sum(trials) <> 0
    ) k
    ORDER BY k.alias, k.count DESC, 2`);
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
function toModels(
  groups: readonly Group[],
  speeds: ReadonlyMap<string, Speed>,
  costs: ReadonlyMap<string, CostRow>,
): readonly ModelProgress[] {
  const byModel = new Map<string, Group[]>();
  for (const group of groups) {
    const key = modelKey(group);
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
      finishedPerSecond: finishedPerSecond(speeds.get(key)),
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
function finishedPerSecond(speed: Speed | undefined): number {
  if (speed === undefined) return 0;
  return speed.finished / Math.min(60, Math.max(1, speed.sinceSeconds));
}

/** How a sweep's requests to judges stand, from counts that the database keeps. */
export async function judgeProgress(database: Database, sweepId: string): ReturnType<JudgeStorePort["judgeProgress"]> {
  if (!isUuid(sweepId)) return { states: {}, unscored: 0, failures: [] };
  const rows = await database.query<{
    readonly state: string;
    readonly outcome: string | null;
    readonly count: number;
    readonly firstMessage: string | null;
  }>(Prisma.sql`
    SELECT k.state::text AS state, nullif(k.outcome, '') AS outcome, k.count, CASE WHEN k.state IN ('failed', 'blocked') THEN (
        SELECT q.message FROM judge_requests q WHERE q.sweep_id = ${sweepId}::uuid AND q.outcome = nullif(k.outcome, '')
          AND q.state IN ('failed', 'blocked') AND q.state = k.state ORDER BY q.created_at, q.id LIMIT 1
      ) END AS "firstMessage"
    FROM (
      SELECT state, outcome, sum(requests)::float8 AS count FROM judge_tallies WHERE sweep_id = ${sweepId}::uuid
      GROUP BY state, outcome HAVING sum(requests) <> 0
    ) k
    ORDER BY k.count DESC, 1, 2`);
  const states: Record<string, number> = {};
  for (const { state, count } of rows) states[state] = (states[state] ?? 0) + count;
  return {
    states,
    unscored: rows.find(({ state, outcome }) => state === "done" && outcome === "unscored")?.count ?? 0,
    failures: rows
      .filter(({ state }) => state === "failed" || state === "blocked")
      .map(({ state, outcome, count, firstMessage }) => ({
        outcome: outcome ?? (state === "blocked" ? "lane_parked" : "internal"),
        count,
        firstMessage: decodeNullable(firstMessage) ?? "",
      })),
  };
}

/** Since the first of a group of what is queued, and may start now, was given to the queue; null where none may. */
const oldestWaitingMs = Prisma.sql`(1000 * extract(epoch FROM clock_timestamp() - min(queued_at) FILTER (
      WHERE not_before IS NULL OR not_before <= clock_timestamp())))::float8 AS "oldestWaitingMs"`;

/**
 * Counts the ledger for whoever watches it: of the newest `sweepLimit` sweeps. Counts are those that the database keeps; what
 * is queued is read for its age, and what was cancelled for its time, so it is for callers that keep what it gives (see
 * `openFiguresReader`).
 */
export async function readFigures(database: Database, sweepLimit: number): Promise<LedgerFigures> {
  const sweeps = await database.query<SweepFigures & { readonly atMs: number }>(Prisma.sql`
    SELECT s.id::text AS "sweepId", s.name AS sweep, s.budget_usd::float8 AS "budgetUsd", s.spent_usd::float8 AS "spentUsd",
      s.reserved_usd::float8 AS "reservedUsd", floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "atMs",
      CASE WHEN s.paused_at IS NOT NULL THEN to_json(s.paused_models) END AS paused,
      (1000 * extract(epoch FROM greatest(
        (SELECT max(t.finished_at) FROM trials t WHERE t.sweep_id = s.id AND t.in_grid AND t.state IN ('done', 'failed')),
        CASE WHEN (SELECT sum(k.trials) FROM trial_tallies k WHERE k.sweep_id = s.id AND k.in_grid AND k.state = 'cancelled') > 0
          THEN (SELECT max(t.finished_at) FROM trials t WHERE t.sweep_id = s.id AND t.in_grid AND t.state = 'cancelled') END
      )))::float8 AS "lastFinishedAtMs"
    FROM (SELECT * FROM sweeps ORDER BY submitted_at DESC, id LIMIT ${sweepLimit}) s ORDER BY s.submitted_at DESC, s.id`);
  const ids = JSON.stringify(sweeps.map(({ sweepId }) => sweepId));
  const isShown = Prisma.sql`sweep_id IN (SELECT i::uuid FROM json_array_elements_text(${ids}::json) AS i)`;
  const [batches, trials, judges, agreements] = await Promise.all([
    batchStandings(database, null),
    database.query<Omit<TrialGroup, "sweep">>(Prisma.sql`
      SELECT k.sweep_id::text AS "sweepId", k.alias, k.lane, k.state::text AS state, nullif(k.outcome, '') AS outcome, k.count,
        w."oldestWaitingMs"
      FROM (
        SELECT sweep_id, alias, lane, state, outcome, sum(trials)::float8 AS count FROM trial_tallies
        WHERE ${isShown} AND in_grid GROUP BY 1, 2, 3, 4, 5 HAVING sum(trials) <> 0
      ) k LEFT JOIN (
        SELECT sweep_id, alias, lane, state, coalesce(outcome, '') AS outcome, ${oldestWaitingMs}
        FROM trials WHERE ${isShown} AND in_grid AND state = 'queued' GROUP BY 1, 2, 3, 4, 5
      ) w USING (sweep_id, alias, lane, state, outcome)
      ORDER BY k.sweep_id, k.alias, k.lane, k.state::text, k.outcome`),
    database.query<Omit<JudgeGroup, "sweep">>(Prisma.sql`
      SELECT k.sweep_id::text AS "sweepId", k.lane, k.state::text AS state, nullif(k.outcome, '') AS outcome, k.count,
        w."oldestWaitingMs"
      FROM (
        SELECT sweep_id, lane, state, outcome, sum(requests)::float8 AS count FROM judge_tallies
        WHERE ${isShown} GROUP BY 1, 2, 3, 4 HAVING sum(requests) <> 0
        UNION ALL
        SELECT NULL, lane, state, coalesce(outcome, ''), count(*)::float8 FROM judge_requests
        WHERE sweep_id IS NULL GROUP BY lane, state, outcome
      ) k LEFT JOIN (
        SELECT sweep_id, lane, state, coalesce(outcome, '') AS outcome, ${oldestWaitingMs}
        FROM judge_requests WHERE (sweep_id IS NULL OR ${isShown}) AND state = 'queued' GROUP BY 1, 2, 3, 4
      ) w ON w.sweep_id IS NOT DISTINCT FROM k.sweep_id AND w.lane = k.lane AND w.state = k.state AND w.outcome = k.outcome
      ORDER BY k.sweep_id, k.lane, k.state::text, k.outcome`),
    database.query<JudgeAgreement>(Prisma.sql`
      SELECT DISTINCT ON (judge_model, prompt_version) judge_model AS judge, prompt_version AS "promptVersion", items,
        agreed, open
      FROM calibrations WHERE split = 'test' ORDER BY judge_model, prompt_version, created_at DESC LIMIT 50`),
  ]);
  const names = new Map(sweeps.map(({ sweepId, sweep }) => [sweepId, decodeText(sweep)]));
  const nameOf = (sweepId: string | null): string => (sweepId === null ? "" : (names.get(sweepId) ?? ""));
  return {
    atMs: sweeps[0]?.atMs ?? 0,
    sweeps: sweeps.map(({ atMs: _atMs, ...sweep }) => ({
      ...sweep,
      sweep: nameOf(sweep.sweepId),
      paused: sweep.paused?.map((alias) => decodeText(alias)) ?? null,
    })),
    trials: trials.map((row) => ({ ...row, alias: decodeText(row.alias), sweep: nameOf(row.sweepId) })),
    judges: judges.map((row) => ({ ...row, sweep: nameOf(row.sweepId) })),
    agreements,
    batches,
  };
}

/** The methods of the ledger that decide who tells people of what. */
export function createAlertMethods(database: Database): AlertPort {
  return {
    settleAlerts: async (conditions, readAtMs) => {
      const rows = conditions.map(({ kind, subject, stands, marker, facts }) => ({
        kind,
        subject: encodeText(subject),
        stands,
        marker,
        facts: encodeText(JSON.stringify(facts)),
      }));
      const readAt = Prisma.sql`to_timestamp(${readAtMs}::float8 / 1000)`;
      await database.query(Prisma.sql`
        WITH given AS (
          SELECT * FROM json_to_recordset(${jsonRows(rows)}) AS g(kind text, subject text, stands bool, marker text, facts text)
          ORDER BY kind, subject
        ), lowered AS (
          UPDATE alerts a SET active = false, changed_at = clock_timestamp() FROM given g
          WHERE NOT g.stands AND a.active AND a.kind = g.kind AND a.subject = g.subject AND a.changed_at < ${readAt}
        )
        INSERT INTO alerts AS a (kind, subject, marker, active, facts_json, raised_at, changed_at)
        SELECT kind, subject, marker, true, facts, clock_timestamp(), clock_timestamp() FROM given WHERE stands
        ON CONFLICT (kind, subject) DO UPDATE SET active = true, marker = EXCLUDED.marker, occurrence = a.occurrence + 1,
          facts_json = EXCLUDED.facts_json, raised_at = clock_timestamp(), changed_at = clock_timestamp(), claimed_until = NULL,
          attempts = 0, told_at = NULL
        WHERE (NOT a.active OR a.marker <> EXCLUDED.marker) AND a.changed_at < ${readAt}`);
    },
    takeAlerts: async (claimMs) => {
      const rows = await database.query<Omit<Alert, "facts"> & { readonly factsJson: string }>(Prisma.sql`
        WITH free AS (
          SELECT kind, subject FROM alerts WHERE told_at IS NULL AND attempts < 5
            AND (claimed_until IS NULL OR claimed_until < clock_timestamp()) FOR UPDATE SKIP LOCKED
        )
        UPDATE alerts a SET attempts = a.attempts + 1,
          claimed_until = clock_timestamp() + ${claimMs}::float8 * interval '1 millisecond'
        FROM free f WHERE a.kind = f.kind AND a.subject = f.subject
        RETURNING a.kind, a.subject, a.occurrence, a.facts_json AS "factsJson",
          (1000 * extract(epoch FROM a.raised_at))::float8 AS "raisedAtMs"`);
      return rows.map(({ factsJson, ...alert }) => ({
        ...alert,
        subject: decodeText(alert.subject),
        facts: JSON.parse(decodeText(factsJson)) as Alert["facts"],
      }));
    },
    markTold: async ({ kind, subject, occurrence }) => {
      await database.query(Prisma.sql`
        UPDATE alerts SET told_at = clock_timestamp()
        WHERE kind = ${kind} AND subject = ${encodeText(subject)} AND occurrence = ${occurrence} RETURNING 1`);
    },
  };
}
