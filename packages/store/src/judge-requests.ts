import type { OpenTrial, RequestAdmission } from "@hallumaze/engine";
import {
  type JudgeClaim,
  type JudgeClaimResult,
  type JudgedSource,
  type JudgeEnd,
  judgeKey,
  type JudgementRecord,
  type JudgePlan,
  type JudgeRequestRow,
  type JudgeStorePort,
  paramsJsonOf,
} from "@hallumaze/judging";

import type { SteeringPort } from "@hallumaze/steering";

import { maxLosses } from "./claims.ts";
import { moveJudges } from "./endings.ts";
import { type Database, isUuid, jsonRows } from "./database.ts";
import { Prisma } from "./generated/client.ts";
import { sourceColumns, sourceJoins, type SourceRow, toSource } from "./stream-trials.ts";
import { insertJudgements, judgementRows, readJudgements } from "./judgements.ts";
import { createMoneyMethods, settleMoney } from "./money.ts";
import { isLaneParked, isWholePaused, priorityOf } from "./open-trials.ts";
import { judgeProgress } from "./progress.ts";
import { decodeNullable, decodeText, encodeText } from "./storable-text.ts";

type RequestMethods = Pick<
  JudgeStorePort,
  | "requestJudgements"
  | "findJudgeClaim"
  | "moveJudges"
  | "takePlannedJudges"
  | "listOpenJudges"
  | "listOpenJudgeLanes"
  | "reclaimLostJudges"
  | "claimJudge"
  | "renewJudges"
  | "releaseJudge"
  | "openJudgeCall"
  | "recordJudgement"
  | "endJudge"
  | "blockJudgeLane"
  | "listBlockedJudgeLanes"
  | "judgeProgress"
  | "openJudgesOf"
  | "unblockJudges"
> &
  Pick<SteeringPort, "putBackJudges" | "cancelJudges" | "judgePermitOf">;

const remainingMs = Prisma.sql`greatest(0, ceil(coalesce(extract(epoch FROM q.not_before - clock_timestamp()), 0) * 1000))::float8`;
const asOpen = Prisma.sql`q.id::text AS "trialId", q.lane, q.generation, ${remainingMs} AS "delayMs",
    coalesce((SELECT ${priorityOf} FROM sweeps s WHERE s.id = q.sweep_id), 0) AS priority`;

/** Whether an operator lets the request `q` go on; one of no sweep always may. */
const isFree = Prisma.sql`NOT EXISTS (SELECT 1 FROM sweeps s WHERE s.id = q.sweep_id AND ${isWholePaused})`;
/** A judge calls in the lane of its model, which trials may use too. */
const isParked = isLaneParked(Prisma.sql`q.lane, regexp_replace(q.lane, '^(rehearsal\\.)?judge\\.', '\\1')`);

