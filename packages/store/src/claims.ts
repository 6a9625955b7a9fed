import type {
  Claim,
  ClaimResult,
  FailureOutcome,
  OpenTrial,
  RecordedFailure,
  RecordedReply,
  StorePort,
} from "@hallumaze/engine";

import { coalesce, type Coalescer } from "./coalesce.ts";
import { type Database, isUuid, jsonRows } from "./database.ts";
import { isItemsFault } from "./errors.ts";
import { Prisma } from "./generated/client.ts";
import { asOpenTrial, cancelledEnd, isLaneParked, isPaused } from "./open-trials.ts";
import { decodeNullable, decodeText, encodeText } from "./storable-text.ts";

type ClaimMethods = Pick<StorePort, "claim" | "renew" | "release" | "reclaimLost">;
type Delivery = Parameters<StorePort["claim"]>[0];

/** How long a trial waits, in ms, while another sweep runs its cell: then it takes that answer over, or asks itself. */
const twinWaitMs = 1000;

/** A trial that takes its worker down so often is put aside: it would take down every worker in turn. */
export const maxLosses = 20;

/** The methods of the store by which a worker gets, keeps and gives back the right to run a trial. */
export function createClaimMethods(database: Database): ClaimMethods & { readonly drain: () => Promise<void> } {
  const claims = coalesceSmall<Delivery, ClaimResult>((deliveries) => claimBatch(database, deliveries));
  const releases = coalesceSmall<Held, null>((held) => releaseBatch(database, held));
  return {
    claim: async (delivery) => (isUuid(delivery.trialId) ? claims.call(delivery) : { kind: "nothing" }),
    renew: (held, leaseMs) => renew(database, held, leaseMs),
    release: async (trialId, fence) => {
      if (isUuid(trialId)) await releases.call({ trialId, fence });
    },
    reclaimLost: (isDead) => reclaimLost(database, isDead),
    drain: async () => {
      await Promise.all([claims.drain(), releases.drain()]);
    },
  };
}

interface Held {
  readonly trialId: string;
  readonly fence: number;
}

function coalesceSmall<Item extends { readonly trialId: string }, Result>(
  runBatch: (items: readonly Item[]) => Promise<readonly Result[]>,
): Coalescer<Item, Result> {
  return coalesce({
    runBatch,
    keyOf: (item) => item.trialId,
    sizeOf: () => 1,
    maxItems: 256,
    maxSize: 256,
    maxInFlight: 2,
    isItemsFault,
  });
}

interface ClaimRow {
  readonly position: number;
  readonly decision: "claimed" | "reused" | "lost" | "later" | "twin" | "parked" | "cancelled";
  readonly fresh: boolean;
  readonly waitMs: number;
  readonly trialId: string;
  readonly sweepId: string;
  readonly alias: string;
  readonly lane: string;
  readonly plan: Claim["plan"];
  readonly fence: number | null;
  readonly tries: number;
  readonly waits: number;
  readonly emptyRetries: number;
  readonly maxTries: number;
  readonly maxEmptyRetries: number;
  readonly queueMs: number | null;
  readonly recorded: readonly RecordedReply[] | null;
  readonly failedOutcome: FailureOutcome | null;
  readonly failedMessage: string | null;
}

/**
 * Decides all deliveries of a batch. The rows are locked in id order first (so that two batches cannot deadlock), which
 * also brings their newest version into view; then each is claimed, answered from another sweep, or left. While another
 * sweep runs a trial of the same cell it is left too: nothing is bought twice. What an operator holds back starts nowhere:
 * the trials of a paused sweep are left open, those of a parked lane blocked.
 */
