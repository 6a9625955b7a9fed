import { createRandom, sha256Hex } from "@hallumaze/foundation";
import {
  type CalibrationReport,
  type ConfusionMatrix,
  correctedMean,
  type Fitness,
  type JudgeIdentity,
  type Level,
  predictionPoweredMean,
} from "@hallumaze/judge";

import { type Consensus, judgeVerdict } from "./default-verdict.ts";
import type { JudgeStorePort } from "./ports.ts";

/** Which results a mean is asked for. */
export type FitnessScope =
  | { readonly kind: "results"; readonly resultIds: readonly string[] }
  /** The judged trials of a sweep. */
  | { readonly kind: "sweep"; readonly sweepId: string };

/** A corrected mean, or why there is none. `unknown` names the results that do not exist. */
export type FitnessAnswer = Fitness | { readonly kind: "unknown"; readonly resultIds: readonly string[] };

/**
 * The mean level of results, corrected for how their judge errs on its gold set. Refuses while the judge's gate is closed.
 * The same ledger gives the same numbers: the bootstrap is seeded by judge and scope.
 *
 * `samePopulation` is the caller's word that the gold set was drawn from these results: then the prediction-powered mean.
 */
export async function measureFitness(
  store: Pick<JudgeStorePort, "findCalibration" | "findResult" | "judgementsOfSweep">,
  asked: {
    readonly judge: JudgeIdentity;
    readonly consensus: Consensus;
    readonly scope: FitnessScope;
    readonly samePopulation: boolean;
  },
  signal: AbortSignal,
): Promise<FitnessAnswer> {
  const { judge, consensus, scope, samePopulation } = asked;
  const calibration = await store.findCalibration(judge);
  const isMeasured = calibration !== null && calibration.promptVersion === judge.promptVersion;
  if (!isMeasured || !calibration.open) {
    const reasons = isMeasured ? calibration.refusals : ["This judge was not calibrated with this prompt and rubric."];
    return { kind: "refused", reason: "gateClosed", message: `The gate is closed: ${reasons.join(" ")}` };
  }
  const read = await readLevels(store, judge, consensus, scope, signal);
  if (read.unknown.length > 0) return { kind: "unknown", resultIds: read.unknown };
  const input = {
    levels: read.levels,
    confusion: confusionOf(calibration.reportJson),
    gate: { open: true, refusals: [], codes: [] },
    bootstrap: { random: createRandom(sha256Hex(JSON.stringify([judge, scope]))) },
  };
  return samePopulation ? predictionPoweredMean({ ...input, samePopulation }) : correctedMean(input);
}

interface Levels {
  /** Null: no level of the judge, whatever the reason. */
  readonly levels: readonly (Level | null)[];
  readonly unknown: readonly string[];
}

async function readLevels(
  store: Pick<JudgeStorePort, "findResult" | "judgementsOfSweep">,
  judge: JudgeIdentity,
  consensus: Consensus,
  scope: FitnessScope,
  signal: AbortSignal,
): Promise<Levels> {
  const levels: (Level | null)[] = [];
  const unknown: string[] = [];
  const levelOf = (judgements: Parameters<typeof judgeVerdict>[0]): Level | null => {
    const verdict = judgeVerdict(judgements, judge, consensus);
    return verdict === null || verdict.provisional ? null : verdict.level;
  };
  if (scope.kind === "sweep") {
    for await (const page of store.judgementsOfSweep(scope.sweepId, 500)) {
      signal.throwIfAborted();
      levels.push(...page.map(({ judgements }) => levelOf(judgements)));
    }
    return { levels, unknown };
  }
  for (const resultId of scope.resultIds) {
    signal.throwIfAborted();
    const result = await store.findResult(resultId);
    if (result === null) unknown.push(resultId);
    else levels.push(levelOf(result.judgements));
  }
  return { levels, unknown };
}

/** Of the stored report, which this program wrote. */
function confusionOf(reportJson: string): ConfusionMatrix {
  return (JSON.parse(reportJson) as CalibrationReport).confusion;
}
