import { type Estimate } from "@hallumaze/trials";

/** A number with two decimals, a true minus sign not: what is printed can be read back. `unknown` for null. */
export function two(value: number | null): string {
  // -0.00 says that a sign is known where none is.
  return value === null ? "unknown" : value.toFixed(2).replace(/^-(0\.00)$/, "$1");
}

/** `0.12 [0.05, 0.19]`; the value alone where there is no interval. */
export function withInterval({ value, lo, hi }: Estimate): string {
  return lo === null || hi === null ? two(value) : `${two(value)} [${two(lo)}, ${two(hi)}]`;
}

/** A share as whole percent, one decimal below 10 %. */
export function percent(share: number | null): string {
  if (share === null) return "unknown";
  return `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
}

/** `p = 0.012`, `p < 0.001`, or that there is none. */
export function pValue(p: number | null): string {
  if (p === null) return "no p-value";
  return p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`;
}

/** True where an interval leaves out 0; null where there is none. */
export function isOffZero({ lo, hi }: Estimate): boolean | null {
  return lo === null || hi === null ? null : lo > 0 || hi < 0;
}

/** `1 maze`, `2 mazes`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
