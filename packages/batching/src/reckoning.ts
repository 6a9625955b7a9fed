import type { BatchReckoning } from "./ports.ts";

/** Opens the count of one landing: what came, and how the rows ended. */
export function openReckoning() {
  const seen = new Set<number>();
  const rows: Record<string, number> = {};
  let missing = 0;
  let unknown = 0;
  let repeated = 0;
  return {
    /** A result came for this position, null where its id is not the batch's; false where it counts for no row. */
    came: (position: number | null): boolean => {
      if (position === null) unknown += 1;
      else if (seen.has(position)) repeated += 1;
      else {
        seen.add(position);
        return true;
      }
      return false;
    },
    missed: (count: number): void => {
      missing += count;
    },
    /** A row ended with a reply, or with an outcome. */
    ended: (kind: string): void => {
      rows[kind] = (rows[kind] ?? 0) + 1;
    },
    /** Results came, and none of them was the batch's. */
    isOthers: (): boolean => unknown > 0 && seen.size === 0,
    total: (): BatchReckoning => ({ rows: { ...rows }, missing, unknown, repeated }),
  };
}