/** The methods of the ledger that run requests to judges: as those of trials, one row a statement. */
export function createJudgeRequestMethods(database: Database): RequestMethods {
  return {
    requestJudgements: (rows) => requestJudgements(database, rows),
    takePlannedJudges: (limit) =>
      database.query<OpenTrial>(Prisma.sql`
        WITH found AS (
          SELECT q.id FROM judge_requests q WHERE q.state = 'planned' AND ${isFree} ORDER BY q.created_at, q.id LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
        ), taken AS (
          UPDATE judge_requests q SET state = 'queued', queued_at = clock_timestamp() FROM found WHERE q.id = found.id
          RETURNING q.*
        )
        SELECT ${asOpen} FROM taken q ORDER BY q.created_at, q.id`),
    listOpenJudges: (lane, pageSize) => listOpen(database, lane, pageSize),
    listOpenJudgeLanes: async (sweepId) => {
      if (sweepId !== null && !isUuid(sweepId)) return [];
      const ofSweep = sweepId === null ? isFree : Prisma.sql`q.sweep_id = ${sweepId}::uuid`;
      return database.query<{ readonly lane: string; readonly open: number }>(Prisma.sql`
        SELECT q.lane, count(*)::int AS open FROM judge_requests q
        WHERE q.state IN ('planned', 'queued', 'running') AND ${ofSweep} GROUP BY q.lane ORDER BY q.lane`);
    },
    reclaimLostJudges: (isDead) => reclaimLost(database, isDead),
    claimJudge: (delivery) => claim(database, delivery),
    findJudgeClaim: (requestId, fence) => findClaim(database, requestId, fence),
    moveJudges: (sweepId, lane, to) => moveJudges(database, sweepId, lane, to),
    renewJudges: (held, leaseMs) => renew(database, held, leaseMs),
    releaseJudge: async (requestId, fence) => {
      if (!isUuid(requestId)) return;
      await database.query(Prisma.sql`
        UPDATE judge_requests SET state = 'queued', claimed_by = NULL, lease_until = NULL, queued_at = clock_timestamp()
        WHERE id = ${requestId}::uuid AND fence = ${fence} AND state = 'running' RETURNING 1 AS released`);
    },
    openJudgeCall: (call) => openCall(database, call),
    recordJudgement: (judgement, of) => record(database, judgement, of),
    endJudge: (requestId, fence, end, call) => endRequest(database, requestId, fence, end, call),
    blockJudgeLane: async (lane, outcome, message) => {
      const rows = await database.query<{ readonly id: string }>(Prisma.sql`
        UPDATE judge_requests SET state = 'blocked', outcome = ${outcome}, message = ${encodeText(message)}, not_before = NULL
        WHERE lane = ${lane} AND state IN ('planned', 'queued') RETURNING id::text`);
      return rows.length;
    },
    openJudgesOf: async (requestKeys) => {
      const [row] = await database.query<{ open: number; failed: number; firstMessage: string | null }>(Prisma.sql`
        SELECT (count(*) FILTER (WHERE state IN ('planned', 'queued', 'running')))::int AS open,
          (count(*) FILTER (WHERE state IN ('failed', 'blocked', 'cancelled')))::int AS failed,
          min(message) FILTER (WHERE state IN ('failed', 'blocked')) AS "firstMessage"
        FROM judge_requests
        WHERE request_key IN (SELECT json_array_elements_text(${JSON.stringify(requestKeys)}::json))`);
      const { open = 0, failed = 0, firstMessage = null } = row ?? {};
      return { open, failed, firstMessage: decodeNullable(firstMessage) ?? "" };
    },
    judgeProgress: (sweepId) => judgeProgress(database, sweepId),
    listBlockedJudgeLanes: async () => {
      const rows = await database.query<{ readonly lane: string }>(Prisma.sql`
        SELECT DISTINCT q.lane FROM judge_requests q
        WHERE q.state = 'blocked' AND q.outcome IS DISTINCT FROM 'budget_blocked' AND NOT ${isParked} ORDER BY q.lane`);
      return rows.map((row) => row.lane);
    },
    unblockJudges: ({ lane, sweepId, states = ["blocked"] }) =>
      database.query<OpenTrial>(Prisma.sql`
        WITH back AS (
          UPDATE judge_requests q SET state = 'queued', generation = q.generation + 1, outcome = NULL, message = NULL,
            tries = 0, waits = 0, losses = 0, finished_at = NULL, queued_at = clock_timestamp()
          WHERE q.state = ANY (${[...states]}::trial_state[]) AND ${lane === undefined ? Prisma.sql`true` : Prisma.sql`q.lane = ${lane} AND q.outcome IS DISTINCT FROM 'budget_blocked'`}
            AND NOT (q.state = 'blocked' AND ${isParked})
            AND ${sweepId === undefined ? Prisma.sql`true` : Prisma.sql`q.sweep_id = ${sweepId}::uuid`}
          RETURNING q.*
        )
        SELECT ${asOpen} FROM back q ORDER BY q.created_at, q.id`),
    putBackJudges: (sweepId) =>
      database.query<OpenTrial>(Prisma.sql`
        WITH back AS (
          UPDATE judge_requests q SET state = 'queued', generation = q.generation + 1, queued_at = clock_timestamp()
          WHERE q.sweep_id = ${sweepId}::uuid AND q.state IN ('planned', 'queued') RETURNING q.*
        )
        SELECT ${asOpen} FROM back q ORDER BY q.created_at, q.id`),
    cancelJudges: async (sweepId) => {
      const [row] = await database.query<{ readonly cancelled: number }>(Prisma.sql`
        WITH marked AS (
          UPDATE sweeps SET cancelled_at = clock_timestamp() WHERE id = ${sweepId}::uuid
        ), gone AS (
          UPDATE judge_requests q SET ${cancelled}
          WHERE q.sweep_id = ${sweepId}::uuid AND q.state IN ('planned', 'queued', 'blocked') RETURNING 1
        )
        SELECT count(*)::int AS cancelled FROM gone`);
      return row?.cancelled ?? 0;
    },
    judgePermitOf: async ({ requestId, fence }) => {
      const [row] = await database.query<{ readonly isHeld: boolean }>(Prisma.sql`
        SELECT NOT ${isFree} OR ${isParked} OR ${isCancelled} AS "isHeld" FROM judge_requests q
        WHERE q.id = ${requestId}::uuid AND q.fence = ${fence} AND q.state = 'running'`);
      return row === undefined || row.isHeld ? "held" : "go";
    },
  };
}

