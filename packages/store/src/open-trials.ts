import type { LanePlaces, OpenTrial, StorePort, TrialState } from "@hallumaze/engine";
import type { SteeringPort, TrialSelector } from "@hallumaze/steering";

import { type Database, isUuid, jsonRows } from "./database.ts";
import { Prisma } from "./generated/client.ts";
import { encodeText } from "./storable-text.ts";

type OpenTrialMethods = Pick<
  StorePort,
  | "listPlanned"
  | "markQueued"
  | "findPlaces"
  | "listOpen"
  | "listOpenLanes"
  | "blockLane"
  | "unblockLane"
  | "listBlockedLanes"
> &
  Pick<SteeringPort, "requeue" | "cancelTrials" | "putBackOpen" | "permitOf">;

const idsPerStatement = 5000;
const remainingMs = Prisma.sql`greatest(0, ceil(coalesce(extract(epoch FROM t.not_before - clock_timestamp()), 0) * 1000))::float8`;

/** What is in force of a sweep `s`: an operator's word over the spec's. */
export const priorityOf = Prisma.sql`coalesce(s.priority_given, s.priority)`;
const weightOf = Prisma.sql`coalesce(s.weight_given, s.weight)`;

/** Whether an operator holds back a whole sweep `s`; and whether a trial `t` of it. */
export const isWholePaused = Prisma.sql`(s.paused_at IS NOT NULL AND coalesce(cardinality(s.paused_models), 0) = 0)`;
export const isPaused = Prisma.sql`(s.paused_at IS NOT NULL AND (coalesce(cardinality(s.paused_models), 0) = 0
    OR t.alias COLLATE "C" = ANY (s.paused_models)))`;

/** Whether an operator has parked one of these lanes. */
export function isLaneParked(lanes: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`EXISTS (SELECT 1 FROM lane_controls c WHERE c.lane IN (${lanes}) AND c.parked_at IS NOT NULL
    AND (c.parked_until IS NULL OR c.parked_until > clock_timestamp()))`;
}

/** A trial `t` as the queue takes it; `s` is its sweep. */
export const asOpenTrial = Prisma.sql`t.id::text AS "trialId", t.lane, t.generation, ${remainingMs} AS "delayMs",
    ${priorityOf} AS priority, coalesce(t.turn, 0) AS turn`;

/** The methods of the store that list, put back and cancel what is still to be done. */
export function createOpenTrialMethods(database: Database): OpenTrialMethods {
  return {
    listPlanned: async (sweepId, limit) =>
      isUuid(sweepId)
        ? database.query<OpenTrial>(Prisma.sql`
            SELECT ${asOpenTrial} FROM trials t JOIN sweeps s ON s.id = t.sweep_id
            WHERE t.sweep_id = ${sweepId}::uuid AND t.state = 'planned' AND t.in_grid
            ORDER BY t.lane, t.ordinal, t.id LIMIT ${limit}`)
        : [],
    markQueued: (trialIds, turns = []) => markQueued(database, trialIds, turns),
    findPlaces: (sweepId) => findPlaces(database, sweepId, true),
    listOpen: (lane, pageSize) => listOpen(database, lane, pageSize),
    listOpenLanes: async (sweepId) => {
      if (sweepId !== null && !isUuid(sweepId)) return [];
      const ofSweep = sweepId === null ? Prisma.sql`NOT ${isPaused}` : Prisma.sql`t.sweep_id = ${sweepId}::uuid`;
      return database.query<{ readonly lane: string; readonly open: number }>(Prisma.sql`
        SELECT t.lane, sum(t.trials)::float8 AS open FROM trial_tallies t JOIN sweeps s ON s.id = t.sweep_id
        WHERE t.state IN ('planned', 'queued', 'running') AND t.in_grid AND ${ofSweep}
        GROUP BY t.lane HAVING sum(t.trials) > 0 ORDER BY t.lane`);
    },
    requeue: (sweepId, selector) => requeue(database, sweepId, selector),
    cancelTrials: (sweepId, selector, options) => cancelTrials(database, sweepId, selector, options.now),
    putBackOpen: (sweepId, models, pageSize) => putBackOpen(database, sweepId, models, pageSize),
    permitOf: async ({ trialId, fence }) => {
      const [row] = await database.query<{ readonly isCancelled: boolean; readonly isHeld: boolean }>(Prisma.sql`
        SELECT t.cancel_requested AS "isCancelled", ${isPaused} OR ${isLaneParked(Prisma.sql`t.lane`)} AS "isHeld"
        FROM trials t JOIN sweeps s ON s.id = t.sweep_id
        WHERE t.id = ${trialId}::uuid AND t.fence = ${fence} AND t.state = 'running'`);
      if (row?.isCancelled) return "cancelled";
      return row === undefined || row.isHeld ? "held" : "go";
    },
    blockLane: (lane, outcome, message) => blockLane(database, lane, outcome, message),
    unblockLane: (lane) => unblockLane(database, lane),
    listBlockedLanes: () => listBlockedLanes(database),
  };
}

