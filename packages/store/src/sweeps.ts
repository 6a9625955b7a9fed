import type { InsertReport, StorePort, SweepRecord } from "@hallumaze/engine";
import type { LaneControl, LimitChange, SteeringPort } from "@hallumaze/steering";

import { type Database, isUuid, jsonRows } from "./database.ts";
import { StoreError } from "./errors.ts";
import { Prisma } from "./generated/client.ts";
import { isWholePaused } from "./open-trials.ts";
import { decodeText, encodeNullable, encodeText } from "./storable-text.ts";

type Cell = Parameters<StorePort["insertCells"]>[2][number];
type SweepMethods = Pick<
  StorePort,
  "openSweep" | "findSweep" | "listSweeps" | "insertCells" | "beginGrid" | "closeGrid" | "findAnswered"
> &
  Pick<
    SteeringPort,
    "pauseSweep" | "unpauseSweep" | "takeUp" | "rankSweep" | "laneControls" | "parkLane" | "unparkLane" | "limitLane"
  >;

const cellsPerStatement = 1000;

/** The methods of the store that concern sweeps and their grids. */
export function createSweepMethods(database: Database): SweepMethods {
  return {
    openSweep: (sweep) => openSweep(database, sweep),
    findSweep: async (name) => {
      const found = await database.run((prisma) =>
        prisma.sweep.findUnique({ where: { name: encodeText(name) }, include: lastEstimate }),
      );
      return found === null ? null : toRecord(found);
    },
    listSweeps: async () => {
      const found = await database.run((prisma) =>
        prisma.sweep.findMany({ orderBy: [{ createdAt: "asc" }, { id: "asc" }] }),
      );
      return found.map(toRecord);
    },
    insertCells: async (sweepId, revision, cells) => {
      let report: InsertReport = { inserted: 0, existing: 0, reused: 0 };
      for (let start = 0; start < cells.length; start += cellsPerStatement) {
        const part = await insertCells(database, sweepId, revision, cells.slice(start, start + cellsPerStatement));
        report = {
          inserted: report.inserted + part.inserted,
          existing: report.existing + part.existing,
          reused: report.reused + part.reused,
        };
      }
      return report;
    },
    beginGrid: (sweepId) => beginGrid(database, sweepId),
    closeGrid: async (sweepId, revision) => {
      const [row] = await database.query<{ readonly left: number }>(Prisma.sql`
        WITH gone AS (
          SELECT id FROM trials WHERE sweep_id = ${sweepId}::uuid AND in_grid AND grid_revision < ${revision}
          ORDER BY id FOR NO KEY UPDATE
        ), taken_out AS (
          UPDATE trials SET in_grid = false FROM gone WHERE trials.id = gone.id RETURNING 1
        ), taken_up AS (
          -- New cells are a wish to go on; cancelled ones stay so.
          UPDATE sweeps SET cancelled_at = NULL WHERE id = ${sweepId}::uuid AND cancelled_at IS NOT NULL
            AND EXISTS (SELECT 1 FROM trials WHERE sweep_id = ${sweepId}::uuid AND state = 'planned' AND grid_revision >= ${revision})
        )
        SELECT count(*)::int AS left FROM taken_out`);
      // A grid may have brought 200,000 rows; the planner would hear of them from autovacuum, minutes later.
      await database.run((prisma) => prisma.$executeRaw`ANALYZE trials`);
      return row?.left ?? 0;
    },
    findAnswered: (sweepName, cellIds) => findAnswered(database, sweepName, cellIds),
    ...createSteeringMethods(database),
  };
}

