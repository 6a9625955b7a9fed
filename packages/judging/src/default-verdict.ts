import type { JudgeIdentity, Level } from "@hallumaze/judge";

import { heuristicName } from "./judgement-records.ts";
import type { JudgeStorePort, StoredJudgement } from "./ports.ts";
import { generationOf } from "./seek-consensus.ts";
import { trialLevel } from "./sweep-levels.ts";

/** Whether one judge's verdicts are the default. */
export interface GateState {
  readonly open: boolean;
  /** Why it is closed, one sentence each; empty where open. */
  readonly refusals: readonly string[];
  /** Null: this judge was never calibrated with this prompt and rubric. */
  readonly calibratedAtMs: number | null;
}

/** How judges' opinions are brought together. */
export interface Consensus {
  /** Below this confidence another opinion is asked; 0 … 1. */
  readonly consensusBelow: number;
  /** How often the first judge is asked, 1 or more. */
  readonly repeats: number;
}

/** What stands for a result now. */
export interface DefaultVerdict {
  /** Null where there is none: see `unscoredReason`. */
  readonly level: Level | null;
  readonly unscoredReason: string | null;
  /** 0 … 1, over all opinions; null where nobody stated one. */
  readonly confidence: number | null;
  /** Highest minus lowest level of the opinions; null without a settled one. */
  readonly spread: number | null;
  /** The judgement whose words are shown; null where no judgement is kept. */
  readonly basis: StoredJudgement | null;
  /** True where the heuristic bridges an outage of the judge. */
  readonly fallback: boolean;
  /** True where a judgement that is under way may change it. */
  readonly provisional: boolean;
  /** True where only a person can settle it. */
  readonly needsHuman: boolean;
}

/** A judge that was never measured with this prompt and rubric. */
const neverCalibrated: GateState = {
  open: false,
  refusals: ["This judge was not calibrated with this prompt and rubric."],
  calibratedAtMs: null,
};

/**
 * Reads the gate of one judge, prompt and rubric from its newest calibration on a test split. A change of any of them names
 * another gate, which is closed until it is measured.
 */
export async function gateStateOf(
  store: Pick<JudgeStorePort, "findCalibration">,
  judge: JudgeIdentity,
): Promise<GateState> {
  const found = await store.findCalibration(judge);
  if (found === null || found.promptVersion !== judge.promptVersion) return neverCalibrated;
  return { open: found.open, refusals: found.refusals, calibratedAtMs: found.createdAtMs };
}

/**
 * The verdict that stands for a result: the heuristic's while the gate is closed, then the judges' settled one. During an
 * outage the heuristic stands in, marked so, as long as the judge's request is open. Null where nothing stands yet.
 *
 * A request that ended without a verdict never brings the heuristic back: the candidate may have provoked that end.
 */
export function defaultVerdict(given: {
  readonly judgements: readonly StoredJudgement[];
  readonly openRequests: number;
  readonly judge: JudgeIdentity;
  readonly gate: Pick<GateState, "open">;
  readonly consensus: Consensus;
}): DefaultVerdict | null {
  const { judgements, openRequests, judge, gate, consensus } = given;
  if (!gate.open) return heuristicVerdict(judgements.findLast(isRegularHeuristic));
  const settled = judgeVerdict(judgements, judge, consensus);
  if (settled !== null || openRequests === 0) return settled;
  return heuristicVerdict(
    judgements.findLast((judgement) => judgement.scoredBy === heuristicName && judgement.fallback),
  );
}

/** What one judge, and whom it called in, make of a result, whatever its gate; null where it has not spoken. */
export function judgeVerdict(
  judgements: readonly StoredJudgement[],
  judge: JudgeIdentity,
  consensus: Consensus,
): DefaultVerdict | null {
  const counted = newestGeneration(judgements.filter((judgement) => isOpinionOf(judgement, judge)));
  const level = trialLevel(counted, consensus);
  const first = counted.findLast(({ round }) => round === "first");
  if (level === null || first === undefined) return null;
  const isOpen = level.unscoredReason === "open";
  const shown = isOpen ? first.level : level.level;
  return {
    level: shown,
    // Beside a first opinion that a second one is asked about, "open" would say that there is none.
    unscoredReason: isOpen && first.level !== null ? null : level.unscoredReason,
    confidence: isOpen ? first.confidence : level.confidence,
    spread: level.spread,
    basis: counted.find((judgement) => shown !== null && judgement.level === shown) ?? first,
    fallback: false,
    provisional: isOpen,
    needsHuman: level.unscoredReason === "needs_human" || (level.decidedBy === "precheck" && level.level === null),
  };
}

/** The newest dry-run judgement of a judge, beside what stands for the result; null before the first. */
export function dryRunJudgement(judgements: readonly StoredJudgement[], judge: JudgeIdentity): StoredJudgement | null {
  return (
    judgements.findLast(
      (judgement) => judgement.round === "dryRun" && isBy(judgement, judge) && isFirstJudge(judgement, judge),
    ) ?? null
  );
}

/** One judgement as it is shown, without the others. */
export function loneVerdict(judgement: StoredJudgement): DefaultVerdict {
  const { level, unscoredReason, confidence, fallback, provisional, status, decidedBy } = judgement;
  return {
    level,
    unscoredReason,
    confidence,
    spread: null,
    basis: judgement,
    fallback,
    provisional,
    needsHuman: status === "unscored" && decidedBy === "precheck",
  };
}

/** True for the heuristic's own verdict, false for one that bridged an outage. */
export function isRegularHeuristic({ scoredBy, fallback }: StoredJudgement): boolean {
  return scoredBy === heuristicName && !fallback;
}

function heuristicVerdict(judgement: StoredJudgement | undefined): DefaultVerdict | null {
  return judgement === undefined ? null : loneVerdict(judgement);
}

/** Of the judge itself in its own rounds, of anybody in those of the further opinions. */
function isOpinionOf(judgement: StoredJudgement, judge: JudgeIdentity): boolean {
  if (judgement.scoredBy === heuristicName || judgement.round === "dryRun") return false;
  const isFurther = judgement.round === "second" || judgement.round === "third";
  return isBy(judgement, judge) && (isFurther || isFirstJudge(judgement, judge));
}

/** What is decided before any call has no prompt, and so no hash of one. */
function isBy(judgement: StoredJudgement, { promptVersion, promptHash, rubricVersion }: JudgeIdentity): boolean {
  return (
    judgement.promptVersion === promptVersion &&
    judgement.rubricVersion === rubricVersion &&
    (judgement.promptHash === promptHash || judgement.decidedBy === "precheck")
  );
}

function isFirstJudge({ modelAsked }: StoredJudgement, { judgeModel }: JudgeIdentity): boolean {
  return modelAsked === judgeModel;
}

/** A judge that is asked again replaces what it said before; verdicts of two generations are no two opinions. */
function newestGeneration(judgements: readonly StoredJudgement[]): readonly StoredJudgement[] {
  const newest = Math.max(0, ...judgements.filter(({ round }) => round === "first").map(generationOf));
  return judgements.filter((judgement) => generationOf(judgement) === newest);
}
