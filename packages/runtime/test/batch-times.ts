import type { BatchTimes } from "../src/batch-worker.ts";

/** Times of batches that fit into a test. */
export const shortBatchTimes: BatchTimes = {
  lookMs: 20,
  lookAtMostMs: 50,
  settleMs: 200,
  lagMs: 1000,
  quietMs: 60,
  longestMs: 2000,
};