async function markQueued(database: Database, trialIds: readonly string[], turns: readonly number[]): Promise<void> {
  const rows = trialIds.map((id, index) => ({ id, turn: turns[index] ?? 0 })).filter(({ id }) => isUuid(id));
  for (let start = 0; start < rows.length; start += idsPerStatement) {
    await database.query(Prisma.sql`
      WITH found AS (
        SELECT t.id, i.turn FROM json_to_recordset(${jsonRows(rows.slice(start, start + idsPerStatement))}) AS i(id uuid, turn float8)
        JOIN trials t ON t.id = i.id AND t.state = 'planned'
        ORDER BY t.id FOR NO KEY UPDATE OF t
      ), marked AS (
        UPDATE trials t SET state = 'queued', turn = found.turn, queued_at = clock_timestamp()
        FROM found WHERE t.id = found.id RETURNING 1
      )
      SELECT count(*)::int AS marked FROM marked`);
  }
}

/**
 * The first free turn of a sweep in each of its lanes: level with the foremost of what waits there of other sweeps of its
 * priority (so a late comer neither catches up nor starts behind them), and with `own` behind its own. What came back for
 * a retry says little of how far a sweep is.
 */
async function findPlaces(database: Database, sweepId: string, own: boolean): Promise<LanePlaces> {
  if (!isUuid(sweepId)) return { priority: 0, weight: 1, turns: {} };
  const rows = await database.query<{ priority: number; weight: number; lane: string; turn: number }>(Prisma.sql`
    WITH me AS (
      SELECT s.id, ${priorityOf} AS priority, ${weightOf} AS weight FROM sweeps s WHERE s.id = ${sweepId}::uuid
    ), mine AS (
      SELECT t.lane, max(t.turn) FILTER (WHERE t.state IN ('queued', 'running')) AS last
      FROM trials t WHERE t.sweep_id = ${sweepId}::uuid AND t.in_grid GROUP BY t.lane
    ), others AS (
      SELECT t.lane, coalesce(min(t.turn) FILTER (WHERE t.state = 'queued' AND t.fence = 0), min(t.turn)) AS front
      FROM trials t JOIN sweeps s ON s.id = t.sweep_id JOIN me ON me.id <> s.id AND me.priority = ${priorityOf}
      WHERE t.lane IN (SELECT lane FROM mine) AND t.state IN ('queued', 'running') AND t.in_grid AND NOT ${isPaused}
      GROUP BY t.lane, t.sweep_id
    )
    SELECT me.priority, me.weight, mine.lane, greatest(0, (SELECT min(front) FROM others o WHERE o.lane = mine.lane),
      CASE WHEN ${own} THEN mine.last + 1 / me.weight END)::float8 AS turn
    FROM me JOIN mine ON true`);
  const { priority, weight } = rows[0] ?? { priority: 0, weight: 1 };
  return { priority, weight, turns: Object.fromEntries(rows.map(({ lane, turn }) => [lane, turn])) };
}

