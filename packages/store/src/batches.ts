import { randomUUID } from "node:crypto";

import type { Batch, BatchDraft, BatchRow, BatchState, BatchStorePort, OpenCount, TrialRow } from "@hallumaze/batching";
import type { BatchStanding, RequestAdmission } from "@hallumaze/engine";

import { coalesce } from "./coalesce.ts";
import { type Database, isUuid, jsonRows } from "./database.ts";
import { dropBatch, landBatchRows, moveLive, returnBatchRows } from "./endings.ts";
import { isItemsFault, StoreError } from "./errors.ts";
import { Prisma } from "./generated/client.ts";
import { isLive } from "./money.ts";
import { decodeText, encodeText } from "./storable-text.ts";

/** Longer than any vendor keeps a batch or its results: what a batch holds is given back by whoever drives it. */
const heldFor = Prisma.sql`interval '60 days'`;
const leaseOf = (ms: number): Prisma.Sql => Prisma.sql`clock_timestamp() + ${ms}::float8 * interval '1 millisecond'`;

const isHeld = (batch: Pick<Batch, "batchId" | "fence">): Prisma.Sql =>
  Prisma.sql`b.id = ${batch.batchId}::uuid AND b.fence = ${batch.fence}`;

/** The methods of the store that keep batches. */
export function createBatchMethods(database: Database): BatchStorePort & { readonly drain: () => Promise<void> } {
  const drafts = coalesce<BatchDraft, RequestAdmission>({
    runBatch: (items) => addRows(database, items),
    keyOf: ({ subjectId }) => subjectId,
    sizeOf: ({ requestJson }) => requestJson.length,
    maxItems: 256,
    maxSize: 2_000_000,
    maxInFlight: 1,
    isItemsFault,
  });
  return {
    openBatch: async ({ batchId, lane, liveLane, provider, model, keyEnv, headers, workerId, leaseMs }) => {
      await database.query(Prisma.sql`
        INSERT INTO batches (id, lane, live_lane, provider, model, key_env, headers_json, claimed_by, lease_until)
        VALUES (${batchId}::uuid, ${lane}, ${liveLane}, ${provider}, ${encodeText(model)}, ${keyEnv}, ${JSON.stringify(headers)},
          ${encodeText(workerId)}, ${leaseOf(leaseMs)})
        ON CONFLICT (id) DO NOTHING RETURNING 1 AS opened`);
    },
    addToBatch: async (draft) => (isUuid(draft.subjectId) ? drafts.call(draft) : { kind: "lost" }),
    sealBatch: (batchId, workerId) => seal(database, batchId, workerId),
    takeBatch: (options) => take(database, options),
    renewBatches: async (workerId, leaseMs) => {
      await database.query(Prisma.sql`
        UPDATE batches SET lease_until = ${leaseOf(leaseMs)}
        WHERE claimed_by = ${encodeText(workerId)} AND state <> 'done' RETURNING 1 AS renewed`);
    },
    beginSubmission: async (batch) => {
      const rows = await database.query(Prisma.sql`
        UPDATE batches b SET state = 'submitting', submitted_at = clock_timestamp(), submissions = submissions + 1
        WHERE ${isHeld(batch)} AND b.state = 'sealed' RETURNING 1 AS begun`);
      return rows.length > 0;
    },
    bindBatch: (batch, vendorId) => bind(database, batch, vendorId),
    unbindBatch: async (batch) => {
      await database.query(Prisma.sql`
        UPDATE batches b SET state = 'submitting', not_ours = not_ours || vendor_id, vendor_id = NULL, is_guess = false,
          claimed_by = NULL, lease_until = NULL, not_before = NULL, looks = 0, misses = 0
        WHERE ${isHeld(batch)} AND b.is_guess RETURNING 1 AS unbound`);
    },
    ruleOut: async (batch, vendorId) => {
      await database.query(Prisma.sql`
        UPDATE batches b SET not_ours = not_ours || ${encodeText(vendorId)}::text
        WHERE ${isHeld(batch)} AND NOT ${encodeText(vendorId)}::text = ANY (not_ours) RETURNING 1 AS ruled_out`);
    },
    rejectBatch: async (batch) => {
      await database.query(Prisma.sql`
        UPDATE batches b SET state = 'submitting', not_ours = not_ours || vendor_id, vendor_id = NULL, is_guess = false
        WHERE ${isHeld(batch)} AND b.state = 'running' RETURNING 1 AS rejected`);
    },
    releaseBatch: async (batch, { afterMs, message, state, looked }) => {
      await database.query(Prisma.sql`
        UPDATE batches b SET claimed_by = NULL, lease_until = NULL, not_before = ${leaseOf(afterMs)},
          state = coalesce(${state ?? null}, b.state), message = ${message === undefined ? null : encodeText(message)},
          looks = b.looks + ${looked === undefined ? 0 : 1},
          misses = CASE ${looked ?? ""} WHEN 'well' THEN 0 WHEN 'in-vain' THEN b.misses + 1 ELSE b.misses END
        WHERE ${isHeld(batch)} RETURNING 1 AS released`);
    },
    listRows: (batchId, after, limit) =>
      readRows(database, Prisma.sql`r.batch_id = ${batchId}::uuid AND r.position > ${after}`, limit),
    findRows: async (batchId, positions) =>
      positions.length === 0
        ? []
        : readRows(
            database,
            Prisma.sql`r.batch_id = ${batchId}::uuid
              AND r.position IN (SELECT json_array_elements_text(${JSON.stringify(positions)}::json)::int)`,
            positions.length,
          ),
    landRows: (batchId, positions) => landBatchRows(database, batchId, positions),
    finishBatch: async (batch, reckoning) => {
      await database.query(Prisma.sql`
        UPDATE batches b SET state = 'done', done_at = clock_timestamp(), claimed_by = NULL, lease_until = NULL,
          not_before = NULL, is_guess = false, reckoning = ${JSON.stringify(reckoning)}::json
        WHERE ${isHeld(batch)} RETURNING 1 AS finished`);
    },
    halveBatch: (batch) => halve(database, batch),
    dropBatch: ({ batchId }, to) => dropBatch(database, batchId, to === "live"),
    returnRows: (batchId, positions) => returnBatchRows(database, batchId, positions),
    moveLive: (sweepId, lane, to, which) => moveLive(database, sweepId, lane, to, which),
    batchStandings: (sweepId) => batchStandings(database, sweepId),
    countOpen: async (lanes) => {
      const rows = await database.query<OpenCount>(Prisma.sql`
        SELECT sweep_id::text AS "sweepId", alias, lane, sum(trials)::float8 AS trials FROM trial_tallies
        WHERE lane IN (SELECT json_array_elements_text(${JSON.stringify(lanes)}::json)) AND in_grid
          AND state IN ('planned', 'queued', 'running')
        GROUP BY 1, 2, 3 HAVING sum(trials) > 0 ORDER BY 1, 2, 3`);
      return rows.map((row) => ({ ...row, alias: decodeText(row.alias) }));
    },
    knownVendorIds: async (provider, ids) => {
      const rows = await database.query<{ readonly id: string }>(Prisma.sql`
        SELECT vendor_id AS id FROM batches WHERE provider = ${provider}
          AND vendor_id IN (SELECT json_array_elements_text(${JSON.stringify(ids.map(encodeText))}::json))`);
      return rows.map(({ id }) => decodeText(id));
    },
    drain: drafts.drain,
  };
}

