import { clopperPearson } from "@hallumaze/statistics";

import { thresholds } from "./thresholds.ts";

/** Whether the rate behind `hits` of `n` is above `rate`, by the lower bound of an exact interval: few trials prove little. */
export function isAbove(hits: number, n: number, rate: number): boolean {
  const interval = clopperPearson(hits, n, thresholds.credibleLevel);
  return interval !== null && interval.lo > rate;
}
