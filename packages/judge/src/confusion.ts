import type { Random } from "@hallumaze/foundation";
import {
  type BootstrapOptions,
  bootstrapDraws,
  bootstrapStatistic,
  type Coefficient,
  countResampler,
  cohenKappa,
  krippendorffAlphaOrdinal,
  krippendorffAlphaOrdinalOfTable,
} from "@hallumaze/statistics";

import type { GoldTie } from "./gold-set.ts";
import type { Level } from "./judged.ts";

/** How often each level was given. */
export type LevelCounts = Readonly<Record<Level, number>>;

/** Items by people's level (row) and the judge's (column), L1 first. */
export interface ConfusionMatrix {
  /** 3 × 3. */
  readonly counts: readonly (readonly number[])[];
  /** Items of each row that the judge left unscored. */
  readonly unscored: readonly number[];
}

/** How well a judge finds one level. */
export interface LevelQuality {
  readonly level: Level;
  /** Items that people put there. */
  readonly n: number;
  /** Share of them that the judge puts there too, unscored items counting against it; null where n is 0. */
  readonly recall: number | null;
  /** Of what the judge puts there, the share that people do; null where it puts nothing there. */
  readonly precision: number | null;
}

/** A coefficient with its percentile interval. */
export interface CoefficientEstimate extends Coefficient {
  readonly lo: number | null;
  readonly hi: number | null;
  /** Resamples without a value (one class only), left out of the interval. */
  readonly undefinedResamples: number;
}

/** How far people agree among themselves, ties included. */
export interface HumanAgreement {
  readonly raters: number;
  /** Items with two labels or more. */
  readonly n: number;
  /** Share of them on which all labels are one; null where n is 0. */
  readonly unanimous: number | null;
  readonly ordinalAlpha: CoefficientEstimate;
}

const levels = [1, 2, 3] as const;

/** Counts items by people's and the judge's level; both lists are of the same items. */
export function confusionOf(people: readonly Level[], judge: readonly (Level | null)[]): ConfusionMatrix {
  const count = (row: Level, column: Level | null): number =>
    people.filter((level, index) => level === row && judge[index] === column).length;
  return {
    counts: levels.map((row) => levels.map((column) => count(row, column))),
    unscored: levels.map((row) => count(row, null)),
  };
}

/** Recall and precision of each level. */
export function qualityOf({ counts, unscored }: ConfusionMatrix): LevelQuality[] {
  return levels.map((level, at) => {
    const hits = counts[at]?.[at] ?? 0;
    const n = sum(counts[at] ?? []) + (unscored[at] ?? 0);
    const given = sum(counts.map((row) => row[at] ?? 0));
    return { level, n, recall: n === 0 ? null : hits / n, precision: given === 0 ? null : hits / given };
  });
}

/** Kappa, quadratic kappa and ordinal alpha of people and judge over the scored items, with intervals over items. */
export function estimateAgreement(
  { counts }: ConfusionMatrix,
  options: BootstrapOptions,
): Record<"kappa" | "quadraticKappa" | "ordinalAlpha", CoefficientEstimate> {
  const resampleCells = countResampler(counts.flat());
  const estimateOf = (coefficient: (table: readonly (readonly number[])[]) => Coefficient): CoefficientEstimate => {
    const plain = coefficient(counts);
    const draw = (random: Random): number | null => {
      const cells = resampleCells(random);
      return coefficient(levels.map((_, row) => cells.slice(row * levels.length, (row + 1) * levels.length))).value;
    };
    const { lo, hi, undefinedResamples } = bootstrapDraws(plain.value, draw, options);
    return { ...plain, lo, hi, undefinedResamples };
  };
  return {
    kappa: estimateOf((table) => cohenKappa(table)),
    quadraticKappa: estimateOf((table) => cohenKappa(table, "quadratic")),
    ordinalAlpha: estimateOf(krippendorffAlphaOrdinalOfTable),
  };
}

/** How far the raters of a gold set agree. Ties belong in: without them people would look surer than they are. */
export function agreementOfRaters(
  entries: readonly Pick<GoldTie, "labels">[],
  options: BootstrapOptions,
): HumanAgreement {
  const raters = [...new Set(entries.flatMap(({ labels }) => labels.map(({ rater }) => rater)))].sort();
  const compared = entries.filter(({ labels }) => labels.length >= 2);
  const unanimous = compared.filter(({ labels }) => new Set(labels.map(({ level }) => level)).size === 1).length;
  const ratings = compared.map(({ labels }) =>
    raters.map((name) => labels.find(({ rater }) => rater === name)?.level ?? null),
  );
  const { lo, hi, undefinedResamples } = bootstrapStatistic(
    ratings,
    (drawn) => krippendorffAlphaOrdinal(drawn).value,
    options,
  );
  return {
    raters: raters.length,
    n: compared.length,
    unanimous: compared.length === 0 ? null : unanimous / compared.length,
    ordinalAlpha: { ...krippendorffAlphaOrdinal(ratings), lo, hi, undefinedResamples },
  };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