interface AddedRow {
  readonly position: number;
  readonly isHeld: boolean;
  readonly isOpen: boolean;
  readonly isAnyLive: boolean;
  readonly budgetUsd: string | null;
  readonly committedUsd: string;
}

/**
 * Trials, requests to judges and sweeps are locked in id order, which also brings their newest versions into view; of each
 * sweep's rows those are taken, in the order given, that its budget reaches for.
 */
async function addRows(database: Database, drafts: readonly BatchDraft[]): Promise<readonly RequestAdmission[]> {
  const input = drafts.map((draft, index) => ({
    index,
    batch_id: draft.batchId,
    position: draft.position,
    subject_id: draft.subjectId,
    fence: draft.fence,
    turn: draft.turn,
    try_number: draft.tryNumber,
    exchange_id: randomUUID(),
    request_json: encodeText(draft.requestJson),
    queue_ms: draft.queueMs === null ? null : Math.round(draft.queueMs),
    bound_usd: draft.boundUsd,
    reading_json: draft.readingJson,
  }));
  const rows = await database.query<AddedRow>(Prisma.sql`
    WITH input AS (
      SELECT * FROM json_to_recordset(${jsonRows(input)}) AS i(index int, batch_id uuid, position int, subject_id uuid,
        fence int, turn int, try_number int, exchange_id uuid, request_json text, queue_ms int, bound_usd numeric, reading_json text)
    ), held_trials AS (
      SELECT i.*, t.sweep_id FROM input i
      JOIN trials t ON t.id = i.subject_id AND t.fence = i.fence AND t.state = 'running'
      JOIN batches b ON b.id = i.batch_id AND b.state = 'gathering'
      ORDER BY t.id FOR NO KEY UPDATE OF t
    ), held_judges AS (
      SELECT i.*, q.sweep_id FROM input i
      JOIN judge_requests q ON q.id = i.subject_id AND q.fence = i.fence AND q.state = 'running' AND q.sweep_id IS NOT NULL
      JOIN batches b ON b.id = i.batch_id AND b.state = 'gathering'
      ORDER BY q.id FOR NO KEY UPDATE OF q
    ), held AS (
      SELECT * FROM held_trials UNION ALL SELECT * FROM held_judges
    ), budgets AS MATERIALIZED (
      SELECT s.id, s.budget_usd, s.spent_usd + s.reserved_usd AS committed FROM sweeps s
      WHERE s.id IN (SELECT sweep_id FROM held) ORDER BY s.id FOR NO KEY UPDATE
    ), known AS (
      SELECT h.index FROM held h JOIN batch_rows r ON r.batch_id = h.batch_id AND r.position = h.position
    ), counted AS (
      SELECT h.*, sum(coalesce(h.bound_usd, 0)) OVER (PARTITION BY h.sweep_id ORDER BY h.index) AS running
      FROM held h WHERE h.index NOT IN (SELECT index FROM known)
    ), taken AS (
      SELECT c.* FROM counted c JOIN budgets g ON g.id = c.sweep_id
      WHERE g.budget_usd IS NULL OR (c.bound_usd IS NOT NULL AND g.committed + c.running <= g.budget_usd)
    ), charged AS (
      UPDATE sweeps s SET reserved_usd = s.reserved_usd + c.bound
      FROM (SELECT sweep_id, sum(coalesce(bound_usd, 0)) AS bound FROM taken GROUP BY sweep_id) c
      WHERE s.id = c.sweep_id AND c.bound > 0
    ), opened AS (
      INSERT INTO open_requests (subject_id, fence, turn, try_number, sweep_id, worker_id, bound_usd)
      SELECT subject_id, fence, turn, try_number, sweep_id, 'batch/' || batch_id::text, bound_usd FROM taken
      WHERE bound_usd IS DISTINCT FROM 0
    ), kept AS (
      UPDATE trials t SET claimed_by = 'batch/' || c.batch_id::text, lease_until = clock_timestamp() + ${heldFor}
      FROM taken c WHERE t.id = c.subject_id
    ), kept_judges AS (
      UPDATE judge_requests q SET claimed_by = 'batch/' || c.batch_id::text, lease_until = clock_timestamp() + ${heldFor}
      FROM taken c WHERE q.id = c.subject_id
    ), written AS (
      INSERT INTO batch_rows (batch_id, position, trial_id, fence, turn, try_number, exchange_id, request_json, queue_ms, bound_usd, reading_json)
      SELECT batch_id, position, subject_id, fence, turn, try_number, exchange_id, request_json, queue_ms, bound_usd, reading_json FROM taken
    )
    SELECT i.index AS position, h.index IS NOT NULL AS "isHeld",
      EXISTS (SELECT 1 FROM taken c WHERE c.index = i.index) OR EXISTS (SELECT 1 FROM known k WHERE k.index = i.index) AS "isOpen",
      EXISTS (SELECT 1 FROM taken c WHERE c.sweep_id = h.sweep_id)
        OR EXISTS (SELECT 1 FROM open_requests o WHERE o.sweep_id = h.sweep_id AND ${isLive}) AS "isAnyLive",
      trim_scale(g.budget_usd)::text AS "budgetUsd", trim_scale(g.committed)::text AS "committedUsd"
    FROM input i LEFT JOIN held h ON h.index = i.index LEFT JOIN budgets g ON g.id = h.sweep_id`);
  const byIndex = new Map(rows.map((row) => [row.position, row]));
  return drafts.map((_, index) => {
    const row = byIndex.get(index);
    if (row === undefined || !row.isHeld) return { kind: "lost" };
    if (row.isOpen) return { kind: "open" };
    if (row.isAnyLive) return { kind: "later" };
    return { kind: "exhausted", budgetUsd: row.budgetUsd ?? "0", committedUsd: row.committedUsd };
  });
}

