import { settleVerdicts } from "@hallumaze/judge";

import type { JudgeSettings } from "./judge-ports.ts";
import { heuristicName } from "./judgement-records.ts";
import type { JudgeClaim, JudgePlan, JudgeRound, JudgeStorePort, StoredJudgement } from "./ports.ts";
import { requestRow } from "./request-judgements.ts";

/** Verdicts of judges on one result, as consensus counts them: one a request, no dry run, no heuristic. */
export function countedVerdicts(judgements: readonly StoredJudgement[]): readonly StoredJudgement[] {
  const byRequest = new Map<string, StoredJudgement>();
  for (const judgement of judgements) {
    if (judgement.scoredBy === heuristicName || judgement.round === "dryRun") continue;
    const { modelAsked, promptVersion, rubricVersion, round, repeat, paramsJson } = judgement;
    byRequest.set(JSON.stringify([modelAsked, promptVersion, rubricVersion, round, repeat, paramsJson]), judgement);
  }
  return [...byRequest.values()];
}

/**
 * Asks for a further opinion where the verdicts so far call for one: the first judge is unsure, its repeats disagree, or
 * two judges do. Repeating it asks nothing twice.
 */
export async function askFurther(
  store: Pick<JudgeStorePort, "findResult" | "requestJudgements">,
  claim: JudgeClaim,
  settings: JudgeSettings,
): Promise<void> {
  if (claim.plan.round === "dryRun") return;
  const result = await store.findResult(claim.resultId);
  if (result === null) return;
  const settled = settleVerdicts(countedVerdicts(result.judgements), {
    consensusBelow: settings.consensusBelow,
    repeats: settings.repeats,
  });
  if (settled.kind !== "needs" || settled.round === "repeat") return;
  const round: JudgeRound = settled.round;
  const second = settings.secondJudge ?? { judge: claim.plan.judge, lane: claim.lane };
  const plan: JudgePlan = { ...claim.plan, judge: second.judge, round, repeat: 0 };
  await store.requestJudgements([requestRow(claim, second.lane, plan)]);
}
