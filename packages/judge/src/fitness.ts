import { type BootstrapOptions, bootstrapDraws, countResampler } from "@hallumaze/statistics";
import type { Random } from "@hallumaze/foundation";

import type { ConfusionMatrix } from "./confusion.ts";
import type { GateDecision } from "./gate.ts";
import type { Level } from "./judged.ts";

/** What a corrected mean is made from. */
export interface FitnessInput {
  /** The judge's levels of the results in question; null: unscored, counted and left out. */
  readonly levels: readonly (Level | null)[];
  /** The judge against people on the gold set. */
  readonly confusion: ConfusionMatrix;
  readonly gate: GateDecision;
  readonly bootstrap: BootstrapOptions;
}

/** A mean level, corrected for how the judge errs, or why there is none. */
export type Fitness =
  | {
      readonly kind: "fitness";
      readonly method: "confusion-inverted" | "prediction-powered";
      /** In 1 … 3, better when higher. */
      readonly mean: number;
      /** Percentile interval over resamples of both sets; null where most resamples allow no correction. */
      readonly lo: number | null;
      readonly hi: number | null;
      /** The judge's own mean, uncorrected. */
      readonly judgeMean: number;
      readonly n: number;
      /** Results that the judge left unscored. */
      readonly missing: number;
      /** Gold items that the correction rests on. */
      readonly goldItems: number;
      readonly undefinedResamples: number;
      /** Corrected shares of L1 … L3; null for the prediction-powered mean, which has none. */
      readonly shares: readonly number[] | null;
      /** True where sampling error put a share below 0 or the mean outside 1 … 3, and the nearest possible was taken. */
      readonly clipped: boolean;
    }
  | {
      readonly kind: "refused";
      readonly reason: "gateClosed" | "noLevels" | "levelAbsent" | "singular" | "otherPopulation";
      readonly message: string;
    };

type Refused = Extract<Fitness, { kind: "refused" }>;
type Shares = readonly number[];

const levels = [1, 2, 3] as const;
/** Below this determinant a judge tells levels apart so badly that the inverse would be made of noise. */
const smallestDeterminant = 0.05;

/**
 * The mean level of results corrected by the gold set's confusion matrix: the shares of true levels that would make the
 * judge give what it gave. Only how the judge errs within each level has to carry over from the gold set, not how
 * frequent levels are.
 *
 * Refuses while the gate is closed, where the gold set lacks a level, and where the matrix is (nearly) singular.
 * SOURCE: Rogan & Gladen (1978), American Journal of Epidemiology 107:71-76; for several classes Forman (2008), Data
 * Mining and Knowledge Discovery 17:164-206.
 */
export function correctedMean({ levels: given, confusion, gate, bootstrap }: FitnessInput): Fitness {
  const scored = given.filter((level) => level !== null);
  const refusal = refuseClosed(gate, scored);
  if (refusal !== null) return refusal;
  const [rows, judged] = [confusion.counts, countsOf(scored)];
  if (rows.some((row) => total(row) === 0)) {
    return { kind: "refused", reason: "levelAbsent", message: "The gold set has no scored item of some level." };
  }
  const shares = invert(rows, sharesOf(judged));
  if (shares === null) {
    const message = "The confusion matrix is singular or nearly so: the judge does not tell the levels apart.";
    return { kind: "refused", reason: "singular", message };
  }
  const possible = nearestShares(shares);
  const drawRows = rows.map(countResampler);
  const drawJudged = countResampler(judged);
  const draw = (random: Random): number | null => {
    const drawn = invert(
      drawRows.map((drawRow) => drawRow(random)),
      sharesOf(drawJudged(random)),
    );
    return drawn === null ? null : meanLevel(nearestShares(drawn));
  };
  const { value, ...interval } = bootstrapDraws(meanLevel(possible), draw, bootstrap);
  return {
    kind: "fitness",
    method: "confusion-inverted",
    mean: value ?? meanLevel(possible),
    ...interval,
    ...describe(given, scored, rows),
    shares: possible,
    clipped: shares.some((share) => share < 0),
  };
}