const cancelled = Prisma.sql`state = 'cancelled', outcome = 'cancelled', message = 'cancelled by an operator',
    finished_at = clock_timestamp(), claimed_by = NULL, lease_until = NULL, not_before = NULL`;
/** Whether the whole sweep of a request `q` was cancelled. */
const isCancelled = Prisma.sql`EXISTS (SELECT 1 FROM sweeps s WHERE s.id = q.sweep_id AND s.cancelled_at IS NOT NULL)`;

async function requestJudgements(database: Database, rows: readonly JudgeRequestRow[]): Promise<number> {
  let added = 0;
  for (let start = 0; start < rows.length; start += 1000) {
    const input = rows.slice(start, start + 1000).map(({ plan, ...row }) => ({
      ...row,
      planJson: encodeText(JSON.stringify({ ...plan, judgeKey: judgeKey(plan) })),
    }));
    const [row] = await database.query<{ readonly added: number }>(Prisma.sql`
      WITH written AS (
        INSERT INTO judge_requests (result_id, sweep_id, lane, request_key, plan_json)
        SELECT i."resultId", i."sweepId", i.lane, i."requestKey", i."planJson"
        FROM json_to_recordset(${jsonRows(input)}) AS i("resultId" uuid, "sweepId" uuid, lane text, "requestKey" text,
          "planJson" text)
        ON CONFLICT (request_key) DO NOTHING RETURNING 1
      )
      SELECT count(*)::int AS added FROM written`);
    added += row?.added ?? 0;
  }
  return added;
}

async function* listOpen(database: Database, lane: string, pageSize: number): AsyncGenerator<readonly OpenTrial[]> {
  let after: string | null = null;
  for (;;) {
    const beyond: Prisma.Sql = after === null ? Prisma.empty : Prisma.sql`AND q.id > ${after}::uuid`;
    const rows: readonly OpenTrial[] = await database.query<OpenTrial>(Prisma.sql`
      SELECT ${asOpen} FROM judge_requests q WHERE q.lane = ${lane} AND q.state IN ('planned', 'queued') AND ${isFree} ${beyond}
      ORDER BY q.id LIMIT ${pageSize}`);
    if (rows.length > 0) yield rows;
    if (rows.length < pageSize) return;
    after = rows.at(-1)?.trialId ?? null;
  }
}

