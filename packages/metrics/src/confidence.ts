/** A stated confidence and whether the attempt turned out right. Arrays of these may be pooled over trials and models. */
export interface Judgement {
  /** 0 … 1. */
  readonly confidence: number;
  readonly correct: boolean;
}

/** Murphy's three parts of the Brier score: brier = reliability - resolution + uncertainty. */
export interface BrierParts {
  /** Lower is better: squared distance of stated from observed rates. */
  readonly reliability: number;
  /** Higher is better: how far the observed rates of different confidences lie apart. */
  readonly resolution: number;
  /** A property of the attempts, not of the confidences: accuracy · (1 - accuracy). */
  readonly uncertainty: number;
}

/** One bin of a reliability diagram: [low, high), the last one closed. */
export interface ReliabilityBin {
  readonly low: number;
  readonly high: number;
  readonly count: number;
  /** Null where the bin is empty. */
  readonly meanConfidence: number | null;
  /** Null where the bin is empty. */
  readonly accuracy: number | null;
}

/** Confidence against truth for one target on one set of attempts. Every number but counts is null without data. */
export interface ConfidenceSummary {
  /** Attempts with a confidence. */
  readonly count: number;
  /** Attempts that could have carried one but did not. */
  readonly missing: number;
  /** count / (count + missing), 0 … 1; null where there was no attempt. */
  readonly coverage: number | null;
  /** Mean confidence, 0 … 1. */
  readonly meanConfidence: number | null;
  /** Share of right attempts among those with a confidence, 0 … 1. */
  readonly accuracy: number | null;
  /** meanConfidence - accuracy, -1 … 1: above 0 is overconfident. Best at 0. */
  readonly bias: number | null;
  /** Mean |confidence - correct|, 0 … 1; lower is better. The seed's CE. It is oce + uce. */
  readonly ce: number | null;
  /** Over-confidence error: the part of `ce` that comes from wrong attempts. Lower is better. */
  readonly oce: number | null;
  /** Under-confidence error: the part of `ce` that comes from right attempts. Lower is better. */
  readonly uce: number | null;
  /** Mean squared error, 0 … 1; lower is better. */
  readonly brier: number | null;
  readonly brierParts: BrierParts | null;
  /** Mean -ln of the probability given to what happened, in nats, confidences clipped to 0.5 … 99.5 %. Lower is better. */
  readonly logScore: number | null;
  /** Expected calibration error in 10 bins, 0 … 1; lower is better; null under 50 judgements (pool them over a model). */
  readonly ece: number | null;
  /** Type-2 AUROC, 0 … 1, 0.5 is chance; higher is better; null unless both right and wrong attempts exist. */
  readonly auroc2: number | null;
  /** Share of the commonest confidence, 0 … 1: at 1 every confidence is the same and tells nothing. */
  readonly flatness: number | null;
}

/** The equal-width bins of a reliability diagram and of ECE. SOURCE: spec section 6, confidence. */
export const reliabilityBinCount = 10;

/** ECE is null below this many judgements: with fewer its own bias is larger than what it measures. SOURCE: spec section 6. */
export const judgementsForEceMin = 50;

/** Half of the smallest printed step (1 %): a stated 100 % that fails costs -ln 0.005 = 5.3 nats, not infinity. */
const logScoreClip = 0.005;

/**
 * Summarises judgements, of one trial or pooled over many. `missing` is how many attempts carried no confidence.
 *
 * SOURCE: spec section 6, confidence. Brier 1950 and Murphy 1973 (score and its decomposition), Naeini et al. 2015 (ECE),
 * Fleming & Lau 2014 (AUROC2).
 */
export function summariseConfidence(judgements: readonly Judgement[], missing = 0): ConfidenceSummary {
  const count = judgements.length;
  const meanConfidence = mean(judgements, ({ confidence }) => confidence);
  const accuracy = mean(judgements, outcomeOf);
  return {
    count,
    missing,
    coverage: count + missing === 0 ? null : count / (count + missing),
    meanConfidence,
    accuracy,
    bias: meanConfidence === null || accuracy === null ? null : meanConfidence - accuracy,
    ce: mean(judgements, (one) => Math.abs(one.confidence - outcomeOf(one))),
    oce: mean(judgements, (one) => Math.max(0, one.confidence - outcomeOf(one))),
    uce: mean(judgements, (one) => Math.max(0, outcomeOf(one) - one.confidence)),
    brier: mean(judgements, (one) => (one.confidence - outcomeOf(one)) ** 2),
    brierParts: brierParts(judgements),
    logScore: mean(judgements, surprise),
    ece: expectedCalibrationError(judgements),
    auroc2: auroc2(judgements),
    flatness: flatness(judgements),
  };
}

