import { setTimeout as sleep } from "node:timers/promises";

import type { QueuePort } from "@hallumaze/engine";
import { createRandom } from "@hallumaze/foundation";
import {
  calibrate,
  type CalibrationReport,
  decideGate,
  type GateDecision,
  type GoldItem,
  type GoldSet,
  type GoldSplit,
  heuristicLevel,
  type JudgePromptVersion,
  promptHash,
  type RepeatVerdict,
  rubricVersion,
} from "@hallumaze/judge";

import { heuristicName, paramsJsonOf } from "./judgement-records.ts";
import type { JudgeModel, JudgePlan, JudgeStorePort, StoredJudgement } from "./ports.ts";
import { deliverPlanned, requestRow } from "./request-judgements.ts";

/** What a calibration asks for. */
export interface CalibrationWish {
  readonly judge: JudgeModel;
  readonly lane: string;
  readonly promptVersion: JudgePromptVersion;
  readonly goldSet: GoldSet;
  readonly split: GoldSplit | "all";
  /** How often each item is judged, 1 or more; above 1 the report has a flip rate. */
  readonly repeats: number;
  /** Raised to ask about the same items anew. */
  readonly generation: number;
}

/** What came of a calibration. */
export type CalibrationOutcome =
  | {
      readonly kind: "calibrated";
      readonly report: CalibrationReport;
      readonly gate: GateDecision;
      readonly costUsd: number | null;
    }
  /** Requests that the provider failed or that a parked lane blocks: nothing is recorded, and the same call goes on. */
  | { readonly kind: "incomplete"; readonly missing: number; readonly firstMessage: string }
  | { readonly kind: "interrupted" };

/** What calibrating needs: a judge worker has to be at work on the same queue. */
export interface CalibrationPorts {
  readonly store: Pick<
    JudgeStorePort,
    | "goldResults"
    | "requestJudgements"
    | "takePlannedJudges"
    | "openJudgesOf"
    | "judgementsOf"
    | "addCalibration"
    | "countLooks"
  >;
  readonly queue: Pick<QueuePort, "enqueue">;
}

const lookEveryMs = 200;

/**
 * Has a judge grade a gold set's items blind, as any other result, and measures how far it agrees with people. The same set,
 * judge and prompt ask nothing twice: an interrupted calibration goes on. On the test split the look is counted and the
 * gate's decision kept.
 */
export async function calibrateJudge(
  ports: CalibrationPorts,
  wish: CalibrationWish,
  signal: AbortSignal,
  onProgress: (open: number, all: number) => void = () => undefined,
): Promise<CalibrationOutcome> {
  const { goldSet, judge, promptVersion, split } = wish;
  const items = goldSet.items.filter((item) => split === "all" || item.split === split);
  const resultIds = await ports.store.goldResults(goldSet.id, items.map(toGoldResult));
  const rows = resultIds.flatMap((resultId) =>
    plansOf(wish).map((plan) => requestRow({ resultId, sweepId: null }, wish.lane, plan)),
  );
  await ports.store.requestJudgements(rows);
  await deliverPlanned(ports);
  for (;;) {
    const { open, failed, firstMessage } = await ports.store.openJudgesOf(rows.map(({ requestKey }) => requestKey));
    onProgress(open, rows.length);
    if (open === 0 && failed > 0) return { kind: "incomplete", missing: failed, firstMessage };
    if (open === 0) break;
    if (signal.aborted) return { kind: "interrupted" };
    await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
  const judgements = await ports.store.judgementsOf(resultIds);
  const own = judgements.filter((judgement) => isOf(judgement, wish));
  const verdicts = new Map(items.map((item, at) => [item.id, verdictsOf(own, resultIds[at] ?? "", wish.repeats)]));
  const looks = split === "dev" ? 0 : (await ports.store.countLooks(goldSet.id)) + 1;
  const identity = {
    judgeModel: `${judge.provider}/${judge.model}`,
    promptVersion,
    promptHash: promptHash(promptVersion),
    rubricVersion,
  };
  const report = calibrate({
    judge: identity,
    goldSet,
    split,
    verdicts,
    heuristic: new Map(items.map((item) => [item.id, heuristicLevel(toJudged(item)).level])),
    lookCount: looks,
    random: createRandom(`calibration ${goldSet.id}`),
  });
  const gate = decideGate(report);
  await ports.store.addCalibration({
    ...identity,
    goldSetId: goldSet.id,
    split,
    items: report.n,
    agreed: report.agreement.count,
    open: gate.open,
    refusals: gate.refusals,
    reportJson: JSON.stringify(report),
  });
  return { kind: "calibrated", report, gate, costUsd: sumCost(own) };
}

function toGoldResult({ scenario, response }: GoldItem) {
  return { scenario, response };
}

function toJudged({ scenario, response }: GoldItem) {
  return { scenario, response, truncated: false, facts: null };
}

function plansOf({ judge, promptVersion, repeats, generation }: CalibrationWish): readonly JudgePlan[] {
  return Array.from({ length: repeats }, (_, repeat) => ({
    judge,
    promptVersion,
    round: repeat === 0 ? ("first" as const) : ("repeat" as const),
    repeat,
    generation,
    alone: true,
  }));
}

function isOf(judgement: StoredJudgement, { judge, promptVersion, generation }: CalibrationWish): boolean {
  return (
    judgement.scoredBy !== heuristicName &&
    judgement.modelAsked === `${judge.provider}/${judge.model}` &&
    judgement.promptVersion === promptVersion &&
    judgement.rubricVersion === rubricVersion &&
    // A second opinion of the same judge has a repeat's number too, and is no part of what is measured.
    (judgement.round === "first" || judgement.round === "repeat") &&
    judgement.paramsJson === paramsJsonOf({ judge, generation })
  );
}

/** Each repeat's last judgement: a "format only" call replaces the unreadable one before it. */
function verdictsOf(
  judgements: readonly StoredJudgement[],
  resultId: string,
  repeats: number,
): readonly RepeatVerdict[] {
  const ofResult = judgements.filter((judgement) => judgement.resultId === resultId);
  return Array.from({ length: repeats }, (_, repeat) =>
    ofResult.findLast((judgement) => judgement.repeat === repeat),
  ).flatMap((judgement) =>
    judgement === undefined
      ? []
      : [
          {
            level: judgement.level,
            confidence: judgement.confidence,
            unscoredReason: judgement.unscoredReason,
            reasoning: judgement.reasoning,
          },
        ],
  );
}

function sumCost(judgements: readonly StoredJudgement[]): number | null {
  const costs = judgements.map(({ costUsd, decidedBy }) => (decidedBy === "precheck" ? "0" : costUsd));
  return costs.some((cost) => cost === null) ? null : costs.reduce((sum, cost) => sum + Number(cost), 0);
}