interface OpenRow extends OpenTrial {
  readonly ordinal: number;
}

function withoutOrdinal({ trialId, lane, generation, delayMs, priority, turn }: OpenRow): OpenTrial {
  return {
    trialId,
    lane,
    generation,
    delayMs,
    ...(priority !== undefined && { priority }),
    ...(turn !== undefined && { turn }),
  };
}

/** What a killed submission has not yet given a place stands behind the last of its sweep. */
async function* listOpen(database: Database, lane: string, pageSize: number): AsyncGenerator<readonly OpenTrial[]> {
  let after: { readonly ordinal: number; readonly trialId: string } | null = null;
  for (;;) {
    const beyond: Prisma.Sql =
      after === null
        ? Prisma.empty
        : Prisma.sql`AND (t.ordinal, t.id) > (${after.ordinal}::int, ${after.trialId}::uuid)`;
    const rows: readonly OpenRow[] = await database.query<OpenRow>(Prisma.sql`
      WITH placed AS MATERIALIZED (
        SELECT t.sweep_id, max(t.turn) AS last, min(t.ordinal) FILTER (WHERE t.turn IS NULL) AS first FROM trials t
        WHERE t.lane = ${lane} AND t.state IN ('planned', 'queued') AND t.in_grid GROUP BY t.sweep_id
      )
      SELECT t.id::text AS "trialId", t.generation, ${remainingMs} AS "delayMs", t.ordinal, ${priorityOf} AS priority,
        coalesce(t.turn, coalesce(p.last, 0) + (t.ordinal - p.first) / ${weightOf})::float8 AS turn
      FROM trials t JOIN sweeps s ON s.id = t.sweep_id JOIN placed p ON p.sweep_id = t.sweep_id
      WHERE t.lane = ${lane} AND t.state IN ('planned', 'queued') AND t.in_grid AND NOT ${isPaused} ${beyond}
      ORDER BY t.ordinal, t.id LIMIT ${pageSize}`);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => ({ ...withoutOrdinal(row), lane }));
    if (rows.length < pageSize) return;
    after = last;
  }
}

/** Puts a sweep's open trials back under a new generation and with new places, a page at a time. */
async function* putBackOpen(
  database: Database,
  sweepId: string,
  models: readonly string[],
  pageSize: number,
): AsyncGenerator<readonly OpenTrial[]> {
  if (!isUuid(sweepId)) return;
  const { weight, turns } = await findPlaces(database, sweepId, false);
  const ofModels = isIn(Prisma.sql`t.alias`, models.length === 0 ? undefined : models.map(encodeText));
  for (const [lane, first] of Object.entries(turns)) {
    let turn = first;
    let after: { readonly ordinal: number; readonly trialId: string } | null = null;
    for (;;) {
      const beyond: Prisma.Sql =
        after === null
          ? Prisma.empty
          : Prisma.sql`AND (t.ordinal, t.id) > (${after.ordinal}::int, ${after.trialId}::uuid)`;
      const rows: readonly OpenRow[] = await database.query<OpenRow>(Prisma.sql`
        WITH page AS (
          SELECT t.id, t.ordinal FROM trials t
          WHERE t.lane = ${lane} AND t.sweep_id = ${sweepId}::uuid AND t.state IN ('planned', 'queued') AND t.in_grid
            AND ${ofModels} ${beyond}
          ORDER BY t.ordinal, t.id LIMIT ${pageSize} FOR NO KEY UPDATE
        ), numbered AS (
          SELECT id, row_number() OVER (ORDER BY ordinal, id) - 1 AS behind FROM page
        ), back AS (
          UPDATE trials t SET state = 'queued', generation = t.generation + 1, queued_at = clock_timestamp(),
            turn = ${turn}::float8 + n.behind / ${weight}::float8
          FROM numbered n WHERE t.id = n.id RETURNING t.*
        )
        SELECT ${asOpenTrial}, t.ordinal FROM back t JOIN sweeps s ON s.id = t.sweep_id ORDER BY t.ordinal, t.id`);
      const last = rows.at(-1);
      if (last === undefined) break;
      yield rows.map(withoutOrdinal);
      if (rows.length < pageSize) break;
      after = last;
      turn = (last.turn ?? turn) + 1 / weight;
    }
  }
}