async function seal(database: Database, batchId: string, workerId: string): Promise<number> {
  const [row] = await database.query<{ readonly rows: number }>(Prisma.sql`
    WITH mine AS (
      SELECT b.id, (SELECT count(*)::int FROM batch_rows r WHERE r.batch_id = b.id) AS rows FROM batches b
      WHERE b.id = ${batchId}::uuid AND b.state = 'gathering' AND b.claimed_by = ${encodeText(workerId)} FOR NO KEY UPDATE
    ), gone AS (
      DELETE FROM batches b USING mine m WHERE b.id = m.id AND m.rows = 0
    ), sealed AS (
      UPDATE batches b SET state = 'sealed', claimed_by = NULL, lease_until = NULL FROM mine m
      WHERE b.id = m.id AND m.rows > 0
    )
    SELECT rows FROM mine`);
  return row?.rows ?? 0;
}

interface TakenRow {
  readonly batchId: string;
  readonly lane: string;
  readonly liveLane: string | null;
  readonly isLate: boolean;
  readonly provider: string;
  readonly model: string;
  readonly keyEnv: string | null;
  readonly headersJson: string;
  readonly state: BatchState;
  readonly vendorId: string | null;
  readonly isGuess: boolean;
  readonly notOurs: readonly string[];
  readonly rows: number;
  readonly looks: number;
  readonly misses: number;
  readonly halvings: number;
  readonly fence: number;
  readonly atMs: number | null;
  readonly agoMs: number | null;
  readonly isOrphan: boolean;
}

