/** A count with thousands separated, the same in every locale. */
export function countOf(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A share as a person reads it: `30 %`, below 10 % with a digit more. */
export function percent(share: number): string {
  const percents = share * 100;
  return `${percents === 0 || percents >= 10 ? Math.round(percents) : percents.toFixed(1)} %`;
}

/** `12 of 100 (12 %)`. */
export function outOf(hits: number, n: number): string {
  return `${countOf(hits)} of ${countOf(n)} (${percent(n === 0 ? 0 : hits / n)})`;
}

/** A moment, to the second, UTC. */
export function moment(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Names in a sentence, at most six of them. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, 6).join(", ");
  return names.length > 6 ? `${shown} and ${names.length - 6} more` : shown;
}

/** The sum of a figure over rows. */
export function sumOf<Row>(rows: readonly Row[], figure: (row: Row) => number): number {
  return rows.reduce((sum, row) => sum + figure(row), 0);
}

/** Rows by a key, in the order in which the keys come. */
export function groupBy<Row>(rows: readonly Row[], keyOf: (row: Row) => string): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
}
