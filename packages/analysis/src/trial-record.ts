import type { RowPart, StoredReply, StorePort, SweepRecord } from "@hallumaze/engine";
import { type JudgeStorePort, sweepLevels, type TrialLevel } from "@hallumaze/judging";
import type { ReportPages, ReportRow } from "@hallumaze/reports";
import { parseStoredSpec } from "@hallumaze/sweep";

const pageSize = 200;

/** What a trial's scores were made from. */
export type Conversation = Pick<StoredReply, "replies" | "shadow" | "isPruned">;

/** A trial with its replies: all that reading, scoring and analysis need, without a ledger. */
export interface TrialRecord {
  readonly row: ReportRow;
  /** Null where the trial has no answer. */
  readonly conversation: Conversation | null;
}

/** The part of the ledger that a sweep's trials are read from. */
export type TrialSourceStore = Pick<StorePort, "streamTrials"> & Pick<JudgeStorePort, "judgementsOfSweep">;

/**
 * A sweep's trials with what its judges make of them, where it asks for judges. Levels are held in memory, a few words each.
 * `of`: rows hold no more than that, which is quicker to read.
 */
export async function* judgedTrials(
  store: TrialSourceStore,
  sweep: SweepRecord,
  { judges, of }: { readonly judges?: Set<string>; readonly of?: RowPart } = {},
): AsyncGenerator<readonly ReportRow[]> {
  const { judge } = parseStoredSpec(sweep.specJson);
  const levels = new Map<string, TrialLevel>();
  if (judge !== null) {
    for await (const page of sweepLevels(store, sweep.sweepId, judge)) {
      for (const [trialId, level] of page) {
        levels.set(trialId, level);
        for (const model of level.models) judges?.add(model);
      }
    }
  }
  for await (const page of store.streamTrials(sweep.sweepId, pageSize, of)) {
    yield page.map((row) => ({ ...row, judge: levels.get(row.trialId) ?? null }));
  }
}

/** The part of the ledger that replies are read from. */
export type ReplySourceStore = Pick<StorePort, "streamReplies" | "repliesOf">;

/** A sweep's trials, each with its replies, one at a time: all that there is to score again. */
export async function* trialRecords(
  store: TrialSourceStore & ReplySourceStore,
  sweep: SweepRecord,
): AsyncGenerator<TrialRecord> {
  yield* joinReplies(judgedTrials(store, sweep), store.streamReplies(sweep.sweepId, pageSize));
}

/**
 * The same with no more than `gatherData` looks at: of a reading its walk, and the replies of every `walkStep`th trial.
 * All of a million trials' are gigabytes.
 */
export async function* figureRecords(
  store: TrialSourceStore & ReplySourceStore,
  sweep: SweepRecord,
  walkStep: number,
): AsyncGenerator<TrialRecord> {
  const rows = judgedTrials(store, sweep, { of: "walk" });
  if (walkStep === 1) {
    yield* joinReplies(rows, store.streamReplies(sweep.sweepId, pageSize));
    return;
  }
  let number = 0;
  for await (const page of rows) {
    const wanted = page.filter(({ state }, at) => (number + at + 1) % walkStep === 0 && state === "done");
    number += page.length;
    const replies = await store.repliesOf(wanted.map(({ trialId }) => trialId));
    const byTrial = new Map(replies.map(({ trialId, ...conversation }) => [trialId, conversation]));
    for (const row of page) yield { row, conversation: byTrial.get(row.trialId) ?? null };
  }
}

/**
 * Puts replies to their rows. Both come in the same order, and not every row has replies; a reply whose row never comes
 * (a trial that ended between the two readings) is left out.
 */
export async function* joinReplies(
  rows: ReportPages,
  replies: AsyncIterable<readonly StoredReply[]>,
): AsyncGenerator<TrialRecord> {
  const waiting = new Map<string, StoredReply>();
  const source = replies[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for await (const page of rows) {
      for (const row of page) {
        while (row.state === "done" && !waiting.has(row.trialId) && !isOver && waiting.size < mostWaiting) {
          const next = await source.next();
          if (next.done === true) isOver = true;
          else for (const reply of next.value) waiting.set(reply.trialId, reply);
        }
        const reply = waiting.get(row.trialId);
        waiting.delete(row.trialId);
        const conversation =
          reply === undefined ? null : { replies: reply.replies, shadow: reply.shadow, isPruned: reply.isPruned };
        yield { row, conversation };
      }
    }
  } finally {
    await source.return?.();
  }
}

/** Replies held at most: one that is done and has none would else read all the others into memory. */
const mostWaiting = 4 * pageSize;
