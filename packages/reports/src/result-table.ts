import type { Column, ResultTable, TableCell } from "@hallumaze/experiments";
import type { Estimate } from "@hallumaze/trials";

import { formatCount, singleLine } from "./text-table.ts";
import { csvOf } from "./trial-export.ts";

/** How a cell is printed: what it says, and whether it is a number, which stands to the right. */
export interface PrintedTable {
  readonly heads: readonly string[];
  readonly numeric: readonly boolean[];
  readonly rows: readonly (readonly string[])[];
}

/** What stands where a value is not known. */
export const unknownCell = "–";

/**
 * A table's cells as they are printed: counts with thousands apart, shares and values with three decimals, an interval in
 * brackets behind its value, p down to `<0.001`. What is not known is a dash. Text of others is one line without control
 * characters; the writers escape it.
 */
export function printTable(table: ResultTable): PrintedTable {
  return {
    heads: table.columns.map(({ label }) => singleLine(label)),
    numeric: table.columns.map(({ kind }) => kind !== "text"),
    rows: table.rows.map((row) => table.columns.map((column) => printCell(column, row[column.key] ?? null))),
  };
}

function printCell({ kind }: Column, cell: TableCell): string {
  if (cell === null) return unknownCell;
  if (isEstimate(cell)) return printEstimate(cell);
  if (typeof cell === "object") return `${decimals(cell[0])} to ${decimals(cell[1])}`;
  if (typeof cell === "string") return singleLine(cell).trim();
  if (kind === "count") return formatCount(cell);
  return kind === "p" ? printP(cell) : decimals(cell);
}

function printEstimate({ value, lo, hi }: Estimate): string {
  if (value === null) return unknownCell;
  return lo === null || hi === null ? decimals(value) : `${decimals(value)} [${decimals(lo)}, ${decimals(hi)}]`;
}

function printP(p: number): string {
  return p < 0.001 ? "<0.001" : p.toFixed(3);
}

function decimals(value: number): string {
  // -0.000 says that a sign is known where none is.
  return value.toFixed(3).replace(/^-(0\.000)$/, "$1");
}

function isEstimate(cell: Exclude<TableCell, null>): cell is Estimate {
  return typeof cell === "object" && "value" in cell;
}

/**
 * A table as Markdown, as GitHub reads it: the caption in bold, then the table. Every sign of mark-up in a cell is
 * escaped, so that a model's name stays a name.
 */
export function markdownTable(table: ResultTable): string {
  const { heads, numeric, rows } = printTable(table);
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeMarkdown).join(" | ")} |`;
  return [
    `**${escapeMarkdown(singleLine(table.caption))}**`,
    "",
    line(heads),
    `| ${numeric.map((isNumber) => (isNumber ? "---:" : "---")).join(" | ")} |`,
    ...rows.map(line),
    "",
  ].join("\n");
}

function escapeMarkdown(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(/[\\`*_[\]|~#!]/g, "\\$&")
    .replaceAll(/https?:/gi, (scheme) => scheme.replace(":", "&#58;"));
}

/**
 * A table as CSV with every digit: a column of intervals is three (`key`, `key_lo`, `key_hi`), one of bounds two
 * (`key_low`, `key_high`). An unknown value is an empty cell; no text is a spreadsheet's formula.
 */
export function csvTable(table: ResultTable): string {
  const heads = table.columns.flatMap(({ key, kind }) => partsOf(kind).map((part) => `${key}${part}`));
  const rows = table.rows.map((row) => table.columns.flatMap((column) => rawCells(column, row[column.key] ?? null)));
  return csvOf([heads, ...rows]);
}

function partsOf(kind: Column["kind"]): readonly string[] {
  if (kind === "interval") return ["", "_lo", "_hi"];
  return kind === "bounds" ? ["_low", "_high"] : [""];
}

function rawCells({ kind }: Column, cell: TableCell): readonly (string | number | null)[] {
  if (cell === null) return partsOf(kind).map(() => null);
  if (isEstimate(cell)) return [cell.value, cell.lo, cell.hi];
  if (typeof cell === "object") return [cell[0], cell[1]];
  return [typeof cell === "string" ? singleLine(cell) : cell];
}