async function reclaimLost(database: Database, isDead: (workerId: string) => boolean): Promise<readonly OpenTrial[]> {
  const workers = await database.query<{ readonly claimedBy: string }>(Prisma.sql`
    SELECT DISTINCT claimed_by AS "claimedBy" FROM judge_requests WHERE state = 'running' AND claimed_by IS NOT NULL`);
  const dead = workers.map((worker) => worker.claimedBy).filter((workerId) => isDead(decodeText(workerId)));
  return database.query<OpenTrial>(Prisma.sql`
    WITH lost AS (
      SELECT id, losses + 1 >= ${maxLosses} AS is_hopeless FROM judge_requests
      WHERE state = 'running' AND (lease_until <= clock_timestamp()
        OR claimed_by IN (SELECT json_array_elements_text(${JSON.stringify(dead)}::json)))
      ORDER BY id FOR NO KEY UPDATE
    ), back AS (
      UPDATE judge_requests q SET state = CASE WHEN lost.is_hopeless THEN 'failed' ELSE 'queued' END::trial_state,
        outcome = 'worker_lost', losses = q.losses + 1, generation = q.generation + 1, claimed_by = NULL,
        lease_until = NULL, not_before = NULL, queued_at = clock_timestamp(),
        finished_at = CASE WHEN lost.is_hopeless THEN clock_timestamp() END
      FROM lost WHERE q.id = lost.id RETURNING q.*
    )
    SELECT ${asOpen} FROM back q WHERE q.state = 'queued' ORDER BY q.lane, q.created_at, q.id`);
}

interface ClaimRow extends SourceRow {
  readonly waitMs: number | null;
  readonly requestId: string;
  readonly resultId: string;
  readonly sweepId: string | null;
  readonly lane: string;
  readonly planJson: string;
  readonly fence: number | null;
  readonly tries: number;
  readonly waits: number;
  readonly trialId: string | null;
  readonly trialModel: string | null;
  readonly submitter: string | null;
}

const claimColumns = Prisma.sql`j.id::text AS "requestId", j.result_id::text AS "resultId", j.sweep_id::text AS "sweepId",
  j.lane, j.plan_json AS "planJson", j.tries, j.waits, r.trial_id::text AS "trialId", t.model AS "trialModel", r.submitter, ${sourceColumns}`;

async function findClaim(database: Database, requestId: string, fence: number): Promise<JudgeClaim | null> {
  const [row] = await database.query<ClaimRow>(Prisma.sql`
    SELECT 0 AS "waitMs", ${fence}::int AS fence, ${claimColumns} FROM judge_requests j
    JOIN results r ON r.id = j.result_id ${sourceJoins} WHERE j.id = ${requestId}::uuid`);
  const source = row === undefined ? null : toSource(row);
  if (row === undefined || source === null) return null;
  return toClaim(database, { ...row, fence }, JSON.parse(decodeText(row.planJson)) as JudgePlan, source, true);
}

/** The request's row is locked first, so that of two deliveries one claims and the other sees it running. */
async function claim(
  database: Database,
  delivery: Parameters<JudgeStorePort["claimJudge"]>[0],
): Promise<JudgeClaimResult> {
  if (!isUuid(delivery.trialId)) return { kind: "nothing" };
  const [row] = await database.query<ClaimRow>(Prisma.sql`
    WITH locked AS (
      SELECT q.*, clock_timestamp() AS at FROM judge_requests q
      WHERE q.id = ${delivery.trialId}::uuid AND q.generation = ${delivery.generation}
        AND q.state IN ('planned', 'queued', 'running') AND ${isFree} FOR NO KEY UPDATE
    ), stopped AS (
      UPDATE judge_requests q SET ${cancelled} FROM locked l WHERE q.id = l.id AND ${isCancelled} RETURNING q.id
    ), blocked AS (
      UPDATE judge_requests q SET state = 'blocked', outcome = NULL, message = 'the lane is parked by an operator',
        claimed_by = NULL, lease_until = NULL
      FROM locked l WHERE q.id = l.id AND ${isParked} AND NOT ${isCancelled} RETURNING q.id
    ), judged AS (
      SELECT l.*, greatest(0, ceil(extract(epoch FROM CASE l.state WHEN 'running' THEN l.lease_until ELSE l.not_before END - l.at)
        * 1000))::float8 AS wait_ms FROM locked l
      WHERE l.id NOT IN (SELECT id FROM stopped UNION ALL SELECT id FROM blocked)
    ), claimed AS (
      UPDATE judge_requests q SET state = 'running', fence = q.fence + 1, claimed_by = ${encodeText(delivery.workerId)},
        not_before = NULL, lease_until = clock_timestamp() + ${delivery.leaseMs}::float8 * interval '1 millisecond',
        losses = q.losses + CASE j.state WHEN 'running' THEN 1 ELSE 0 END
      FROM judged j WHERE q.id = j.id AND coalesce(j.wait_ms, 0) = 0 RETURNING q.id, q.fence
    )
    SELECT j.wait_ms AS "waitMs", c.fence, ${claimColumns}
    FROM judged j LEFT JOIN claimed c ON c.id = j.id JOIN results r ON r.id = j.result_id
    ${sourceJoins}`);
  if (row === undefined) return { kind: "nothing" };
  if (row.fence === null) return { kind: "later", afterMs: Math.max(1, row.waitMs ?? 1) };
  const source = toSource(row);
  if (source === null) {
    await database.query(Prisma.sql`
      UPDATE judge_requests q SET state = 'failed', outcome = 'internal', claimed_by = NULL, lease_until = NULL,
        message = 'There is no text to judge: it was pruned.', finished_at = clock_timestamp()
      WHERE q.id = ${row.requestId}::uuid AND q.fence = ${row.fence} RETURNING 1 AS ended`);
    return { kind: "nothing" };
  }
  const plan = JSON.parse(decodeText(row.planJson)) as JudgePlan;
  return { kind: "claimed", claim: await toClaim(database, { ...row, fence: row.fence }, plan, source) };
}