async function take(
  database: Database,
  { workerId, leaseMs, rehearsal, isDead }: Parameters<BatchStorePort["takeBatch"]>[0],
): Promise<Batch | null> {
  const workers = await database.query<{ readonly claimedBy: string }>(Prisma.sql`
    SELECT DISTINCT claimed_by AS "claimedBy" FROM batches WHERE state <> 'done' AND claimed_by IS NOT NULL`);
  const dead = workers.map((worker) => worker.claimedBy).filter((one) => isDead(decodeText(one)));
  const [row] = await database.query<TakenRow>(Prisma.sql`
    WITH due AS (
      SELECT id, claimed_by IS NOT NULL AS is_orphan FROM batches
      WHERE state <> 'done' AND (lane LIKE 'rehearsal.%') = ${rehearsal}
        AND (not_before IS NULL OR not_before <= clock_timestamp())
        AND (claimed_by IS NULL OR lease_until <= clock_timestamp()
          OR claimed_by IN (SELECT json_array_elements_text(${JSON.stringify(dead)}::json)))
      ORDER BY not_before NULLS FIRST, created_at, id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE batches b SET fence = b.fence + 1, claimed_by = ${encodeText(workerId)}, lease_until = ${leaseOf(leaseMs)}
    FROM due WHERE b.id = due.id
    RETURNING b.id::text AS "batchId", b.lane, b.live_lane AS "liveLane", b.late_at IS NOT NULL AS "isLate", b.provider, b.model, b.key_env AS "keyEnv", b.headers_json AS "headersJson",
      b.state, b.vendor_id AS "vendorId", b.is_guess AS "isGuess", b.not_ours AS "notOurs", b.looks, b.misses, b.halvings,
      b.fence, due.is_orphan AS "isOrphan",
      (SELECT count(*)::int FROM batch_rows r WHERE r.batch_id = b.id) AS rows,
      floor(extract(epoch FROM b.submitted_at) * 1000)::float8 AS "atMs",
      greatest(0, floor(extract(epoch FROM clock_timestamp() - b.submitted_at) * 1000))::float8 AS "agoMs"`);
  if (row === undefined) return null;
  const { headersJson, atMs, agoMs, model, vendorId, notOurs, ...same } = row;
  return {
    ...same,
    model: decodeText(model),
    headers: JSON.parse(headersJson) as Batch["headers"],
    vendorId: vendorId === null ? null : decodeText(vendorId),
    notOurs: notOurs.map(decodeText),
    submitted: atMs === null || agoMs === null ? null : { atMs, agoMs },
  };
}