async function claimBatch(database: Database, deliveries: readonly Delivery[]): Promise<readonly ClaimResult[]> {
  const input = deliveries.map((delivery, position) => ({
    ...delivery,
    workerId: encodeText(delivery.workerId),
    position,
  }));
  const rows = await database.query<ClaimRow>(Prisma.sql`
    WITH input AS (
      SELECT * FROM json_to_recordset(${jsonRows(input)}) AS i(
        position int, "trialId" uuid, generation int, "workerId" text, "leaseMs" float8)
    ), locked AS (
      SELECT i.position, i."workerId", i."leaseMs", t.*, s.max_tries, s.max_empty_retries, s.fresh, clock_timestamp() AS at
      FROM input i JOIN trials t ON t.id = i."trialId" JOIN sweeps s ON s.id = t.sweep_id
      WHERE t.generation = i.generation AND t.in_grid AND t.state IN ('planned', 'queued', 'running') AND NOT ${isPaused}
      ORDER BY t.id FOR NO KEY UPDATE OF t
    ), busy AS MATERIALIZED (
      SELECT cell_id, sweep_id FROM trials WHERE state = 'running' AND lease_until > now()
    ), judged AS (
      SELECT l.*, greatest(0, ceil(extract(epoch FROM CASE l.state WHEN 'running' THEN l.lease_until ELSE l.not_before END - l.at)
          * 1000))::float8 AS wait_ms,
        source.id AS found_id, source.outcome AS found_outcome, source.source_trial_id AS found_source,
        source.accepted_exchange_id AS found_exchange, source.finished_at AS found_finished_at,
        CASE
          WHEN l.state = 'running' AND l.lease_until > l.at THEN 'later'
          WHEN l.state <> 'running' AND l.not_before > l.at THEN 'later'
          WHEN l.cancel_requested THEN 'cancelled'
          WHEN source.id IS NOT NULL THEN 'reused'
          WHEN ${isLaneParked(Prisma.sql`l.lane`)} THEN 'parked'
          WHEN l.state = 'running' AND l.losses + 1 >= ${maxLosses} THEN 'lost'
          WHEN NOT l.fresh AND EXISTS (SELECT 1 FROM busy b WHERE b.cell_id = l.cell_id AND b.sweep_id <> l.sweep_id) THEN 'twin'
          ELSE 'claimed'
        END AS verdict
      FROM locked l
      LEFT JOIN LATERAL (
        SELECT o.* FROM trials o
        WHERE NOT l.fresh AND o.cell_id = l.cell_id AND o.state = 'done' AND o.sweep_id <> l.sweep_id
        ORDER BY o.finished_at, o.id LIMIT 1
      ) source ON true
    ), decided AS (
      SELECT j.*, CASE WHEN j.verdict = 'claimed' AND NOT j.fresh AND row_number() OVER (
          PARTITION BY j.verdict, j.cell_id ORDER BY j.fresh DESC, j.position) > 1 THEN 'twin' ELSE j.verdict END AS decision
      FROM judged j
    ), claimed AS (
      UPDATE trials t SET state = 'running', fence = t.fence + 1, claimed_by = d."workerId", not_before = NULL,
        lease_until = clock_timestamp() + d."leaseMs" * interval '1 millisecond',
        losses = t.losses + CASE d.state WHEN 'running' THEN 1 ELSE 0 END
      FROM decided d WHERE t.id = d.id AND d.decision = 'claimed'
      RETURNING t.id, t.fence
    ), reused AS (
      UPDATE trials t SET state = 'done', outcome = d.found_outcome, message = NULL, claimed_by = NULL, lease_until = NULL,
        not_before = NULL, source_trial_id = coalesce(d.found_source, d.found_id), accepted_exchange_id = d.found_exchange,
        finished_at = d.found_finished_at
      FROM decided d WHERE t.id = d.id AND d.decision = 'reused'
    ), parked AS (
      UPDATE trials t SET state = 'blocked', outcome = NULL, claimed_by = NULL, lease_until = NULL, not_before = NULL,
        message = (SELECT c.park_reason FROM lane_controls c WHERE c.lane = t.lane)
      FROM decided d WHERE t.id = d.id AND d.decision = 'parked'
    ), cancelled AS (
      UPDATE trials t SET ${cancelledEnd} FROM decided d WHERE t.id = d.id AND d.decision = 'cancelled'
    )
    SELECT d.position, d.decision, d.fresh, d.wait_ms AS "waitMs", d.id::text AS "trialId", d.sweep_id::text AS "sweepId", d.alias, d.lane,
      d.plan,
      c.fence, d.tries, d.waits, d.empty_retries AS "emptyRetries", d.max_tries AS "maxTries",
      d.max_empty_retries AS "maxEmptyRetries",
      greatest(0, round(extract(epoch FROM d.at - greatest(d.queued_at, d.not_before)) * 1000))::float8 AS "queueMs", recorded.replies AS recorded,
      failed.outcome AS "failedOutcome", failed.error_message AS "failedMessage"
    FROM decided d
    LEFT JOIN claimed c ON c.id = d.id
    LEFT JOIN LATERAL (
      SELECT json_agg(json_build_object('exchangeId', e.id, 'turn', e.turn, 'text', coalesce(e.text, ''),
        'reasoning', e.reasoning, 'finishReason', e.finish_reason, 'inputTokens', e.input_tokens) ORDER BY e.turn) AS replies
      FROM (
        SELECT DISTINCT ON (turn) * FROM exchanges x
        WHERE x.trial_id = d.id AND d.fence > 0 AND (x.sequence > d.settled_sequence OR x.turn < d.kept_turns)
          AND NOT x.late_duplicate AND x.outcome IS NULL
        ORDER BY turn, sequence DESC
      ) e
    ) recorded ON d.decision = 'claimed'
    LEFT JOIN LATERAL (
      SELECT x.outcome, x.error_message FROM exchanges x
      WHERE x.trial_id = d.id AND d.fence > 0 AND x.sequence > d.settled_sequence AND NOT x.late_duplicate
        AND x.outcome <> 'internal'
      ORDER BY x.sequence DESC LIMIT 1
    ) failed ON d.decision = 'claimed'`);
  const twins = await giveBackTwins(database, rows);
  const byPosition = new Map(
    rows.map((row) => [row.position, twins.has(row.trialId) ? { ...row, decision: "twin" as const } : row]),
  );
  return deliveries.map((_, position) => toClaimResult(byPosition.get(position)));
}

