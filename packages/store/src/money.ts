import type { OpenTrial, RequestAdmission, RequestIntent, StorePort, SweepMoney } from "@hallumaze/engine";

import { type Database, isUuid } from "./database.ts";
import { Prisma } from "./generated/client.ts";
import { priorityOf } from "./open-trials.ts";
import { encodeText } from "./storable-text.ts";

type MoneyMethods = Pick<StorePort, "openRequest" | "cancelRequest" | "unblockBudget">;

/** The methods of the store that keep a sweep's budget. */
export function createMoneyMethods(database: Database): MoneyMethods {
  return {
    openRequest: async (request) => (isUuid(request.trialId) ? openRequest(database, request) : { kind: "lost" }),
    cancelRequest: async (request) => {
      if (!isUuid(request.trialId)) return;
      await database.query(Prisma.sql`
        WITH closed AS (
          DELETE FROM open_requests o WHERE ${isRequest(request)} RETURNING o.sweep_id, o.bound_usd
        ), ${settleMoney(Prisma.sql`SELECT sweep_id, 0 AS spent, coalesce(bound_usd, 0) AS released FROM closed`)}
        SELECT count(*)::int AS closed FROM closed`);
    },
    unblockBudget: (sweepId) => unblockBudget(database, sweepId),
  };
}

/**
 * Books changes of the rows of `source` (sweep_id, spent, released) on their sweeps; a part of a statement. Sweeps are
 * locked in id order, and the sums are taken on the newest version of each row.
 */
