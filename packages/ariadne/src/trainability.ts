import { meiMax } from "@hallumaze/metrics";

import type { AriadneRecord } from "./read-conversation.ts";
import { meanOverMazes, rateResponses, type TrialResponses } from "./response-rates.ts";

/**
 * Why an index is null: no maze with a result in both groups; no hint was given there; every response is censored; MEI
 * without a hint is too low to divide by, or so high that nothing is left to gain; no shadow to compare with.
 */
export type NullReason =
  | "noCommonMaze"
  | "noHint"
  | "allCensored"
  | "baselineTooLow"
  | "baselineAtMaximum"
  | "noShadow";

/** TI with the numbers that it was made of. */
export interface Trainability {
  /** NRS · (MEI_B - MEI_A) / MEI_A; better when higher; null: see `why`. */
  readonly value: number | null;
  readonly why: NullReason | null;
  /** Mazes with a result in both groups; all that follows is over these. */
  readonly mazes: number;
  readonly nrs: number | null;
  readonly meiA: number | null;
  readonly meiB: number | null;
  /** `high` above 0.3, `low` below 0.1, as in the seed; null where there is no value. */
  readonly level: "high" | "between" | "low" | null;
  /** True where MEI_A is above 0.69: MEI ends at 0.9, so that TI cannot pass 0.3. Null where MEI_A is. */
  readonly cannotBeHigh: boolean | null;
}

/** TI_norm with the numbers that it was made of. */
export interface NormalisedTrainability {
  /** (NRS - NRS_shadow) · (MEI_B - MEI_shadow) / (0.9 - MEI_shadow); better when higher; null: see `why`. */
  readonly value: number | null;
  readonly why: NullReason | null;
  /** Mazes with MEI_B and MEI_shadow; all that follows is over these. */
  readonly mazes: number;
  readonly nrs: number | null;
  readonly shadowNrs: number | null;
  readonly meiB: number | null;
  readonly meiShadow: number | null;
}

/** A trial's MEI with its responses. */
export type ValuedTrial = TrialResponses & { readonly value: number | null };

/** The thresholds of TI. SOURCE: seed, section 9.3. */
const highAbove = 0.3;
const lowBelow = 0.1;
/** SOURCE: benchmark specification, section 7, as is the next. */
const baselineMin = 0.01;
const baselineOfNoHigh = 0.69;

/** The trainability index, over the mazes that both groups have. SOURCE: seed, section 9.3; specification, section 7. */
export function trainability(a: readonly ValuedTrial[], b: readonly ValuedTrial[]): Trainability {
  const common = commonMazes(a, b);
  const meiA = meanOverMazes(within(a, common));
  const meiB = meanOverMazes(within(b, common));
  const nrs = rateResponses(within(b, common));
  const numbers = {
    mazes: common.size,
    nrs: nrs.mean,
    meiA,
    meiB,
    cannotBeHigh: meiA === null ? null : meiA > baselineOfNoHigh,
  };
  if (meiA === null || meiB === null) return { ...numbers, value: null, why: "noCommonMaze", level: null };
  if (nrs.mean === null) return { ...numbers, value: null, why: whyNoRate(nrs), level: null };
  if (meiA <= baselineMin) return { ...numbers, value: null, why: "baselineTooLow", level: null };
  const value = (nrs.mean * (meiB - meiA)) / meiA;
  const level = value > highAbove ? "high" : value < lowBelow ? "low" : "between";
  return { ...numbers, value, why: null, level };
}

/**
 * The index against the shadow: what the hint did beyond a mere further turn, as a share of what was left to gain. Of
 * group A the values are those of `shadowMei`; `mazesInBoth` counts the mazes with a result in A and B. SOURCE: benchmark specification, section 7.
 */
export function normalisedTrainability(
  a: readonly ValuedTrial[],
  b: readonly ValuedTrial[],
  { mazesInBoth }: { readonly mazesInBoth: number },
): NormalisedTrainability {
  const common = commonMazes(a, b);
  const meiShadow = meanOverMazes(within(a, common));
  const meiB = meanOverMazes(within(b, common));
  const nrs = rateResponses(within(b, common));
  const shadowNrs = rateResponses(within(a, common));
  const numbers = { mazes: common.size, nrs: nrs.mean, shadowNrs: shadowNrs.mean, meiB, meiShadow };
  if (meiShadow === null || meiB === null) {
    return { ...numbers, value: null, why: mazesInBoth === 0 ? "noCommonMaze" : "noShadow" };
  }
  if (nrs.mean === null) return { ...numbers, value: null, why: whyNoRate(nrs) };
  if (shadowNrs.mean === null) {
    return { ...numbers, value: null, why: shadowNrs.censored > 0 ? "allCensored" : "noShadow" };
  }
  const left = meiMax - meiShadow;
  if (left < 1e-9) return { ...numbers, value: null, why: "baselineAtMaximum" };
  return { ...numbers, value: ((nrs.mean - shadowNrs.mean) * (meiB - meiShadow)) / left, why: null };
}

/**
 * MEI of a trial of group A with one further turn that says nothing: its own where no turn was called for; null where the
 * turn was called for and is missing, or where shadows are off.
 */
export function shadowMei(trial: {
  readonly meiSeed: number | null;
  readonly record: AriadneRecord | null;
}): number | null {
  const { meiSeed, record } = trial;
  if (record === null) return null;
  if (record.shadow !== null) return record.shadow.meiSeed;
  return record.triggers.length === 0 ? meiSeed : null;
}

function whyNoRate({ censored }: { readonly censored: number }): NullReason {
  return censored > 0 ? "allCensored" : "noHint";
}

function commonMazes(a: readonly ValuedTrial[], b: readonly ValuedTrial[]): ReadonlySet<string> {
  const known = (trials: readonly ValuedTrial[]): ReadonlySet<string> =>
    new Set(trials.flatMap(({ mazeKey, value }) => (value === null ? [] : [mazeKey])));
  const ofB = known(b);
  return new Set([...known(a)].filter((mazeKey) => ofB.has(mazeKey)));
}

function within(trials: readonly ValuedTrial[], mazes: ReadonlySet<string>): readonly ValuedTrial[] {
  return trials.filter(({ mazeKey }) => mazes.has(mazeKey));
}
