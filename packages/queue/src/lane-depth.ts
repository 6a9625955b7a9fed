import type { LaneDepth } from "@hallumaze/engine";
import type { JobType } from "bullmq";

import type { LaneQueue } from "./back-end.ts";

/** Counts what a lane holds, the same on both back ends, paused or not. */
export async function readLaneDepth(queue: LaneQueue): Promise<LaneDepth> {
  // A paused queue's jobs count as "paused" on Postgres and as "wait" on Redis; together they are right on both. BullMQ 6
  // takes that state and no longer names it in its type.
  const counts = await queue.getJobCounts("wait", "paused" as JobType, "prioritized", "active", "delayed");
  const count = (state: string): number => counts[state] ?? 0;
  return {
    waiting: count("wait") + count("paused") + count("prioritized"),
    active: count("active"),
    delayed: count("delayed"),
  };
}
