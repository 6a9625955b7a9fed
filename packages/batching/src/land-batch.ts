import {
  type AskedRequest,
  callFactsOf,
  type ChatRequest,
  type ChatResult,
  enqueueTrials,
  exchangeOf,
  insist,
  type OpenTrial,
} from "@hallumaze/engine";

import { isJudgeLane } from "@hallumaze/sweep";

import { positionOf } from "./custom-ids.ts";
import type { DrivePorts } from "./drive-ports.ts";
import type { Batch, BatchRefusal, BatchResult, BatchResults, BatchRow, TrialRow } from "./ports.ts";
import { openReckoning } from "./reckoning.ts";
import { rowFailure } from "./row-failures.ts";

/** Rows at a time: memory stays flat whatever a batch's size. */
export const pageSize = 100;
const mostHttpMs = 2 ** 31 - 1;

/** Lands the results in whatever order they come, then what they do not hold. */
export async function land(
  ports: DrivePorts,
  batch: Batch,
  { results, rest }: Extract<BatchResults, { readonly kind: "rows" }>,
  signal: AbortSignal,
): Promise<void> {
  const reckoning = openReckoning();
  let page = new Map<number, BatchResult>();
  const flush = async (): Promise<void> => {
    const rows = await ports.store.findRows(batch.batchId, [...page.keys()]);
    await landRows(
      ports,
      batch,
      reckoning,
      rows,
      (row) => page.get(row.position)?.read(requestOf(batch, row), turnaroundOf(batch)),
      signal,
    );
    page = new Map();
  };
  for (const result of results) {
    const position = positionOf(batch.batchId, result.customId);
    if (!reckoning.came(position)) continue;
    if (position !== null) page.set(position, result);
    if (page.size >= pageSize) await flush();
  }
  // Of a batch that was taken for ours, not one id is ours.
  if (batch.isGuess && reckoning.isOthers()) return ports.store.unbindBatch(batch);
  await flush();
  const { outcome, message } = rest ?? unknownFate;
  const missing = rowFailure(outcome, message, turnaroundOf(batch));
  await landRest(ports, batch, reckoning, missing, signal);
}

/** It may have been answered, and paid. */
const unknownFate = { outcome: "transport", message: "the batch's results do not hold this request" } as const;

/** A count of one landing under way. */
export type Reckoning = ReturnType<typeof openReckoning>;

/** Lands one result for all rows that are left, and ends the batch. */
export async function landRest(
  ports: DrivePorts,
  batch: Batch,
  reckoning: Reckoning,
  result: ChatResult,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const rows = await ports.store.listRows(batch.batchId, -1, pageSize);
    if (rows.length === 0) break;
    if (result.kind === "failure" && result.outcome === "transport") reckoning.missed(rows.length);
    await landRows(ports, batch, reckoning, rows, () => result, signal);
  }
  const total = reckoning.total();
  await ports.store.finishBatch(batch, total);
  ports.observe.finished(batch, total);
}

/**
 * Records what came of each row as a live call's exchange, then gives the claims back: scoring follows from the record.
 * A judge's row becomes its judgement.
 */
export async function landRows(
  ports: DrivePorts,
  batch: Batch,
  reckoning: Reckoning,
  rows: readonly BatchRow[],
  resultOf: (row: BatchRow) => ChatResult | undefined,
  signal: AbortSignal,
): Promise<void> {
  let parking: {
    readonly failure: Pick<BatchRefusal, "outcome" | "message">;
    readonly park: NonNullable<BatchRefusal["park"]>;
  } | null = null as typeof parking;
  const notRun: number[] = [];
  const landed = await Promise.all(
    rows.map(async (row) => {
      const told = resultOf(row);
      if (told === undefined) return null;
      const wasCancelled = told.kind === "failure" && told.outcome === "cancelled";
      // We cancelled it: that is nobody's failure.
      if (batch.isLate && wasCancelled) {
        reckoning.ended("cancelled");
        notRun.push(row.position);
        return null;
      }
      const result: ChatResult = wasCancelled ? { ...told, ...cancelledThere } : told;
      const { trial } = row;
      if (trial === null) await ports.judging.land(batch, row, requestOf(batch, row), result);
      else await record(ports, batch, { ...row, trial }, result, signal);
      reckoning.ended(result.kind === "reply" ? "reply" : result.outcome);
      if (result.kind === "failure" && result.park !== null) parking = { failure: result, park: result.park };
      return row.position;
    }),
  );
  if (parking !== null) await park(ports, batch, parking.failure, parking.park);
  await ports.store.landRows(
    batch.batchId,
    landed.filter((position) => position !== null),
  );
  if (notRun.length > 0) await goLive(ports, batch, await ports.store.returnRows(batch.batchId, notRun));
}

async function record(
  ports: DrivePorts,
  batch: Batch,
  row: TrialRow,
  result: ChatResult,
  signal: AbortSignal,
): Promise<void> {
  const { batchId, exchangeId, subjectId: trialId } = row;
  const settings = await ports.settingsOf({ ...row.trial, lane: batch.lane });
  const asked: AskedRequest = { ...row, trialId, workerId: ports.workerId, limiterMs: null };
  const exchange = { ...exchangeOf(asked, result, settings), batch: { batchId, exchangeId } };
  const of = { trialId, onTrouble: (error: unknown) => ports.observe.trouble(batch, error) };
  const fate = await insist(ports, of, () => ports.store.recordExchange(exchange), signal);
  ports.observe.landed(batch, row, callFactsOf(result, exchange.costUsd), fate);
}

/** Not by us: in the vendor's console, or by the vendor. No operator of the sweep said so, so it goes again as a further try. */
const cancelledThere = {
  outcome: "overloaded",
  message: "the batch was cancelled at its vendor, not by this program; the request was not run",
} as const;

/** The request of a row. */
export function requestOf({ provider }: Batch, { requestJson }: BatchRow): ChatRequest {
  return { ...(JSON.parse(requestJson) as Omit<ChatRequest, "provider">), provider };
}

/** From the submission to now, in ms. */
export function turnaroundOf({ submitted }: Batch): number {
  return Math.min(mostHttpMs, submitted?.agoMs ?? 0);
}

/** The ledger says already that they go live: a delivery that is lost here is made again from it. */
export async function goLive(ports: DrivePorts, batch: Batch, trials: readonly OpenTrial[]): Promise<void> {
  if (trials.length === 0) return;
  await enqueueTrials(ports.queue, trials);
  ports.observe.wentLive(batch, trials.length);
}

/** Stops the lane: what waits in it is blocked until the lane is told to go on, or its time comes. */
export async function park(
  ports: DrivePorts,
  batch: Batch,
  failure: Pick<BatchRefusal, "outcome" | "message">,
  { reason, resumeAfterMs }: NonNullable<BatchRefusal["park"]>,
  giveBack?: () => Promise<unknown>,
): Promise<void> {
  await ports.limiter.park(ports.judging.limiterLaneOf(batch.lane), reason, resumeAfterMs);
  // Nothing more is asked in a parked lane, so what is given back now is blocked with all that waits.
  await giveBack?.();
  const block = isJudgeLane(batch.lane) ? ports.judging.blockLane : ports.store.blockLane;
  const blocked = await block(batch.lane, failure.outcome, failure.message);
  ports.observe.parked(batch, reason, blocked);
}
