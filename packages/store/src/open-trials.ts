import type { OpenTrial, StorePort, TrialSelector, TrialState } from "@hallumaze/engine";

import { type Database, isUuid } from "./database.ts";
import { Prisma } from "./generated/client.ts";
import { encodeText } from "./storable-text.ts";

type OpenTrialMethods = Pick<
  StorePort,
  | "listPlanned"
  | "markQueued"
  | "listOpen"
  | "listOpenLanes"
  | "requeue"
  | "blockLane"
  | "unblockLane"
  | "listBlockedLanes"
>;

const idsPerStatement = 5000;
const remainingMs = Prisma.sql`greatest(0, ceil(coalesce(extract(epoch FROM t.not_before - clock_timestamp()), 0) * 1000))::float8`;

/** The methods of the store that list and put back what is still to be done. */
export function createOpenTrialMethods(database: Database): OpenTrialMethods {
  return {
    listPlanned: async (sweepId, limit) =>
      isUuid(sweepId)
        ? database.query<OpenTrial>(Prisma.sql`
            SELECT t.id::text AS "trialId", t.lane, t.generation, ${remainingMs} AS "delayMs" FROM trials t
            WHERE t.sweep_id = ${sweepId}::uuid AND t.state = 'planned' AND t.in_grid
            ORDER BY t.lane, t.ordinal, t.id LIMIT ${limit}`)
        : [],
    markQueued: async (trialIds) => {
      const valid = trialIds.filter(isUuid);
      for (let start = 0; start < valid.length; start += idsPerStatement) {
        const part = JSON.stringify(valid.slice(start, start + idsPerStatement));
        await database.query(Prisma.sql`
          WITH found AS (
            SELECT t.id FROM trials t
            WHERE t.id IN (SELECT i::uuid FROM json_array_elements_text(${part}::json) AS i) AND t.state = 'planned'
            ORDER BY t.id FOR NO KEY UPDATE
          ), marked AS (
            UPDATE trials t SET state = 'queued', queued_at = clock_timestamp() FROM found WHERE t.id = found.id RETURNING 1
          )
          SELECT count(*)::int AS marked FROM marked`);
      }
    },
    listOpen: (lane, pageSize) => listOpen(database, lane, pageSize),
    listOpenLanes: async (sweepId) => {
      if (sweepId !== null && !isUuid(sweepId)) return [];
      const ofSweep = sweepId === null ? Prisma.empty : Prisma.sql`AND sweep_id = ${sweepId}::uuid`;
      return database.query<{ readonly lane: string; readonly open: number }>(Prisma.sql`
        SELECT lane, count(*)::int AS open FROM trials
        WHERE state IN ('planned', 'queued', 'running') AND in_grid ${ofSweep} GROUP BY lane ORDER BY lane`);
    },
    requeue: (sweepId, selector) => requeue(database, sweepId, selector),
    blockLane: (lane, outcome, message) => blockLane(database, lane, outcome, message),
    unblockLane: (lane) => unblockLane(database, lane),
    listBlockedLanes: () => listBlockedLanes(database),
  };
}

interface OpenRow extends OpenTrial {
  readonly ordinal: number;
}

async function* listOpen(database: Database, lane: string, pageSize: number): AsyncGenerator<readonly OpenTrial[]> {
  let after: { readonly ordinal: number; readonly trialId: string } | null = null;
  for (;;) {
    const beyond: Prisma.Sql =
      after === null
        ? Prisma.empty
        : Prisma.sql`AND (t.ordinal, t.id) > (${after.ordinal}::int, ${after.trialId}::uuid)`;
    const rows: readonly OpenRow[] = await database.query<OpenRow>(Prisma.sql`
      SELECT t.id::text AS "trialId", t.lane, t.generation, ${remainingMs} AS "delayMs", t.ordinal FROM trials t
      WHERE t.lane = ${lane} AND t.state IN ('planned', 'queued') AND t.in_grid ${beyond}
      ORDER BY t.ordinal, t.id LIMIT ${pageSize}`);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(({ trialId, generation, delayMs }) => ({ trialId, lane, generation, delayMs }));
    if (rows.length < pageSize) return;
    after = last;
  }
}