function createSteeringMethods(
  database: Database,
): Pick<SweepMethods, Extract<keyof SweepMethods, keyof SteeringPort>> {
  return {
    pauseSweep: (sweepId, models) => pauseSweep(database, sweepId, models),
    unpauseSweep: async (sweepId, held) => {
      await database.query(Prisma.sql`
        UPDATE sweeps SET paused_models = ${textArray(held)},
          paused_at = CASE WHEN ${held.length > 0} THEN paused_at END
        WHERE id = ${sweepId}::uuid AND paused_at IS NOT NULL RETURNING 1 AS unpaused`);
    },
    rankSweep: async (sweepId, { priority, weight }) => {
      await database.query(Prisma.sql`
        UPDATE sweeps SET priority_given = CASE WHEN ${priority === undefined} THEN priority_given ELSE ${priority ?? null}::int END,
          weight_given = CASE WHEN ${weight === undefined} THEN weight_given ELSE ${weight ?? null}::float8 END
        WHERE id = ${sweepId}::uuid RETURNING 1 AS ranked`);
    },
    takeUp: async (sweepId) => {
      await database.query(
        Prisma.sql`UPDATE sweeps SET cancelled_at = NULL WHERE id = ${sweepId}::uuid RETURNING 1 AS taken_up`,
      );
    },
    laneControls: () => laneControls(database),
    parkLane: (lane, reason, forMs) => parkLane(database, lane, reason, forMs),
    unparkLane: async (lane) => {
      const rows = await database.query<{ readonly wasParked: boolean }>(Prisma.sql`
        WITH before AS (SELECT lane, ${isStillParked} AS was_parked FROM lane_controls c WHERE lane = ${lane} FOR UPDATE)
        UPDATE lane_controls c SET parked_at = NULL, parked_until = NULL, park_reason = NULL
        FROM before b WHERE c.lane = b.lane RETURNING b.was_parked AS "wasParked"`);
      return rows[0]?.wasParked ?? false;
    },
    limitLane: async (lane, change) => {
      // One statement: two operators who change different limits both have their way.
      const limits = change === null ? null : JSON.stringify(change);
      await database.query(Prisma.sql`
        INSERT INTO lane_controls AS c (lane, limits_json) VALUES (${lane}, ${limits})
        ON CONFLICT (lane) DO UPDATE SET limits_json = CASE WHEN excluded.limits_json IS NOT NULL
          THEN (coalesce(c.limits_json, '{}')::jsonb || excluded.limits_json::jsonb)::text END
        RETURNING 1 AS limited`);
    },
  };
}

/** A pause of a whole sweep stands over one of some models. */
async function pauseSweep(database: Database, sweepId: string, models: readonly string[]): Promise<void> {
  await database.query(Prisma.sql`
    UPDATE sweeps s SET paused_at = coalesce(paused_at, clock_timestamp()),
      paused_models = CASE WHEN ${models.length === 0} OR ${isWholePaused} THEN '{}'::text[]
        ELSE ARRAY(SELECT DISTINCT unnest(coalesce(s.paused_models, '{}'::text[]) || ${textArray(models)}) ORDER BY 1) END
    WHERE s.id = ${sweepId}::uuid RETURNING 1 AS paused`);
}

function textArray(texts: readonly string[]): Prisma.Sql {
  return Prisma.sql`ARRAY(SELECT json_array_elements_text(${JSON.stringify(texts.map(encodeText))}::json))`;
}

const isStillParked = Prisma.sql`(c.parked_at IS NOT NULL AND (c.parked_until IS NULL OR c.parked_until > clock_timestamp()))`;

async function laneControls(database: Database): Promise<readonly LaneControl[]> {
  const rows = await database.query<{
    lane: string;
    limitsJson: string | null;
    isParked: boolean;
    reason: string | null;
    sinceMs: number | null;
    untilMs: number | null;
    leftMs: number | null;
  }>(Prisma.sql`
    SELECT c.lane, c.limits_json AS "limitsJson", ${isStillParked} AS "isParked", c.park_reason AS reason,
      (extract(epoch FROM c.parked_at) * 1000)::float8 AS "sinceMs", (extract(epoch FROM c.parked_until) * 1000)::float8 AS "untilMs",
      (extract(epoch FROM c.parked_until - clock_timestamp()) * 1000)::float8 AS "leftMs"
    FROM lane_controls c ORDER BY c.lane`);
  return rows.map(({ lane, limitsJson, isParked, reason, sinceMs, ...times }) => ({
    lane,
    limits: limitsJson === null ? {} : (JSON.parse(limitsJson) as LimitChange),
    parked: isParked && sinceMs !== null ? { reason: decodeText(reason ?? ""), sinceMs, ...times } : null,
  }));
}

/** What waits in the lane is blocked without an outcome: no try of it has ended. Later comers are blocked by their claims. */
async function parkLane(database: Database, lane: string, reason: string, forMs: number | null): Promise<number> {
  const message = encodeText(reason);
  await database.query(Prisma.sql`
    INSERT INTO lane_controls AS c (lane, parked_at, parked_until, park_reason)
    VALUES (${lane}, clock_timestamp(), clock_timestamp() + ${forMs}::float8 * interval '1 millisecond', ${message})
    ON CONFLICT (lane) DO UPDATE SET parked_at = CASE WHEN ${isStillParked} THEN c.parked_at ELSE excluded.parked_at END,
      parked_until = excluded.parked_until, park_reason = excluded.park_reason
    RETURNING 1 AS parked`);
  const [row] = await database.query<{ readonly blocked: number }>(Prisma.sql`
    WITH waiting AS (
      SELECT t.id FROM trials t WHERE t.lane = ${lane} AND t.state IN ('planned', 'queued') AND t.in_grid
      ORDER BY t.id FOR NO KEY UPDATE
    ), blocked AS (
      UPDATE trials t SET state = 'blocked', outcome = NULL, message = ${message}, not_before = NULL
      FROM waiting WHERE t.id = waiting.id RETURNING 1
    )
    SELECT count(*)::int AS blocked FROM blocked`);
  return row?.blocked ?? 0;
}