/** The trials `t` that a selector means, whatever their sweep. */
export function isSelected(selector: TrialSelector): Prisma.Sql {
  const { models, seeds, since, mirage } = selector;
  const names = models?.map(encodeText);
  const parts = [
    isIn(Prisma.sql`t.state::text`, selector.states),
    isIn(Prisma.sql`t.outcome`, selector.outcomes),
    isIn(Prisma.sql`t.size::text`, selector.sizes?.map(String)),
    isIn(Prisma.sql`t."group"`, selector.groups),
    isIn(Prisma.sql`t.language`, selector.languages),
    mirage === undefined ? Prisma.sql`true` : Prisma.sql`t.mirage = ${mirage}`,
    seeds === undefined
      ? Prisma.sql`true`
      : Prisma.sql`EXISTS (SELECT 1 FROM json_to_recordset(${jsonRows(seeds)}) AS r(first bigint, last bigint)
          WHERE t.seed BETWEEN r.first AND r.last)`,
    since === undefined
      ? Prisma.sql`true`
      : since.kind === "ago"
        ? Prisma.sql`t.finished_at >= clock_timestamp() - ${since.ms}::float8 * interval '1 millisecond'`
        : Prisma.sql`t.finished_at >= to_timestamp(${since.ms}::float8 / 1000)`,
    Prisma.sql`(${isIn(Prisma.sql`t.alias`, names)} OR ${isIn(Prisma.sql`t.model`, names)}
      OR ${isIn(Prisma.sql`substr(t.model, strpos(t.model, '/') + 1)`, names)})`,
  ];
  return Prisma.join(parts, " AND ");
}

const requeueable = ["failed", "cancelled", "blocked"] as const satisfies readonly TrialState[];

async function requeue(database: Database, sweepId: string, selector: TrialSelector): Promise<readonly OpenTrial[]> {
  if (!isUuid(sweepId)) return [];
  const states = requeueable.filter((state) => selector.states?.includes(state) ?? true);
  const { weight, turns } = await findPlaces(database, sweepId, true);
  return database.query<OpenTrial>(Prisma.sql`
    WITH chosen AS (
      SELECT t.id, t.lane, t.ordinal FROM trials t
      WHERE t.sweep_id = ${sweepId}::uuid AND t.in_grid AND ${isSelected({ ...selector, states })}
      ORDER BY t.id FOR NO KEY UPDATE
    ), numbered AS (
      SELECT id, coalesce((${JSON.stringify(turns)}::json ->> lane)::float8, 0)
        + (row_number() OVER (PARTITION BY lane ORDER BY ordinal, id) - 1) / ${weight}::float8 AS turn FROM chosen
    ), put_back AS (
      UPDATE trials t SET state = 'queued', generation = t.generation + 1, tries = 0, empty_retries = 0, waits = 0,
        losses = 0, outcome = NULL, message = NULL, not_before = NULL, finished_at = NULL, cancel_requested = false,
        queued_at = clock_timestamp(), turn = n.turn
      FROM numbered n WHERE t.id = n.id RETURNING t.*
    ), taken_up AS (
      UPDATE sweeps SET cancelled_at = NULL
      WHERE id = ${sweepId}::uuid AND cancelled_at IS NOT NULL AND EXISTS (SELECT 1 FROM put_back)
    )
    SELECT ${asOpenTrial} FROM put_back t JOIN sweeps s ON s.id = t.sweep_id ORDER BY t.lane, t.ordinal, t.id`);
}

