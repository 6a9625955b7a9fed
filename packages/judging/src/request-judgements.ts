import { enqueueTrials, type QueuePort } from "@hallumaze/engine";
import { contentId } from "@hallumaze/foundation";
import type { JudgePromptVersion } from "@hallumaze/judge";
import { isBatchLane } from "@hallumaze/sweep";

import type { JudgeModel, JudgePlan, JudgeRequestRow, JudgeStorePort } from "./ports.ts";

const pageSize = 500;

/** Who judges a sweep's trials, and which of them. */
export interface SweepJudging {
  readonly sweepId: string;
  readonly judge: JudgeModel;
  readonly lane: string;
  readonly promptVersion: JudgePromptVersion;
  /** 0 … 1: the share of trials that is judged, drawn by cell. */
  readonly share: number;
  readonly repeats: number;
  /** Raised to ask the same judge about the same results again. */
  readonly generation: number;
}

/**
 * Asks a sweep's judge about every done trial that it was not asked about, and hands the requests to the queue. Idempotent:
 * the same question is one row, whoever asks it. Gives how many requests are new.
 */
export async function requestJudgements(
  ports: {
    readonly store: Pick<JudgeStorePort, "listUnjudged" | "requestJudgements" | "takePlannedJudges">;
    readonly queue: Pick<QueuePort, "enqueue">;
  },
  judging: SweepJudging,
  signal: AbortSignal,
): Promise<number> {
  const { sweepId, judge, share, repeats, generation } = judging;
  let added = 0;
  let after: string | null = null;
  for (;;) {
    signal.throwIfAborted();
    const options = { judge: judgeKey(judging), share, limit: pageSize, after };
    const page: Awaited<ReturnType<JudgeStorePort["listUnjudged"]>> = await ports.store.listUnjudged(sweepId, options);
    const rows = page.flatMap(({ resultId }) =>
      Array.from({ length: repeats }, (_, repeat) => {
        const plan: JudgePlan = {
          judge,
          promptVersion: judging.promptVersion,
          round: repeat === 0 ? "first" : "repeat",
          repeat,
          generation,
        };
        return requestRow({ resultId, sweepId }, judging.lane, plan);
      }),
    );
    if (rows.length > 0) added += await ports.store.requestJudgements(rows);
    await deliverPlanned(ports);
    if (page.length < pageSize) return added;
    after = page.at(-1)?.trialId ?? null;
  }
}

/** Names a judge with its prompt and generation, as `listUnjudged` compares them. */
export function judgeKey({
  judge,
  promptVersion,
  generation,
}: Pick<SweepJudging, "judge" | "promptVersion" | "generation">): string {
  return `${judge.provider}/${judge.model} ${promptVersion} ${generation}`;
}

/** Hands planned requests to the queue; gives how many. */
export async function deliverPlanned(ports: {
  readonly store: Pick<JudgeStorePort, "takePlannedJudges">;
  readonly queue: Pick<QueuePort, "enqueue">;
}): Promise<number> {
  let delivered = 0;
  for (;;) {
    const planned = await ports.store.takePlannedJudges(pageSize);
    await enqueueTrials(ports.queue, planned);
    delivered += planned.length;
    if (planned.length < pageSize) return delivered;
  }
}

/** Compares the ledger's requests with the queue and repairs the queue, as `reconcile` does for trials. */
export async function reconcileJudges(
  ports: {
    readonly store: Pick<
      JudgeStorePort,
      "reclaimLostJudges" | "listOpenJudgeLanes" | "listOpenJudges" | "takePlannedJudges"
    >;
    readonly queue: QueuePort;
  },
  isDead: (workerId: string) => boolean,
): Promise<number> {
  const reclaimed = await ports.store.reclaimLostJudges(isDead);
  await enqueueTrials(ports.queue, reclaimed);
  return reclaimed.length + (await refillJudgeQueue(ports));
}

/** Delivers again what the queue lost, and leaves running requests to their workers; gives the number of deliveries. */
export async function refillJudgeQueue(ports: {
  readonly store: Pick<JudgeStorePort, "listOpenJudgeLanes" | "listOpenJudges" | "takePlannedJudges">;
  readonly queue: QueuePort;
}): Promise<number> {
  const { store, queue } = ports;
  let redelivered = await deliverPlanned(ports);
  for (const { lane, open } of await store.listOpenJudgeLanes(null)) {
    if (isBatchLane(lane)) continue;
    const depth = await queue.depth(lane);
    if (depth.waiting + depth.active + depth.delayed >= open) continue;
    for await (const page of store.listOpenJudges(lane, pageSize)) {
      await queue.enqueue(lane, page);
      redelivered += page.length;
    }
  }
  return redelivered;
}

/** The row that asks a judge about a result; the same question is the same row. */
export function requestRow(
  of: { readonly resultId: string; readonly sweepId: string | null },
  lane: string,
  plan: JudgePlan,
): JudgeRequestRow {
  const { judge, promptVersion, round, repeat, generation } = plan;
  const identity = [of.resultId, { ...judge, params: { ...judge.params } }, promptVersion, round, repeat, generation];
  return { resultId: of.resultId, sweepId: of.sweepId, lane, requestKey: contentId(identity), plan };
}