/**
 * Two batches at the same time cannot see each other's claims. So each looks again after its own is written, and gives
 * back what another sweep runs as well; the later of two sees the earlier. Gives the ids of what it gave back.
 */
async function giveBackTwins(database: Database, rows: readonly ClaimRow[]): Promise<ReadonlySet<string>> {
  const held = rows.filter((row) => row.decision === "claimed" && !row.fresh);
  if (held.length === 0) return new Set();
  const input = held.map(({ trialId, fence }) => ({ trialId, fence }));
  const returned = database.query<{ readonly id: string }>(Prisma.sql`
    WITH locked AS (
      SELECT t.id FROM json_to_recordset(${jsonRows(input)}) AS i("trialId" uuid, fence int)
      JOIN trials t ON t.id = i."trialId" AND t.fence = i.fence AND t.state = 'running'
      WHERE t.cell_id IN (SELECT o.cell_id FROM trials o WHERE o.state = 'running' AND o.lease_until > now()
        GROUP BY o.cell_id HAVING count(*) > 1)
      ORDER BY t.id FOR NO KEY UPDATE OF t
    )
    UPDATE trials t SET state = 'queued', claimed_by = NULL, lease_until = NULL
    FROM locked WHERE t.id = locked.id RETURNING t.id::text`);
  // A failure here must not lose what is claimed: at worst a cell is bought twice.
  return new Set((await returned.catch(() => [])).map((row) => row.id));
}

function toClaimResult(row: ClaimRow | undefined): ClaimResult {
  // Two that saw each other wait for different times.
  if (row?.decision === "twin") return { kind: "later", afterMs: Math.round(twinWaitMs * (1 + Math.random() / 2)) };
  if (row?.decision === "later") return { kind: "later", afterMs: Math.max(1, row.waitMs) };
  if (row?.decision !== "claimed" || row.fence === null) return { kind: "nothing" };
  const { trialId, sweepId, lane, plan, fence, tries, waits, emptyRetries, maxTries, maxEmptyRetries, queueMs } = row;
  const recorded = (row.recorded ?? []).map((reply) => ({
    ...reply,
    text: decodeText(reply.text),
    reasoning: decodeNullable(reply.reasoning),
  }));
  const recordedFailure: RecordedFailure | null =
    row.failedOutcome === null
      ? null
      : { outcome: row.failedOutcome, message: decodeNullable(row.failedMessage) ?? "" };
  return {
    kind: "claimed",
    claim: {
      trialId,
      sweepId,
      alias: decodeText(row.alias),
      lane,
      plan,
      fence,
      tries,
      waits,
      emptyRetries,
      maxTries,
      maxEmptyRetries,
      queueMs,
      recorded,
      recordedFailure,
    },
  };
}