export function settleMoney(source: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    changes AS (
      SELECT sweep_id, sum(spent) AS spent, sum(released) AS released FROM (${source}) entries
      GROUP BY sweep_id HAVING sum(spent) <> 0 OR sum(released) <> 0
    ), booked AS MATERIALIZED (
      SELECT s.id, c.spent, c.released FROM sweeps s JOIN changes c ON c.sweep_id = s.id ORDER BY s.id FOR NO KEY UPDATE OF s
    ), settled AS (
      UPDATE sweeps s SET spent_usd = s.spent_usd + b.spent, reserved_usd = s.reserved_usd - b.released
      FROM booked b WHERE s.id = b.id
    )`;
}

/**
 * A request whose claim still stands, or whose batch is under way though its claim was taken (`cancel --now`); any other was
 * lost with its worker, unless its reply comes late.
 */
export const isLive = Prisma.sql`(EXISTS (SELECT 1 FROM trials t WHERE t.id = o.subject_id AND t.fence = o.fence AND t.state = 'running')
  OR EXISTS (SELECT 1 FROM judge_requests j WHERE j.id = o.subject_id AND j.fence = o.fence AND j.state = 'running')
  OR CASE WHEN o.worker_id LIKE 'batch/%' THEN EXISTS (
    SELECT 1 FROM batches b WHERE b.id = substr(o.worker_id, 7)::uuid AND b.state <> 'done') ELSE false END)`;

interface AdmissionRow {
  readonly isHeld: boolean;
  readonly isOpen: boolean;
  readonly isAnyLive: boolean;
  readonly budgetUsd: string | null;
  readonly committedUsd: string;
}

/**
 * The condition stands in the update of the sweep's own row, so that no two processes can both take the last dollar:
 * Postgres checks it again on the newest version of the row.
 */
async function openRequest(database: Database, request: RequestIntent): Promise<RequestAdmission> {
  const { trialId, fence, turn, tryNumber, workerId, boundUsd } = request;
  const bound = Prisma.sql`${boundUsd}::numeric`;
  const [row] = await database.query<AdmissionRow>(Prisma.sql`
    WITH held_trial AS (
      SELECT t.id, t.sweep_id FROM trials t
      WHERE t.id = ${trialId}::uuid AND t.fence = ${fence} AND t.state = 'running' FOR SHARE
    ), held_judge AS (
      SELECT j.id, j.sweep_id FROM judge_requests j
      WHERE j.id = ${trialId}::uuid AND j.fence = ${fence} AND j.state = 'running' FOR SHARE
    ), held AS (
      SELECT * FROM held_trial UNION ALL SELECT * FROM held_judge
    ), known AS (
      SELECT 1 FROM open_requests o WHERE ${isRequest(request)}
    ), charged AS (
      UPDATE sweeps s SET reserved_usd = s.reserved_usd + coalesce(${bound}, 0)
      FROM held WHERE s.id = held.sweep_id AND NOT EXISTS (SELECT 1 FROM known)
        AND (s.budget_usd IS NULL OR s.spent_usd + s.reserved_usd + ${bound} <= s.budget_usd)
      RETURNING s.id
    ), opened AS (
      INSERT INTO open_requests (subject_id, fence, turn, try_number, sweep_id, worker_id, bound_usd)
      SELECT held.id, ${fence}, ${turn}, ${tryNumber}, held.sweep_id, ${encodeText(workerId)}, ${bound}
      FROM held JOIN charged ON charged.id = held.sweep_id
    )
    SELECT EXISTS (SELECT 1 FROM held) AS "isHeld",
      EXISTS (SELECT 1 FROM charged) OR EXISTS (SELECT 1 FROM known) AS "isOpen",
      EXISTS (SELECT 1 FROM open_requests o JOIN held ON o.sweep_id = held.sweep_id WHERE ${isLive}) AS "isAnyLive",
      trim_scale(s.budget_usd)::text AS "budgetUsd", trim_scale(s.spent_usd + s.reserved_usd)::text AS "committedUsd"
    FROM (SELECT 1) one LEFT JOIN held ON true LEFT JOIN sweeps s ON s.id = held.sweep_id`);
  if (row === undefined || !row.isHeld) return { kind: "lost" };
  if (row.isOpen) return { kind: "open" };
  if (row.isAnyLive) return { kind: "later" };
  return { kind: "exhausted", budgetUsd: row.budgetUsd ?? "0", committedUsd: row.committedUsd };
}

function isRequest({ trialId, fence, turn, tryNumber }: Omit<RequestIntent, "workerId" | "boundUsd">): Prisma.Sql {
  return Prisma.sql`o.subject_id = ${trialId}::uuid AND o.fence = ${fence} AND o.turn = ${turn} AND o.try_number = ${tryNumber}`;
}

async function unblockBudget(database: Database, sweepId: string): Promise<readonly OpenTrial[]> {
  if (!isUuid(sweepId)) return [];
  return database.query<OpenTrial>(Prisma.sql`
    WITH blocked AS (
      SELECT t.id FROM trials t JOIN sweeps s ON s.id = t.sweep_id
      WHERE t.sweep_id = ${sweepId}::uuid AND t.in_grid AND t.state = 'blocked' AND t.outcome = 'budget_blocked'
        AND (s.budget_usd IS NULL OR s.spent_usd + s.reserved_usd < s.budget_usd)
      ORDER BY t.id FOR NO KEY UPDATE OF t
    ), put_back AS (
      UPDATE trials t SET state = 'queued', generation = t.generation + 1, outcome = NULL, message = NULL,
        queued_at = clock_timestamp()
      FROM blocked WHERE t.id = blocked.id
      RETURNING t.*
    ), blocked_judges AS (
      SELECT j.id FROM judge_requests j JOIN sweeps s ON s.id = j.sweep_id
      WHERE j.sweep_id = ${sweepId}::uuid AND j.state = 'blocked' AND j.outcome = 'budget_blocked'
        AND (s.budget_usd IS NULL OR s.spent_usd + s.reserved_usd < s.budget_usd)
      ORDER BY j.id FOR NO KEY UPDATE OF j
    ), judges_put_back AS (
      UPDATE judge_requests j SET state = 'queued', generation = j.generation + 1, outcome = NULL, message = NULL,
        queued_at = clock_timestamp()
      FROM blocked_judges WHERE j.id = blocked_judges.id
      RETURNING j.*
    )
    SELECT b.id::text AS "trialId", b.lane, b.generation, 0 AS "delayMs", ${priorityOf} AS priority, b.turn FROM (
      SELECT id, lane, generation, ordinal, coalesce(turn, 0) AS turn FROM put_back
      UNION ALL SELECT id, lane, generation, 0, 0 FROM judges_put_back
    ) b JOIN sweeps s ON s.id = ${sweepId}::uuid ORDER BY b.lane, b.ordinal, b.id`);
}

/** Where a sweep's money went. */
export async function sumMoney(database: Database, sweepId: string): Promise<SweepMoney> {
  const [row] = await database.query<{
    readonly budgetUsd: string | null;
    readonly spentUsd: string;
    readonly openCount: number;
    readonly openUsd: string;
    readonly lostCount: number;
    readonly lostUsd: string;
    readonly lostUnpriced: number;
  }>(Prisma.sql`
    WITH requests AS (
      SELECT o.bound_usd, ${isLive} AS is_live FROM open_requests o WHERE o.sweep_id = ${sweepId}::uuid
    )
    SELECT trim_scale(s.budget_usd)::text AS "budgetUsd", trim_scale(s.spent_usd)::text AS "spentUsd", sums.*
    FROM sweeps s CROSS JOIN (
      SELECT (count(*) FILTER (WHERE is_live))::int AS "openCount", (count(*) FILTER (WHERE NOT is_live))::int AS "lostCount",
        trim_scale(coalesce(sum(bound_usd) FILTER (WHERE is_live), 0))::text AS "openUsd",
        trim_scale(coalesce(sum(bound_usd) FILTER (WHERE NOT is_live), 0))::text AS "lostUsd",
        (count(*) FILTER (WHERE NOT is_live AND bound_usd IS NULL))::int AS "lostUnpriced"
      FROM requests
    ) sums
    WHERE s.id = ${sweepId}::uuid`);
  return {
    budgetUsd: row?.budgetUsd ?? null,
    spentUsd: row?.spentUsd ?? "0",
    open: { count: row?.openCount ?? 0, boundUsd: row?.openUsd ?? "0" },
    lost: { count: row?.lostCount ?? 0, boundUsd: row?.lostUsd ?? "0", unpriced: row?.lostUnpriced ?? 0 },
  };
}
