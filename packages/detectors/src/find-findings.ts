import type { SweepAggregates } from "./aggregates.ts";
import { findConfidence } from "./confidence.ts";
import { detectorNames, type Finding } from "./finding.ts";
import { findIdenticalAnswers } from "./identical-answers.ts";
import { findLatencyJump } from "./latency-jump.ts";
import { findMirageUnseen } from "./mirage-unseen.ts";
import { findMissingUsage } from "./missing-usage.ts";
import { findNonAnswers } from "./non-answers.ts";
import { type CountPrompt, findPromptCut } from "./prompt-cut.ts";
import { findServedChange } from "./served-change.ts";
import { findThinkingExhausted } from "./thinking-exhausted.ts";
import { findTruncation } from "./truncation.ts";
import { findUnevenFailures } from "./uneven-failures.ts";
import { findUnknownFinish } from "./unknown-finish.ts";

/**
 * Runs every detector. Warnings come first, then in the order of `detectorNames`; the same aggregates give the same
 * findings. `countPrompt` estimates the tokens of a plan's first prompt. Empty where nothing is suspicious, or too few
 * trials have ended to say so.
 */
export function findFindings(aggregates: SweepAggregates, countPrompt: CountPrompt): readonly Finding[] {
  const findings = [
    ...findTruncation(aggregates),
    ...findThinkingExhausted(aggregates),
    ...findPromptCut(aggregates, countPrompt),
    ...findIdenticalAnswers(aggregates),
    ...findMirageUnseen(aggregates),
    ...findServedChange(aggregates),
    ...findUnevenFailures(aggregates),
    ...findMissingUsage(aggregates),
    ...findNonAnswers(aggregates),
    ...findConfidence(aggregates),
    ...findUnknownFinish(aggregates),
    ...findLatencyJump(aggregates),
  ];
  const rank = ({ severity, detector }: Finding): number =>
    (severity === "warning" ? 0 : detectorNames.length) + detectorNames.indexOf(detector);
  return findings.toSorted((a, b) => rank(a) - rank(b));
}
