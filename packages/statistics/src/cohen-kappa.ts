import { type Coefficient, defined, undefinedFor } from "./coefficient.ts";

/** `none`: every disagreement counts alike. `quadratic`: by the square of the distance between two ordered classes. */
export type KappaWeights = "none" | "quadratic";

/**
 * Cohen's kappa of two raters, in -1 … 1; 0: what chance alone would give, better when higher.
 *
 * `table` counts items, one row a class of the first rater, one column a class of the second, in the classes' order:
 * square, whole numbers. Undefined (`singleClass`) where both raters put everything in one and the same class.
 * Throws a RangeError on any other table.
 * SOURCE: Cohen (1960), Educational and Psychological Measurement 20:37-46; weighted: Cohen (1968), Psychological
 * Bulletin 70:213-220; Fleiss & Cohen (1973), Educational and Psychological Measurement 33:613-619.
 */
export function cohenKappa(table: readonly (readonly number[])[], weights: KappaWeights = "none"): Coefficient {
  const size = table.length;
  if (!table.every((row) => row.length === size && row.every((count) => Number.isSafeInteger(count) && count >= 0))) {
    throw new RangeError("expected a square table of whole counts");
  }
  const rows = table.map((row) => row.reduce((sum, count) => sum + count, 0));
  const columns = table.map((_, column) => table.reduce((sum, row) => sum + (row[column] ?? 0), 0));
  const n = rows.reduce((sum, count) => sum + count, 0);
  if (n === 0) return undefinedFor("noItems", 0);
  let [observed, expected] = [0, 0];
  for (const [row, counts] of table.entries()) {
    for (const [column, count] of counts.entries()) {
      const disagreement = weights === "none" ? Number(row !== column) : (row - column) ** 2;
      observed += (disagreement * count) / n;
      expected += (disagreement * (rows[row] ?? 0) * (columns[column] ?? 0)) / (n * n);
    }
  }
  return expected === 0 ? undefinedFor("singleClass", n) : defined(1 - observed / expected, n);
}
