import { type JudgeFlag, type Level, settleVerdicts } from "@hallumaze/judge";

import type { JudgeStorePort, StoredJudgement } from "./ports.ts";
import { asOpinion, countedVerdicts } from "./seek-consensus.ts";

/** What the judges of a sweep make of one trial, all their verdicts together. */
export interface TrialLevel {
  /** Null where there is none: see `unscoredReason`. */
  readonly level: Level | null;
  /** `open`: a further opinion is due; `needs_human`: three judges differ; else why a reply could not be read. */
  readonly unscoredReason: string | null;
  /** Median over the verdicts; null without one, or where no call was made. */
  readonly confidence: number | null;
  /** Highest minus lowest level of all verdicts. */
  readonly spread: 0 | 1 | 2 | null;
  /** precheck or judge. */
  readonly decidedBy: string;
  readonly verdicts: number;
  /** Judges that were asked, in order. */
  readonly models: readonly string[];
  readonly promptVersion: string;
  readonly rubricVersion: string;
  readonly counterArgument: string | null;
  readonly flags: readonly JudgeFlag[];
}

/** Reads the level of every judged trial of a sweep, a page at a time. */
export async function* sweepLevels(
  store: Pick<JudgeStorePort, "judgementsOfSweep">,
  sweepId: string,
  options: { readonly consensusBelow: number; readonly repeats: number },
): AsyncGenerator<readonly (readonly [trialId: string, level: TrialLevel])[]> {
  for await (const page of store.judgementsOfSweep(sweepId, 500)) {
    yield page.flatMap(({ trialId, judgements }) => {
      const level = trialLevel(judgements, options);
      return level === null ? [] : [[trialId, level] as const];
    });
  }
}

/** Settles the judges' verdicts on one result; null where no judge has said anything. */
export function trialLevel(
  judgements: readonly StoredJudgement[],
  options: { readonly consensusBelow: number; readonly repeats: number },
): TrialLevel | null {
  const counted = countedVerdicts(judgements);
  const last = counted.at(-1);
  if (last === undefined) return null;
  const common = {
    verdicts: counted.length,
    models: [...new Set(counted.map(({ modelAsked }) => modelAsked))],
    promptVersion: last.promptVersion,
    rubricVersion: last.rubricVersion,
    counterArgument: last.counterArgument,
    flags: [...new Set(counted.flatMap(({ flags }) => flags))],
  };
  const checked = counted.find(({ decidedBy }) => decidedBy === "precheck");
  if (checked !== undefined) {
    const { level, unscoredReason } = checked;
    return { ...common, decidedBy: "precheck", level, unscoredReason, confidence: null, spread: null };
  }
  const settled = settleVerdicts(counted.flatMap(asOpinion), options);
  const unscored = (unscoredReason: string): TrialLevel => ({
    ...common,
    decidedBy: "judge",
    level: null,
    unscoredReason,
    confidence: null,
    spread: null,
  });
  switch (settled.kind) {
    case "settled":
      return {
        ...common,
        decidedBy: "judge",
        level: settled.level,
        unscoredReason: null,
        confidence: settled.confidence,
        spread: settled.spread,
      };
    case "needs":
      return unscored("open");
    case "needsHuman":
      return unscored("needs_human");
    case "unscored":
      return unscored(settled.reason);
  }
}
