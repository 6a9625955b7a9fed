/** A coefficient of agreement or correlation, or why there is none. */
export interface Coefficient {
  /** At most 1; null where it is undefined. */
  readonly value: number | null;
  /** How many items entered. */
  readonly n: number;
  /** Null where there is a value. `singleClass`: all ratings are the same, so that chance alone would agree too. */
  readonly undefinedBecause: "noItems" | "singleClass" | null;
}

/** A coefficient that has a value. */
export function defined(value: number, n: number): Coefficient {
  return { value, n, undefinedBecause: null };
}

/** A coefficient that has none. */
export function undefinedFor(reason: "noItems" | "singleClass", n: number): Coefficient {
  return { value: null, n, undefinedBecause: reason };
}
