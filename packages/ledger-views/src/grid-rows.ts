import { decodeText } from "@hallumaze/store";
import type { GridColumn, GridRow, MazeRow } from "@hallumaze/viewing";

import { type Query, type Sql, sql } from "./sql.ts";

const pageSize = 5000;

/** The columns of `scores` by metric: names never come from a request. */
const scoreColumns: Readonly<Record<GridColumn["metric"], Sql>> = {
  sr: sql`s.sr`,
  hc: sql`s.hc`,
  fhr: sql`s.fhr`,
  bt: sql`s.bt`,
  lt: sql`s.lt`,
  hrr: sql`s.hrr`,
  mei: sql`s.mei`,
  ce: sql`s.ce`,
  brs: sql`s.brs`,
  score: sql`s.score`,
};

/** The trial whose numbers stand for `t`: that of another sweep where they were taken over and not rescored here. */
const holder = sql`CASE WHEN t.source_trial_id IS NULL OR EXISTS (SELECT 1 FROM readings r WHERE r.trial_id = t.id)
  THEN t.id ELSE t.source_trial_id END`;

const conditions = sql`t.id::text AS "trialId", t.alias, t.size, t.seed::float8 AS seed, t."group", t.mirage, t.language,
  t.confidence, t.repeat, t.state::text AS state`;

/**
 * The cells of a sweep's grid by model, size and seed. A page ends where the indexed columns change, so that the next one
 * starts by the index alone.
 */
export async function* gridRows(
  query: Query,
  sweepId: string,
  column: GridColumn | null,
  limit: number,
): AsyncGenerator<readonly GridRow[]> {
  const value = column === null ? sql`NULL::float8` : newest(column);
  let last: GridRow | null = null;
  let given = 0;
  while (given < limit) {
    const beyond: Sql =
      last === null
        ? sql``
        : sql`AND (t.alias, t.size, t.seed) > (${last.alias}, ${last.size}::int, ${last.seed}::bigint)`;
    const rows: readonly GridRow[] = await query<GridRow>(sql`
      SELECT ${conditions}, ${value} AS value FROM (
        SELECT t.* FROM trials t WHERE t.sweep_id = ${sweepId}::uuid AND t.in_grid ${beyond}
        ORDER BY t.alias, t.size, t.seed FETCH FIRST ${Math.min(pageSize, limit - given)} ROWS WITH TIES
      ) t
      ORDER BY t.alias, t.size, t.seed, t."group", t.mirage, t.language, t.confidence, t.repeat, t.id`);
    if (rows.length === 0) return;
    given += rows.length;
    yield rows.map((row) => ({ ...row, alias: decodeText(row.alias) }));
    if (rows.length < pageSize) return;
    // As it is stored: the comparison is the database's.
    last = rows.at(-1) ?? null;
  }
}

function newest({ profile, metric }: GridColumn): Sql {
  return sql`CASE WHEN t.state = 'done' THEN (
    SELECT ${scoreColumns[metric]}::float8 FROM scores s WHERE s.trial_id = ${holder} AND s.profile = ${profile}
    ORDER BY s.created_at DESC, s.reader_version DESC, s.profile_version DESC LIMIT 1
  ) END`;
}

/** The sweep's trials on one maze. */
export async function trialsOnMaze(
  query: Query,
  sweepId: string,
  { size, seed }: { readonly size: number; readonly seed: number },
  limit: number,
): Promise<readonly MazeRow[]> {
  const rows = await query<MazeRow>(sql`
    SELECT ${conditions}, t.outcome, ${newest({ profile: "seed", metric: "sr" })} AS sr,
      ${newest({ profile: "robust", metric: "mei" })} AS mei
    FROM trials t
    WHERE t.sweep_id = ${sweepId}::uuid AND t.in_grid AND t.size = ${size}::int AND t.seed = ${seed}::bigint
    ORDER BY t.alias, t."group", t.mirage, t.language, t.confidence, t.repeat, t.id LIMIT ${limit}`);
  return rows.map((row) => ({ ...row, alias: decodeText(row.alias) }));
}