async function toClaim(
  database: Database,
  row: ClaimRow & { readonly fence: number },
  plan: JudgePlan,
  source: JudgedSource,
  mayHaveRecorded = row.fence > 1,
): Promise<JudgeClaim> {
  const { requestId, resultId, trialId, sweepId, lane, fence, tries, waits } = row;
  const modelAsked = encodeText(`${plan.judge.provider}/${plan.judge.model}`);
  const ofPlan = Prisma.sql`j.result_id = ${resultId}::uuid AND j.model_asked = ${modelAsked} AND j.round = ${plan.round}
    AND j.repeat = ${plan.repeat} AND j.prompt_version = ${plan.promptVersion}
    AND j.params_json = ${encodeText(paramsJsonOf(plan))}`;
  const recorded = mayHaveRecorded ? await readJudgements(database, ofPlan) : [];
  const submitterModel = decodeNullable(row.trialModel ?? row.submitter);
  return { requestId, resultId, trialId, sweepId, lane, plan, fence, tries, waits, recorded, source, submitterModel };
}

async function renew(
  database: Database,
  held: Parameters<JudgeStorePort["renewJudges"]>[0],
  leaseMs: number,
): Promise<readonly string[]> {
  if (held.length === 0) return [];
  const rows = await database.query<{ readonly id: string }>(Prisma.sql`
    UPDATE judge_requests q SET lease_until = clock_timestamp() + ${leaseMs}::float8 * interval '1 millisecond'
    FROM json_to_recordset(${jsonRows(held)}) AS i("trialId" uuid, fence int)
    WHERE q.id = i."trialId" AND q.fence = i.fence AND q.state = 'running' RETURNING q.id::text`);
  const kept = new Set(rows.map((row) => row.id));
  return held.filter((one) => !kept.has(one.trialId)).map((one) => one.trialId);
}

type Call = Parameters<JudgeStorePort["openJudgeCall"]>[0];

async function openCall(database: Database, call: Call): Promise<RequestAdmission> {
  const { requestId, fence, attempt, tryNumber, workerId, boundUsd } = call;
  const [row] = await database.query<{ readonly sweepId: string | null }>(Prisma.sql`
    SELECT sweep_id::text AS "sweepId" FROM judge_requests
    WHERE id = ${requestId}::uuid AND fence = ${fence} AND state = 'running'`);
  if (row === undefined) return { kind: "lost" };
  if (row.sweepId === null) return { kind: "open" };
  return createMoneyMethods(database).openRequest({
    trialId: requestId,
    fence,
    turn: attempt,
    tryNumber,
    workerId,
    boundUsd,
  });
}

