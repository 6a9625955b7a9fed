import { type Judgement, settleVerdicts, type UnreadableReason } from "@hallumaze/judge";

import type { JudgeSettings } from "./judge-ports.ts";
import { heuristicName } from "./judgement-records.ts";
import type { JudgeClaim, JudgePlan, JudgeRound, JudgeStorePort, StoredJudgement } from "./ports.ts";
import { requestRow } from "./request-judgements.ts";

/**
 * Verdicts of judges on one result, as consensus counts them: of the judge that was asked last and those whom it called
 * in, with its prompt, rubric and generation; one a request, no dry run, no heuristic.
 */
export function countedVerdicts(judgements: readonly StoredJudgement[]): readonly StoredJudgement[] {
  const opinions = judgements.filter(({ scoredBy, round }) => scoredBy !== heuristicName && round !== "dryRun");
  const last = opinions.findLast(({ round }) => round === "first");
  if (last === undefined) return [];
  const byRequest = new Map<string, StoredJudgement>();
  for (const judgement of opinions) {
    const { modelAsked, promptVersion, rubricVersion, round, repeat } = judgement;
    const isFurther = round === "second" || round === "third";
    const isOfLast =
      promptVersion === last.promptVersion &&
      rubricVersion === last.rubricVersion &&
      generationOf(judgement) === generationOf(last) &&
      (isFurther || modelAsked === last.modelAsked);
    if (isOfLast) byRequest.set(`${round} ${repeat}`, judgement);
  }
  return [...byRequest.values()];
}

/** How often the same question had been asked anew before. */
export function generationOf({ paramsJson }: StoredJudgement): number {
  const { generation } = JSON.parse(paramsJson) as { readonly generation?: unknown };
  return typeof generation === "number" ? generation : 0;
}

/** A stored judgement as consensus reads it; nothing for a dry run. */
export function asOpinion({ round, status, level, confidence, unscoredReason }: StoredJudgement): readonly Judgement[] {
  if (round === "dryRun") return [];
  if (status === "verdict" && level !== null) {
    return [{ round, outcome: { kind: "verdict", level, confidence: confidence ?? 0 } }];
  }
  return [{ round, outcome: { kind: "unreadable", reason: reasonOf(unscoredReason) } }];
}

/** The reason stands before the colon of what was stored. */
function reasonOf(stored: string | null): UnreadableReason {
  return (stored?.split(":", 1)[0] ?? "notOneObject") as UnreadableReason;
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
  if (claim.plan.round === "dryRun" || claim.plan.alone === true) return;
  const result = await store.findResult(claim.resultId);
  if (result === null) return;
  const counted = countedVerdicts(result.judgements);
  // What is decided without a call needs no second opinion.
  if (counted.some(({ decidedBy }) => decidedBy === "precheck")) return;
  const settled = settleVerdicts(counted.flatMap(asOpinion), {
    consensusBelow: settings.consensusBelow,
    repeats: settings.repeats,
  });
  if (settled.kind !== "needs" || settled.round === "repeat") return;
  const round: JudgeRound = settled.round;
  const second = settings.secondJudge ?? { judge: claim.plan.judge, lane: claim.lane };
  const plan: JudgePlan = { ...claim.plan, judge: second.judge, round, repeat: 0 };
  await store.requestJudgements([requestRow(claim, second.lane, plan)]);
}