/**
 * Murphy's decomposition over the distinct confidences (not over bins, where the identity would only be approximate).
 * Null without data.
 */
export function brierParts(judgements: readonly Judgement[]): BrierParts | null {
  const accuracy = mean(judgements, outcomeOf);
  if (accuracy === null) return null;
  let reliability = 0;
  let resolution = 0;
  for (const { confidence, count, right } of byConfidence(judgements)) {
    const weight = count / judgements.length;
    reliability += weight * (confidence - right / count) ** 2;
    resolution += weight * (right / count - accuracy) ** 2;
  }
  return { reliability, resolution, uncertainty: accuracy * (1 - accuracy) };
}

/** The bins of a reliability diagram, `reliabilityBinCount` of them, empty ones included. */
export function reliabilityBins(judgements: readonly Judgement[]): readonly ReliabilityBin[] {
  return Array.from({ length: reliabilityBinCount }, (_, bin) => {
    const members = judgements.filter(({ confidence }) => binOf(confidence) === bin);
    return {
      low: bin / reliabilityBinCount,
      high: (bin + 1) / reliabilityBinCount,
      count: members.length,
      meanConfidence: mean(members, ({ confidence }) => confidence),
      accuracy: mean(members, outcomeOf),
    };
  });
}

/**
 * ECE: the mean over bins, weighted by their counts, of |mean confidence - accuracy|. Null under
 * {@link judgementsForEceMin} judgements.
 */
export function expectedCalibrationError(judgements: readonly Judgement[]): number | null {
  if (judgements.length < judgementsForEceMin) return null;
  let error = 0;
  for (const { count, meanConfidence, accuracy } of reliabilityBins(judgements)) {
    error += (count / judgements.length) * Math.abs((meanConfidence ?? 0) - (accuracy ?? 0));
  }
  return error;
}

/**
 * The chance that a right attempt carries a higher confidence than a wrong one, a tie counting half. Null unless both
 * kinds exist.
 */
export function auroc2(judgements: readonly Judgement[]): number | null {
  const right = judgements.filter(({ correct }) => correct).length;
  const wrong = judgements.length - right;
  if (right === 0 || wrong === 0) return null;
  let wrongBelow = 0;
  let won = 0;
  for (const group of byConfidence(judgements)) {
    const wrongHere = group.count - group.right;
    won += group.right * (wrongBelow + wrongHere / 2);
    wrongBelow += wrongHere;
  }
  return won / (right * wrong);
}

/** The share of the commonest confidence, in (0, 1]. Null without data. */
export function flatness(judgements: readonly Judgement[]): number | null {
  if (judgements.length === 0) return null;
  return byConfidence(judgements).reduce((most, { count }) => Math.max(most, count), 0) / judgements.length;
}

function outcomeOf({ correct }: Judgement): 0 | 1 {
  return correct ? 1 : 0;
}

function surprise({ confidence, correct }: Judgement): number {
  const clipped = Math.min(1 - logScoreClip, Math.max(logScoreClip, confidence));
  return -Math.log(correct ? clipped : 1 - clipped);
}

// Confidences are read from decimals: 0.3 * 10 must fall into the bin that starts at 0.3, whatever its last bit says.
function binOf(confidence: number): number {
  const bin = Math.floor(confidence * reliabilityBinCount + 1e-9);
  return Math.max(0, Math.min(reliabilityBinCount - 1, bin));
}

interface ConfidenceGroup {
  readonly confidence: number;
  count: number;
  right: number;
}

/** Judgements grouped by their exact confidence, ascending. */
function byConfidence(judgements: readonly Judgement[]): readonly ConfidenceGroup[] {
  const groups = new Map<number, ConfidenceGroup>();
  for (const { confidence, correct } of judgements) {
    const group = groups.get(confidence) ?? { confidence, count: 0, right: 0 };
    group.count += 1;
    if (correct) group.right += 1;
    groups.set(confidence, group);
  }
  return [...groups.values()].sort((one, other) => one.confidence - other.confidence);
}

function mean<Item>(items: readonly Item[], valueOf: (item: Item) => number): number | null {
  if (items.length === 0) return null;
  let sum = 0;
  for (const item of items) sum += valueOf(item);
  return sum / items.length;
}