const openCallOf = ({ requestId, fence, attempt, tryNumber }: Omit<Call, "workerId" | "boundUsd">): Prisma.Sql =>
  Prisma.sql`o.subject_id = ${requestId}::uuid AND o.fence = ${fence} AND o.turn = ${attempt} AND o.try_number = ${tryNumber}`;

/** The changes of a request's row that an end makes. */
function endingOf(end: JudgeEnd): Prisma.Sql {
  const state = end.kind === "retry" ? "queued" : end.kind;
  const message = end.kind === "done" ? null : encodeText(end.message);
  const afterMs = end.kind === "retry" ? end.afterMs : null;
  const spends = end.kind === "retry" ? end.spends : end.kind === "blocked" ? "nothing" : "try";
  return Prisma.sql`state = ${state}::trial_state, outcome = ${end.outcome}, message = ${message}, claimed_by = NULL,
    lease_until = NULL, tries = q.tries + ${spends === "try" ? 1 : 0}, waits = q.waits + ${spends === "wait" ? 1 : 0},
    not_before = clock_timestamp() + ${afterMs}::float8 * interval '1 millisecond', queued_at = clock_timestamp(),
    finished_at = CASE WHEN ${state} IN ('done', 'failed') THEN clock_timestamp() END`;
}

async function record(
  database: Database,
  judgement: JudgementRecord,
  of: Parameters<JudgeStorePort["recordJudgement"]>[1],
): Promise<"recorded" | "late"> {
  const [row] = await database.query<{ readonly isHeld: boolean }>(Prisma.sql`
    WITH held AS (
      SELECT q.id FROM judge_requests q
      WHERE q.id = ${of.requestId}::uuid AND q.fence = ${of.fence} AND q.state = 'running' FOR NO KEY UPDATE
    ), paid_by AS (
      SELECT sweep_id FROM judge_requests WHERE id = ${of.requestId}::uuid AND sweep_id IS NOT NULL
    ), input AS (
      SELECT i.*, NOT EXISTS (SELECT 1 FROM held) AS late_duplicate FROM ${judgementRows(judgement, of.batch)}
    ), ${insertJudgements}, closed AS (
      DELETE FROM open_requests o WHERE ${openCallOf(of)} RETURNING o.sweep_id, o.bound_usd
    ), ${settleMoney(Prisma.sql`
      SELECT p.sweep_id, coalesce(i.cost_usd, c.bound_usd, 0) AS spent, 0 AS released
      FROM paid_by p JOIN judged j ON true JOIN input i ON i.id = j.id LEFT JOIN closed c ON true
      UNION ALL SELECT sweep_id, 0, coalesce(bound_usd, 0) FROM closed`)}
    SELECT EXISTS (SELECT 1 FROM held) AS "isHeld"`);
  return row?.isHeld === true ? "recorded" : "late";
}

async function endRequest(
  database: Database,
  requestId: string,
  fence: number,
  end: JudgeEnd,
  call: Parameters<JudgeStorePort["endJudge"]>[3],
): Promise<"ended" | "lost"> {
  if (!isUuid(requestId)) return "lost";
  const closed =
    call === null
      ? Prisma.sql`SELECT NULL::uuid AS sweep_id, 0::numeric AS bound_usd WHERE false`
      : Prisma.sql`DELETE FROM open_requests o WHERE ${openCallOf({ requestId, fence, ...call })} RETURNING o.sweep_id, o.bound_usd`;
  const rows = await database.query<{ readonly id: string }>(Prisma.sql`
    WITH closed AS (${closed}), ${settleMoney(Prisma.sql`
      SELECT sweep_id, coalesce(${call?.spentUsd ?? null}::numeric, bound_usd, 0) AS spent, coalesce(bound_usd, 0) AS released
      FROM closed`)}
    UPDATE judge_requests q SET ${endingOf(end)}
    WHERE q.id = ${requestId}::uuid AND q.fence = ${fence} AND q.state = 'running' RETURNING q.id::text`);
  return rows.length > 0 ? "ended" : "lost";
}
