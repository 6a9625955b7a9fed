import type { BatchRow, Gatherer, GatherSource, JudgingPort } from "@hallumaze/batching";
import type { LimiterPort } from "@hallumaze/engine";
import {
  type JudgeCall,
  type JudgePorts,
  type JudgeStorePort,
  landJudgement,
  limiterLaneOf,
  runJudgement,
} from "@hallumaze/judging";

import type { JudgeCatalog } from "./judge-catalog.ts";
import { judgePorts, type JudgeWorkerOptions } from "./judge-worker.ts";
import type { WorkerTimes } from "./worker.ts";

/** The requests to judges of a batch worker: how they are gathered, and how they go on from what lands. */
export interface BatchJudgements {
  readonly source: GatherSource;
  readonly port: JudgingPort;
}

/** What a judge's reply is read with, as it stands with its row. */
type Reading = JudgeCall["text"];

/** Opens them. Each row is a session of its own, with its own nonce: what shares a batch shares nothing else. */
export function openBatchJudgements(
  options: Omit<JudgeWorkerOptions, "provider" | "queue" | "concurrency" | "rehearsal"> & {
    readonly store: JudgeStorePort;
    readonly limiter: LimiterPort;
  },
  times: WorkerTimes,
  catalog: JudgeCatalog,
  gatherer: () => Pick<Gatherer, "take">,
  isDraining: () => boolean,
): BatchJudgements {
  const { store } = options;
  const provider = {
    complete: async () => {
      throw new Error("a request to a judge of a batch lane must not be sent by itself");
    },
  };
  const held = { claims: new Map(), reservations: new Map() };
  const ports: JudgePorts = {
    ...judgePorts({ ...options, provider }, times, held, catalog),
    isDraining,
    limiterOf: () => null,
    defer: async (claim, { attempt, tryNumber, request, text: { nonce, promptHash }, boundUsd }) => {
      const { sweepId, lane, requestId: subjectId, fence } = claim;
      // What stands in no sweep is asked live: whoever wants it waits for it.
      if (sweepId === null) throw new Error(`request ${subjectId} of no sweep waits in the batch lane ${lane}`);
      const readingJson = JSON.stringify({ nonce, promptHash } satisfies Reading);
      const { keyEnv } = claim.plan.judge;
      const row = { subjectId, fence, turn: attempt, tryNumber, queueMs: null, boundUsd, readingJson };
      return gatherer().take({ ...row, lane, sweepId, liveLane: null, liveGroup: null, keyEnv, request });
    },
  };
  return {
    source: {
      listOpen: (lane, size) => store.listOpenJudges(lane, size),
      run: (delivery, signal) => runJudgement(ports, delivery, signal),
    },
    port: {
      land: async (batch, row, request, result) => {
        const { subjectId, fence, turn: attempt, tryNumber, exchangeId: judgementId } = row;
        const call = { fence, attempt, tryNumber, request, text: readingOf(row) };
        await landJudgement(ports, subjectId, { ...call, batch: { batchId: batch.batchId, judgementId } }, result);
      },
      blockLane: (lane, outcome, message) => store.blockJudgeLane(lane, outcome, message),
      limiterLaneOf,
    },
  };
}

function readingOf({ readingJson, batchId, position }: BatchRow): Reading {
  if (readingJson === null) throw new Error(`row ${position} of batch ${batchId} is neither a trial's nor a judge's`);
  return JSON.parse(readingJson) as Reading;
}