const requeueable = ["failed", "cancelled", "blocked"] as const satisfies readonly TrialState[];

async function requeue(database: Database, sweepId: string, selector: TrialSelector): Promise<readonly OpenTrial[]> {
  if (!isUuid(sweepId)) return [];
  const states = requeueable.filter((state) => selector.states?.includes(state) ?? true);
  const models = selector.models?.map(encodeText);
  return database.query<OpenTrial>(Prisma.sql`
    WITH chosen AS (
      SELECT t.id FROM trials t
      WHERE t.sweep_id = ${sweepId}::uuid AND t.in_grid AND ${isIn(Prisma.sql`t.state::text`, states)}
        AND ${isIn(Prisma.sql`t.outcome`, selector.outcomes)} AND ${isIn(Prisma.sql`t.size::text`, selector.sizes?.map(String))}
        AND (${isIn(Prisma.sql`t.alias`, models)} OR ${isIn(Prisma.sql`t.model`, models)}
          OR ${isIn(Prisma.sql`substr(t.model, strpos(t.model, '/') + 1)`, models)})
      ORDER BY t.id FOR NO KEY UPDATE
    ), put_back AS (
      UPDATE trials t SET state = 'queued', generation = t.generation + 1, tries = 0, empty_retries = 0, waits = 0,
        losses = 0, outcome = NULL, message = NULL, not_before = NULL, finished_at = NULL,
        queued_at = clock_timestamp()
      FROM chosen WHERE t.id = chosen.id
      RETURNING t.id, t.lane, t.generation, t.ordinal
    )
    SELECT id::text AS "trialId", lane, generation, 0 AS "delayMs" FROM put_back ORDER BY lane, ordinal, id`);
}

async function blockLane(database: Database, lane: string, outcome: string, message: string): Promise<number> {
  const rows = await database.query<{ readonly id: string }>(Prisma.sql`
    WITH waiting AS (
      SELECT t.id FROM trials t WHERE t.lane = ${lane} AND t.state IN ('planned', 'queued') AND t.in_grid
      ORDER BY t.id FOR NO KEY UPDATE
    )
    UPDATE trials t SET state = 'blocked', outcome = ${outcome}, message = ${encodeText(message)}, not_before = NULL
    FROM waiting WHERE t.id = waiting.id RETURNING t.id::text`);
  return rows.length;
}

/** What a lane's stop has blocked; a trial that the budget blocked waits for the budget. */
const isLaneBlocked = Prisma.sql`t.state = 'blocked' AND t.in_grid AND t.outcome IS DISTINCT FROM 'budget_blocked'`;

async function unblockLane(database: Database, lane: string): Promise<readonly OpenTrial[]> {
  return database.query<OpenTrial>(Prisma.sql`
    WITH blocked AS (
      SELECT t.id FROM trials t WHERE t.lane = ${lane} AND ${isLaneBlocked} ORDER BY t.id FOR NO KEY UPDATE
    ), put_back AS (
      UPDATE trials t SET state = 'queued', generation = t.generation + 1, outcome = NULL, message = NULL,
        queued_at = clock_timestamp()
      FROM blocked WHERE t.id = blocked.id
      RETURNING t.id, t.lane, t.generation, t.ordinal
    )
    SELECT id::text AS "trialId", lane, generation, 0 AS "delayMs" FROM put_back ORDER BY ordinal, id`);
}

async function listBlockedLanes(database: Database): Promise<readonly string[]> {
  const rows = await database.query<{ readonly lane: string }>(
    Prisma.sql`SELECT DISTINCT t.lane FROM trials t WHERE ${isLaneBlocked} ORDER BY t.lane`,
  );
  return rows.map((row) => row.lane);
}

/** True for every row where the selector does not name the property. */
function isIn(column: Prisma.Sql, values: readonly string[] | undefined): Prisma.Sql {
  if (values === undefined) return Prisma.sql`true`;
  return Prisma.sql`${column} IN (SELECT json_array_elements_text(${JSON.stringify(values)}::json))`;
}