async function renew(database: Database, held: readonly Held[], leaseMs: number): Promise<readonly string[]> {
  const valid = held.filter((claim) => isUuid(claim.trialId));
  if (valid.length === 0) return held.map((claim) => claim.trialId);
  const rows = await database.query<{ readonly id: string }>(Prisma.sql`
    WITH locked AS (
      SELECT t.id FROM json_to_recordset(${jsonRows(valid)}) AS i("trialId" uuid, fence int)
      JOIN trials t ON t.id = i."trialId" AND t.fence = i.fence AND t.state = 'running'
      ORDER BY t.id FOR NO KEY UPDATE OF t
    )
    UPDATE trials t SET lease_until = clock_timestamp() + ${leaseMs}::float8 * interval '1 millisecond'
    FROM locked WHERE t.id = locked.id RETURNING t.id::text`);
  const kept = new Set(rows.map((row) => row.id));
  return held.filter((claim) => !kept.has(claim.trialId)).map((claim) => claim.trialId);
}

async function releaseBatch(database: Database, held: readonly Held[]): Promise<readonly null[]> {
  await database.query(Prisma.sql`
    WITH locked AS (
      SELECT t.id FROM json_to_recordset(${jsonRows(held)}) AS i("trialId" uuid, fence int)
      JOIN trials t ON t.id = i."trialId" AND t.fence = i.fence AND t.state = 'running'
      ORDER BY t.id FOR NO KEY UPDATE OF t
    )
    UPDATE trials t SET state = CASE WHEN t.cancel_requested THEN 'cancelled' ELSE 'queued' END::trial_state,
      outcome = CASE WHEN t.cancel_requested THEN 'cancelled' ELSE t.outcome END,
      message = CASE WHEN t.cancel_requested THEN 'cancelled by an operator' ELSE t.message END,
      finished_at = CASE WHEN t.cancel_requested THEN clock_timestamp() END,
      cancel_requested = false, claimed_by = NULL, lease_until = NULL, queued_at = clock_timestamp()
    FROM locked WHERE t.id = locked.id RETURNING 1 AS released`);
  return held.map(() => null);
}

/**
 * The conditions stand in the update itself and are checked on the newest version of each row: a trial that ended or
 * was renewed after we looked is left alone.
 */
async function reclaimLost(database: Database, isDead: (workerId: string) => boolean): Promise<readonly OpenTrial[]> {
  const workers = await database.query<{ readonly claimedBy: string }>(Prisma.sql`
    SELECT DISTINCT claimed_by AS "claimedBy" FROM trials WHERE state = 'running' AND claimed_by IS NOT NULL`);
  const dead = workers.map((worker) => worker.claimedBy).filter((workerId) => isDead(decodeText(workerId)));
  const outcome: FailureOutcome = "worker_lost";
  return database.query<OpenTrial>(Prisma.sql`
    WITH lost AS (
      SELECT t.id, t.losses + 1 >= ${maxLosses} AS is_hopeless,
        'Worker ' || coalesce(t.claimed_by, '?') || CASE WHEN t.lease_until <= clock_timestamp()
          THEN ' let its lease end' ELSE ' is gone' END || ' (loss ' || t.losses + 1 || ')' AS note
      FROM trials t
      WHERE t.state = 'running' AND (t.lease_until <= clock_timestamp()
        OR t.claimed_by IN (SELECT json_array_elements_text(${JSON.stringify(dead)}::json)))
      ORDER BY t.id FOR NO KEY UPDATE OF t
    ), put_back AS (
      UPDATE trials t SET
        state = CASE WHEN t.cancel_requested THEN 'cancelled' WHEN lost.is_hopeless THEN 'failed' ELSE 'queued' END::trial_state,
        finished_at = CASE WHEN t.cancel_requested OR lost.is_hopeless THEN clock_timestamp() END,
        outcome = CASE WHEN t.cancel_requested THEN 'cancelled' ELSE ${outcome} END, cancel_requested = false, message = lost.note, losses = t.losses + 1, generation = t.generation + 1,
        claimed_by = NULL, lease_until = NULL, not_before = NULL, queued_at = clock_timestamp()
      FROM lost WHERE t.id = lost.id
      RETURNING t.*
    )
    SELECT ${asOpenTrial} FROM put_back t JOIN sweeps s ON s.id = t.sweep_id
    WHERE t.state = 'queued' AND t.in_grid AND NOT ${isPaused} ORDER BY t.lane, t.ordinal, t.id`);
}