/** What the database gives for a sweep. */
export interface SweepRow {
  readonly id: string;
  readonly name: string;
  readonly specJson: string;
  readonly createdAt: Date;
  readonly pausedAt: Date | null;
  readonly pausedModels: readonly string[] | null;
  readonly cancelledAt: Date | null;
  readonly priority: number;
  readonly weight: number;
  readonly priorityGiven: number | null;
  readonly weightGiven: number | null;
  /** The newest that says what its plan expected; none where it was not asked for. */
  readonly submissions?: readonly { readonly estimateJson: string | null; readonly createdAt: Date }[];
}

/** Asks for the newest submission that says what its plan expected. */
export const lastEstimate = {
  submissions: { where: { estimateJson: { not: null } }, orderBy: { id: "desc" }, take: 1 },
} as const;

/** A sweep's row as the port has it. */
export function toRecord(row: SweepRow): SweepRecord {
  const submission = row.submissions?.[0];
  return {
    sweepId: row.id,
    name: decodeText(row.name),
    specJson: decodeText(row.specJson),
    createdAtMs: row.createdAt.getTime(),
    estimate:
      submission === undefined || submission.estimateJson === null
        ? null
        : { json: decodeText(submission.estimateJson), sinceMs: submission.createdAt.getTime() },
    paused:
      row.pausedAt === null
        ? null
        : { sinceMs: row.pausedAt.getTime(), models: (row.pausedModels ?? []).map((alias) => decodeText(alias)) },
    cancelledAtMs: row.cancelledAt?.getTime() ?? null,
    priority: row.priorityGiven ?? row.priority,
    weight: row.weightGiven ?? row.weight,
  };
}

async function openSweep(database: Database, sweep: Parameters<StorePort["openSweep"]>[0]): Promise<SweepRecord> {
  const spec = encodeText(sweep.specJson);
  const provenance = encodeText(JSON.stringify(sweep.provenance));
  const estimate = encodeNullable(sweep.estimateJson ?? null);
  const [row] = await database.query<SweepRow>(Prisma.sql`
    WITH opened AS (
      INSERT INTO sweeps (name, spec_json, provenance_json, max_tries, max_empty_retries, fresh, budget_usd,
        priority, weight)
      VALUES (${encodeText(sweep.name)}, ${spec}, ${provenance}, ${sweep.maxTries}, ${sweep.maxEmptyRetries}, ${sweep.fresh},
        ${sweep.budgetUsd ?? null}::numeric, ${sweep.priority ?? 0}, ${sweep.weight ?? 1}::float8)
      ON CONFLICT (name) DO UPDATE SET
        spec_json = excluded.spec_json, provenance_json = excluded.provenance_json, max_tries = excluded.max_tries,
        max_empty_retries = excluded.max_empty_retries, fresh = excluded.fresh, budget_usd = excluded.budget_usd,
        priority = excluded.priority, weight = excluded.weight, submitted_at = now()
      RETURNING *
    ), submission AS (
      INSERT INTO submissions (sweep_id, spec_json, provenance_json, estimate_json)
      SELECT id, ${spec}, ${provenance}, ${estimate} FROM opened
    )
    SELECT id, name, spec_json AS "specJson", created_at AS "createdAt", paused_at AS "pausedAt",
      paused_models AS "pausedModels", cancelled_at AS "cancelledAt", priority, weight, priority_given AS "priorityGiven",
      weight_given AS "weightGiven"
    FROM opened`);
  if (row === undefined)
    throw new StoreError("database-refused", `The sweep ${sweep.name} could not be opened: no row came back.`);
  return toRecord(row);
}

async function beginGrid(database: Database, sweepId: string): Promise<number> {
  const [row] = isUuid(sweepId)
    ? await database.query<{ readonly revision: number }>(Prisma.sql`
        UPDATE sweeps SET grid_revision = grid_revision + 1 WHERE id = ${sweepId}::uuid RETURNING grid_revision AS revision`)
    : [];
  if (row === undefined)
    throw new StoreError("sweep-unknown", `No sweep has the id ${sweepId}. Open it by name first.`);
  return row.revision;
}