/** How batches stand, by vendor; of one sweep, or of all. What waits is counted by its lanes: they name the vendor. */
export async function batchStandings(database: Database, sweepId: string | null): Promise<readonly BatchStanding[]> {
  if (sweepId !== null && !isUuid(sweepId)) return [];
  const isOf = (column: Prisma.Sql): Prisma.Sql =>
    sweepId === null ? Prisma.sql`true` : Prisma.sql`${column} = ${sweepId}::uuid`;
  const ofLane = Prisma.sql`'^(?:rehearsal\\.)?(?:judge\\.)?batch\\.(?:lane\\.)?([^.]+)\\.'`;
  const isWaiting = Prisma.sql`${isOf(Prisma.sql`sweep_id`)} AND state IN ('planned', 'queued') AND lane ~ ${ofLane}`;
  const rows = await database.query<StandingRow>(Prisma.sql`
    WITH open_batches AS (
      SELECT b.id, b.provider, b.state, b.submitted_at, b.misses, b.message, count(*) AS rows FROM batches b
      JOIN batch_rows r ON r.batch_id = b.id AND r.landed_at IS NULL
      LEFT JOIN trials t ON t.id = r.trial_id LEFT JOIN judge_requests q ON q.id = r.trial_id
      WHERE b.state <> 'done' AND ${isOf(Prisma.sql`coalesce(t.sweep_id, q.sweep_id)`)} GROUP BY b.id
    ), waiting AS (
      SELECT substring(lane from ${ofLane}) AS provider, trials AS n FROM trial_tallies WHERE ${isWaiting} AND in_grid
      UNION ALL SELECT substring(lane from ${ofLane}), requests FROM judge_tallies WHERE ${isWaiting}
      UNION ALL SELECT provider, rows FROM open_batches WHERE state = 'gathering'
    ), counted AS (
      SELECT provider, 1 AS batches, rows, submitted_at, 0 AS n, misses, message FROM open_batches WHERE state <> 'gathering'
      UNION ALL SELECT provider, 0, 0, NULL, n, 0, NULL FROM waiting
    )
    SELECT provider, sum(batches)::int AS "underWay", sum(rows)::float8 AS rows, sum(n)::float8 AS waiting,
      floor(extract(epoch FROM min(submitted_at)) * 1000)::float8 AS "oldestAtMs",
      floor(extract(epoch FROM max(submitted_at)) * 1000)::float8 AS "newestAtMs", max(misses)::int AS misses,
      (array_agg(message ORDER BY misses DESC) FILTER (WHERE misses > 0 AND message IS NOT NULL))[1] AS message
    FROM counted GROUP BY provider HAVING sum(batches) + sum(n) > 0 ORDER BY provider`);
  return rows.map(({ misses, message, ...standing }) => ({
    ...standing,
    trouble: misses === 0 ? null : { looks: misses, message: message === null ? "" : decodeText(message) },
  }));
}

type StandingRow = Omit<BatchStanding, "trouble"> & { readonly misses: number; readonly message: string | null };

