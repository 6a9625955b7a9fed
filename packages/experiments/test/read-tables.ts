import type { Estimate } from "@hallumaze/trials";

import type { ExperimentResult, ResultTable, TableCell } from "../src/index.ts";

type Row = ResultTable["rows"][number];

/** The rows of a result's table that have these cells. */
export function rowsOf(
  result: ExperimentResult,
  table: string,
  cells: Readonly<Record<string, TableCell>> = {},
): readonly Row[] {
  const rows = result.tables.find(({ name }) => name === table)?.rows ?? [];
  return rows.filter((row) => Object.entries(cells).every(([key, value]) => row[key] === value));
}

/** The only row that has these cells. */
export function rowOf(result: ExperimentResult, table: string, cells: Readonly<Record<string, TableCell>> = {}): Row {
  const rows = rowsOf(result, table, cells);
  const [row] = rows;
  if (rows.length !== 1 || row === undefined) {
    throw new Error(`expected one row of ${table} with ${JSON.stringify(cells)}, got ${rows.length}`);
  }
  return row;
}

/** A cell that holds an interval. */
export function estimateIn(row: Row, key: string): Estimate {
  const cell = row[key];
  if (typeof cell !== "object" || cell === null || !("lo" in cell)) throw new Error(`${key} holds no interval`);
  return cell;
}

/** A cell that holds bounds. */
export function boundsIn(row: Row, key: string): readonly [number, number] {
  const cell = row[key];
  if (typeof cell !== "object" || cell === null || "lo" in cell) throw new Error(`${key} holds no bounds`);
  return cell;
}
