import { mean, sampleStandardDeviation } from "simple-statistics";

/**
 * Glass's delta of values against a constant: |constant - mean| / sd, with n - 1 in the standard deviation. 0 or more.
 * Null with fewer than two values or where they do not differ. SOURCE: Glass (1976), Educational Researcher 5(10):3-8; the
 * form with a constant as the published analysis has it (spec/analysis.md).
 */
export function glassDelta(values: readonly number[], constant: number): number | null {
  if (values.length < 2) return null;
  const sd = sampleStandardDeviation(values);
  return sd === 0 ? null : Math.abs(constant - mean(values)) / sd;
}