async function bind(database: Database, batch: Batch, vendorId: string): Promise<"bound" | "taken" | "lost"> {
  const id = encodeText(vendorId);
  try {
    const rows = await database.query(Prisma.sql`
      UPDATE batches b SET state = 'running', vendor_id = ${id}, is_guess = false, looks = 0, misses = 0
      WHERE ${isHeld(batch)} AND b.state = 'submitting' RETURNING 1 AS bound`);
    return rows.length > 0 ? "bound" : "lost";
  } catch (error) {
    if (error instanceof StoreError && error.context["sqlState"] === "23505") return "taken";
    throw error;
  }
}

async function readRows(database: Database, condition: Prisma.Sql, limit: number): Promise<readonly BatchRow[]> {
  const rows = await database.query<
    Omit<BatchRow, "trial"> & {
      readonly sweepId: string;
      readonly alias: string | null;
      readonly plan: TrialRow["trial"]["plan"];
    }
  >(Prisma.sql`
    SELECT r.batch_id::text AS "batchId", r.position, r.trial_id::text AS "subjectId", r.fence, r.turn,
      r.try_number AS "tryNumber", r.exchange_id::text AS "exchangeId", r.request_json AS "requestJson",
      r.queue_ms AS "queueMs", trim_scale(r.bound_usd)::text AS "boundUsd", r.reading_json AS "readingJson",
      t.sweep_id::text AS "sweepId", t.alias, t.plan
    FROM batch_rows r LEFT JOIN trials t ON t.id = r.trial_id
    WHERE ${condition} AND r.landed_at IS NULL ORDER BY r.position LIMIT ${limit}`);
  return rows.map(({ sweepId, alias, plan, ...row }) => ({
    ...row,
    requestJson: decodeText(row.requestJson),
    trial: alias === null ? null : { sweepId, alias: decodeText(alias), plan },
  }));
}

async function halve(database: Database, batch: Batch): Promise<void> {
  // The second half is a batch of its own; its trials are held by its name.
  await database.query(Prisma.sql`
    WITH b AS (
      SELECT b.* FROM batches b WHERE ${isHeld(batch)} AND b.state = 'submitting' FOR NO KEY UPDATE
    ), numbered AS (
      SELECT r.position, r.trial_id, r.fence, row_number() OVER (ORDER BY r.position) AS n, count(*) OVER () AS all_rows
      FROM batch_rows r JOIN b ON b.id = r.batch_id
    ), other AS (
      INSERT INTO batches (id, lane, live_lane, late_at, provider, model, key_env, headers_json, state, halvings)
      SELECT ${randomUUID()}::uuid, lane, live_lane, late_at, provider, model, key_env, headers_json, 'sealed', halvings + 1 FROM b RETURNING id
    ), moved AS (
      INSERT INTO batch_rows (batch_id, position, trial_id, fence, turn, try_number, exchange_id, request_json, queue_ms, bound_usd, reading_json)
      SELECT other.id, r.position, r.trial_id, r.fence, r.turn, r.try_number, r.exchange_id, r.request_json, r.queue_ms, r.bound_usd, r.reading_json
      FROM batch_rows r JOIN b ON b.id = r.batch_id JOIN numbered n ON n.position = r.position CROSS JOIN other
      WHERE n.n > n.all_rows / 2
    ), left_here AS (
      DELETE FROM batch_rows r USING b, numbered n
      WHERE r.batch_id = b.id AND r.position = n.position AND n.n > n.all_rows / 2
    ), renamed AS (
      UPDATE trials t SET claimed_by = 'batch/' || other.id::text FROM numbered n, other
      WHERE n.n > n.all_rows / 2 AND t.id = n.trial_id AND t.fence = n.fence AND t.state = 'running'
    ), renamed_judges AS (
      UPDATE judge_requests q SET claimed_by = 'batch/' || other.id::text FROM numbered n, other
      WHERE n.n > n.all_rows / 2 AND q.id = n.trial_id AND q.fence = n.fence AND q.state = 'running'
    )
    UPDATE batches u SET state = 'sealed', halvings = u.halvings + 1, claimed_by = NULL, lease_until = NULL, not_before = NULL
    FROM b WHERE u.id = b.id RETURNING 1 AS halved`);
}
