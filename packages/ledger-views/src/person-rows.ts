import { decodeText } from "@hallumaze/store";
import type { PersonRow } from "@hallumaze/viewing";

import { type Query, type Sql, sql } from "./sql.ts";

interface StoredPerson extends Omit<PersonRow, "scores" | "generator" | "placement"> {
  readonly scoresJson: string;
  readonly recordJson: string;
}

const columns = sql`i.id::text AS "importId", t.position, (extract(epoch FROM i.created_at) * 1000)::float8 AS "importedAtMs",
  t.model, t.participant, t.size, t.seed::float8 AS seed, t.mirage, t.language, t.confidence, t.outcome,
  t.log_text AS "logText", t.scores_json AS "scoresJson", t.record_json AS "recordJson"`;

const logs = sql`imported_trials t JOIN imports i ON i.id = t.import_id
  WHERE i.kind = 'humanLog' AND t.log_text IS NOT NULL AND t.seed IS NOT NULL`;

/** A person's log by its import and place. */
export async function findPerson(query: Query, importId: string, position: number): Promise<PersonRow | null> {
  const [row] = await read(query, sql`AND i.id = ${importId}::uuid AND t.position = ${position}::int`);
  return row ?? null;
}

/** People's logs on one maze, oldest first. */
export function peopleOnMaze(
  query: Query,
  { size, seed }: { readonly size: number; readonly seed: number },
  limit: number,
): Promise<readonly PersonRow[]> {
  return read(
    query,
    sql`AND t.size = ${size}::int AND t.seed = ${seed}::bigint ORDER BY i.created_at, i.id, t.position LIMIT ${limit}`,
  );
}

async function read(query: Query, rest: Sql): Promise<readonly PersonRow[]> {
  const rows = await query<StoredPerson>(sql`SELECT ${columns} FROM ${logs} ${rest}`);
  return rows.map(({ scoresJson, recordJson, ...row }) => ({
    ...row,
    model: decodeText(row.model),
    participant: row.participant === null ? null : decodeText(row.participant),
    outcome: row.outcome === null ? null : decodeText(row.outcome),
    logText: decodeText(row.logText),
    scores: JSON.parse(scoresJson) as PersonRow["scores"],
    ...mazeOf(decodeText(recordJson)),
  }));
}

const generators: readonly PersonRow["generator"][] = ["dfs", "kruskal", "wilson", "prim"];

/** The record says of its maze what has no column of its own. */
function mazeOf(recordJson: string): Pick<PersonRow, "generator" | "placement"> {
  const record = JSON.parse(recordJson) as Readonly<Record<string, unknown>>;
  const generator = generators.find((one) => one === record["generator"]) ?? "dfs";
  return { generator, placement: record["placement"] === "sampled" ? "sampled" : "path-order" };
}
