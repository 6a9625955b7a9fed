import type { ScoredTrial, StorePort, SweepRecord } from "./ports/store.ts";
import { scoreConversation } from "./score-reply.ts";

const pageSize = 200;

/** What rescoring did. */
export interface RescoreReport {
  readonly rescored: number;
  /** Replies whose text was pruned: their scores stand as they were. */
  readonly pruned: number;
  /** Replies that the pure part could not score: a defect of ours, with the first message. */
  readonly failed: number;
  readonly firstMessage: string | null;
}

/** Reads, walks and scores every stored reply of a sweep again. No provider is asked; the same program changes nothing. */
export async function rescoreSweep(
  store: Pick<StorePort, "streamReplies" | "saveScores">,
  sweep: SweepRecord,
  signal: AbortSignal,
): Promise<RescoreReport> {
  let rescored = 0;
  let pruned = 0;
  let failed = 0;
  let firstMessage: string | null = null;
  for await (const page of store.streamReplies(sweep.sweepId, pageSize)) {
    signal.throwIfAborted();
    const saved: { readonly trialId: string; readonly scored: ScoredTrial }[] = [];
    for (const reply of page) {
      if (reply.isPruned) {
        pruned += 1;
        continue;
      }
      try {
        saved.push({ trialId: reply.trialId, scored: scoreConversation(reply.plan, reply.replies, reply) });
      } catch (error) {
        failed += 1;
        firstMessage ??= `${reply.trialId}: ${error instanceof Error ? error.message : String(error)}`;
      }
    }
    await store.saveScores(saved);
    rescored += saved.length;
  }
  return { rescored, pruned, failed, firstMessage };
}
