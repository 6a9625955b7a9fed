import { mean, median, sampleStandardDeviation } from "simple-statistics";

/** What a list of values comes to. Missing values are counted, never taken as 0. */
export interface Summary {
  /** How many values there are. */
  readonly n: number;
  readonly missing: number;
  /** Null where n is 0, as is `median`. */
  readonly mean: number | null;
  readonly median: number | null;
  /** The sample's standard deviation, with n - 1; null where n is below 2. */
  readonly sd: number | null;
}

/** Summarises values, null meaning missing; throws a RangeError on a value that is not finite. */
export function summarise(values: readonly (number | null)[]): Summary {
  const known = values.filter((value) => value !== null);
  if (!known.every(Number.isFinite)) throw new RangeError("a value is not finite");
  const { length: n } = known;
  return {
    n,
    missing: values.length - n,
    mean: n === 0 ? null : mean(known),
    median: n === 0 ? null : median(known),
    sd: n < 2 ? null : sampleStandardDeviation(known),
  };
}