/**
 * The prediction-powered mean level: the judge's mean plus the mean error that people found in it on labelled items. It
 * needs `samePopulation`, the caller's word that the gold set was drawn from the results in question; then it holds
 * however the judge errs. Refuses without it, and while the gate is closed.
 *
 * SOURCE: Angelopoulos, Bates, Fannjiang, Jordan & Zrnic (2023), Science 382:669-674 (the mean, its rectifier).
 */
export function predictionPoweredMean(input: FitnessInput & { readonly samePopulation: boolean }): Fitness {
  const { levels: given, confusion, gate, bootstrap, samePopulation } = input;
  const scored = given.filter((level) => level !== null);
  const refusal = refuseClosed(gate, scored);
  if (refusal !== null) return refusal;
  if (!samePopulation) {
    const message = "The labelled items are not from the same population: use the confusion matrix.";
    return { kind: "refused", reason: "otherPopulation", message };
  }
  const cells = confusion.counts.flatMap((row, human) => row.map((count, judge) => ({ count, error: human - judge })));
  const [counts, judged] = [cells.map(({ count }) => count), countsOf(scored)];
  const items = total(counts);
  if (items === 0) return { kind: "refused", reason: "levelAbsent", message: "The gold set has no scored item." };
  const rectifier = (drawn: readonly number[]): number =>
    cells.reduce((sum, { error }, at) => sum + error * (drawn[at] ?? 0), 0) / items;
  const plain = meanLevel(sharesOf(judged)) + rectifier(counts);
  const [drawJudged, drawCells] = [countResampler(judged), countResampler(counts)];
  const draw = (random: Random): number =>
    within(meanLevel(sharesOf(drawJudged(random))) + rectifier(drawCells(random)));
  const { value, ...interval } = bootstrapDraws(within(plain), draw, bootstrap);
  return {
    kind: "fitness",
    method: "prediction-powered",
    mean: value ?? within(plain),
    ...interval,
    ...describe(given, scored, confusion.counts),
    shares: null,
    clipped: plain !== within(plain),
  };
}

function refuseClosed(gate: GateDecision, scored: readonly Level[]): Refused | null {
  if (!gate.open) {
    const message = `The gate is closed: ${gate.refusals.join(" ")}`;
    return { kind: "refused", reason: "gateClosed", message };
  }
  return scored.length > 0 ? null : { kind: "refused", reason: "noLevels", message: "No result has a judge's level." };
}

function describe(given: readonly (Level | null)[], scored: readonly Level[], rows: ConfusionMatrix["counts"]) {
  return {
    judgeMean: meanLevel(sharesOf(countsOf(scored))),
    n: scored.length,
    missing: given.length - scored.length,
    goldItems: total(rows.flat()),
  };
}

/** Shares p of true levels with sum over levels of p × P(judge says j | level) = the judge's shares; null: singular. */
function invert(rows: ConfusionMatrix["counts"], judged: Shares): Shares | null {
  const rates = rows.map((row) => row.map((count) => count / total(row)));
  const all = determinant(rates);
  if (!(Math.abs(all) >= smallestDeterminant)) return null;
  // Cramer's rule: the matrix of rates with one row put out for the judge's shares.
  return levels.map((_, at) => determinant(rates.map((row, other) => (other === at ? judged : row))) / all);
}

function determinant([
  [a = 0, b = 0, c = 0] = [],
  [d = 0, e = 0, f = 0] = [],
  [g = 0, h = 0, i = 0] = [],
]: readonly Shares[]): number {
  return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
}

/** The possible shares (none below 0, sum 1) nearest to these. SOURCE: Duchi et al. (2008), ICML, figure 1. */
function nearestShares(shares: Shares): Shares {
  const sorted = [...shares].sort((a, b) => b - a);
  let [sum, excess] = [0, 0];
  for (const [at, share] of sorted.entries()) {
    sum += share;
    const candidate = (sum - 1) / (at + 1);
    if (share > candidate) excess = candidate;
  }
  return shares.map((share) => Math.max(0, share - excess));
}

function countsOf(given: readonly Level[]): number[] {
  return levels.map((level) => given.filter((other) => other === level).length);
}

function sharesOf(counts: readonly number[]): Shares {
  const all = total(counts);
  return counts.map((count) => count / all);
}

function meanLevel(shares: Shares): number {
  return shares.reduce((sum, share, at) => sum + share * (at + 1), 0);
}

function within(mean: number): number {
  return Math.min(3, Math.max(1, mean));
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