/** What runs is asked to end with its call; `now` ends its claim instead, and its reply will be archived as late. */
async function cancelTrials(
  database: Database,
  sweepId: string,
  selector: TrialSelector,
  now: boolean,
): ReturnType<SteeringPort["cancelTrials"]> {
  const none = { cancelled: 0, ending: 0 };
  if (!isUuid(sweepId)) return none;
  const [row] = await database.query<{ readonly cancelled: number; readonly ending: number }>(Prisma.sql`
    WITH chosen AS (
      SELECT t.id, t.state FROM trials t
      WHERE t.sweep_id = ${sweepId}::uuid AND t.in_grid AND t.state IN ('planned', 'queued', 'running', 'blocked')
        AND ${isSelected(selector)}
      ORDER BY t.id FOR NO KEY UPDATE
    ), ended AS (
      UPDATE trials t SET ${cancelledEnd}, fence = t.fence + CASE c.state WHEN 'running' THEN 1 ELSE 0 END
      FROM chosen c WHERE t.id = c.id AND (${now} OR c.state <> 'running') RETURNING 1
    ), asked AS (
      UPDATE trials t SET cancel_requested = true
      FROM chosen c WHERE t.id = c.id AND NOT ${now} AND c.state = 'running' RETURNING 1
    )
    SELECT (SELECT count(*)::int FROM ended) AS cancelled, (SELECT count(*)::int FROM asked) AS ending`);
  return row ?? none;
}

/** The changes that make a trial's row a cancelled one. */
export const cancelledEnd = Prisma.sql`state = 'cancelled', outcome = 'cancelled', message = 'cancelled by an operator',
    finished_at = clock_timestamp(), claimed_by = NULL, lease_until = NULL, not_before = NULL, cancel_requested = false`;

async function blockLane(database: Database, lane: string, outcome: string | null, message: string): Promise<number> {
  const rows = await database.query<{ readonly id: string }>(Prisma.sql`
    WITH waiting AS (
      SELECT t.id FROM trials t WHERE t.lane = ${lane} AND t.state IN ('planned', 'queued') AND t.in_grid
      ORDER BY t.id FOR NO KEY UPDATE
    )
    UPDATE trials t SET state = 'blocked', outcome = ${outcome}, message = ${encodeText(message)}, not_before = NULL
    FROM waiting WHERE t.id = waiting.id RETURNING t.id::text`);
  return rows.length;
}

/** What a lane's stop has blocked and no operator's holds; a trial that the budget blocked waits for the budget. */
const isLaneBlocked = Prisma.sql`t.state = 'blocked' AND t.in_grid AND t.outcome IS DISTINCT FROM 'budget_blocked'
    AND NOT ${isLaneParked(Prisma.sql`t.lane`)}`;

async function unblockLane(database: Database, lane: string): Promise<readonly OpenTrial[]> {
  return database.query<OpenTrial>(Prisma.sql`
    WITH blocked AS (
      SELECT t.id FROM trials t WHERE t.lane = ${lane} AND ${isLaneBlocked} ORDER BY t.id FOR NO KEY UPDATE
    ), put_back AS (
      UPDATE trials t SET state = 'queued', generation = t.generation + 1, outcome = NULL, message = NULL,
        queued_at = clock_timestamp()
      FROM blocked WHERE t.id = blocked.id RETURNING t.*
    )
    SELECT ${asOpenTrial} FROM put_back t JOIN sweeps s ON s.id = t.sweep_id ORDER BY t.ordinal, t.id`);
}

async function listBlockedLanes(database: Database): Promise<readonly string[]> {
  const rows = await database.query<{ readonly lane: string }>(
    Prisma.sql`SELECT t.lane FROM trial_tallies t WHERE ${isLaneBlocked} GROUP BY t.lane HAVING sum(t.trials) > 0 ORDER BY t.lane`,
  );
  return rows.map((row) => row.lane);
}

/** True for every row where the selector does not name the property. */
function isIn(column: Prisma.Sql, values: readonly string[] | undefined): Prisma.Sql {
  if (values === undefined) return Prisma.sql`true`;
  return Prisma.sql`${column} IN (SELECT json_array_elements_text(${JSON.stringify(values)}::json))`;
}