/** One statement: the rows, the refresh of those that exist, and the answers taken over from other sweeps. */
async function insertCells(
  database: Database,
  sweepId: string,
  revision: number,
  cells: readonly Cell[],
): Promise<InsertReport> {
  const auto = [...new Set(cells.flatMap(({ alias, liveLane }) => (liveLane === null ? [] : [encodeText(alias)])))];
  // What went live for its deadline stays there as long as its model is of mode auto.
  const isKeptLive = Prisma.sql`(trials.went_live
    AND excluded.alias IN (SELECT json_array_elements_text(${JSON.stringify(auto)}::json)))`;
  const [row] = await database.query<{
    readonly inserted: number;
    readonly existing: number;
    readonly reused: number;
  }>(Prisma.sql`
    WITH input AS (
      SELECT DISTINCT ON (cell_id) * FROM json_to_recordset(${jsonRows(cells.map(toCellRow))}) AS i(
        cell_id text, alias text, lane text, ordinal int, plan json, model text, size int, seed bigint, "group" text,
        mirage boolean, language text, confidence boolean, repeat int, rehearsal boolean)
      ORDER BY cell_id
    ), written AS (
      INSERT INTO trials (sweep_id, cell_id, alias, lane, ordinal, plan, model, size, seed, "group", mirage, language,
        confidence, repeat, rehearsal, grid_revision, state, outcome, source_trial_id, accepted_exchange_id, finished_at)
      SELECT s.id, i.cell_id, i.alias, i.lane, i.ordinal, i.plan, i.model, i.size, i.seed, i."group", i.mirage, i.language,
        i.confidence, i.repeat, i.rehearsal, ${revision},
        CASE WHEN source.id IS NULL THEN 'planned' ELSE 'done' END::trial_state,
        source.outcome, coalesce(source.source_trial_id, source.id), source.accepted_exchange_id, source.finished_at
      FROM input i
      JOIN sweeps s ON s.id = ${sweepId}::uuid
      LEFT JOIN LATERAL (
        SELECT o.* FROM trials o
        WHERE NOT s.fresh AND o.cell_id = i.cell_id AND o.state = 'done' AND o.sweep_id <> s.id
        ORDER BY o.finished_at, o.id LIMIT 1
      ) source ON true
      ORDER BY i.cell_id
      ON CONFLICT (sweep_id, cell_id) DO UPDATE SET
        grid_revision = greatest(trials.grid_revision, excluded.grid_revision), in_grid = true,
        alias = excluded.alias, ordinal = excluded.ordinal, went_live = ${isKeptLive},
        lane = CASE WHEN ${isKeptLive} THEN regexp_replace(excluded.lane, '^(rehearsal\\.)?batch\\.', '\\1') ELSE excluded.lane END
      RETURNING xmax = 0 AS is_new, source_trial_id IS NOT NULL AS is_reused
    )
    SELECT (count(*) FILTER (WHERE is_new))::int AS inserted, (count(*) FILTER (WHERE NOT is_new))::int AS existing,
      (count(*) FILTER (WHERE is_new AND is_reused))::int AS reused
    FROM written`);
  return row ?? { inserted: 0, existing: 0, reused: 0 };
}

function toCellRow({ cellId, alias, lane, ordinal, plan }: Cell) {
  return {
    cell_id: encodeText(cellId),
    alias: encodeText(alias),
    lane,
    ordinal,
    plan,
    model: encodeText(`${plan.provider}/${plan.model}`),
    size: plan.size,
    seed: plan.seed,
    group: plan.group,
    mirage: plan.mirage,
    language: plan.language,
    confidence: plan.confidence,
    repeat: plan.repeat,
    rehearsal: plan.rehearsal,
  };
}

async function findAnswered(
  database: Database,
  sweepName: string,
  cellIds: readonly string[],
): ReturnType<StorePort["findAnswered"]> {
  const inSweep: string[] = [];
  const elsewhere: string[] = [];
  const known: string[] = [];
  for (let start = 0; start < cellIds.length; start += cellsPerStatement) {
    const part = cellIds.slice(start, start + cellsPerStatement).map(encodeText);
    const rows = await database.query<{
      cellId: string;
      isKnown: boolean;
      isDone: boolean;
      isElsewhere: boolean;
    }>(Prisma.sql`
      SELECT i.cell_id AS "cellId", own.id IS NOT NULL AS "isKnown", coalesce(own.state = 'done', false) AS "isDone",
        EXISTS (SELECT 1 FROM trials o WHERE o.cell_id = i.cell_id AND o.state = 'done' AND o.id IS DISTINCT FROM own.id)
          AS "isElsewhere"
      FROM json_array_elements_text(${JSON.stringify(part)}::json) WITH ORDINALITY AS i(cell_id, position)
      LEFT JOIN sweeps s ON s.name = ${encodeText(sweepName)}
      LEFT JOIN trials own ON own.sweep_id = s.id AND own.cell_id = i.cell_id
      ORDER BY i.position`);
    for (const row of rows) {
      const cellId = decodeText(row.cellId);
      if (row.isKnown) known.push(cellId);
      if (row.isDone) inSweep.push(cellId);
      else if (row.isElsewhere) elsewhere.push(cellId);
    }
  }
  return { inSweep, elsewhere, known };
}
