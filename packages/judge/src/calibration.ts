import type { Random } from "@hallumaze/foundation";
import { type Coefficient, clopperPearson, spearman } from "@hallumaze/statistics";

import {
  type Baseline,
  compareBaseline,
  fitLengthRule,
  lengthOf,
  levelByLength,
  majorityLevel,
} from "./calibration-baselines.ts";
import {
  agreementOfRaters,
  type CoefficientEstimate,
  type ConfusionMatrix,
  confusionOf,
  estimateAgreement,
  type HumanAgreement,
  type LevelCounts,
  type LevelQuality,
  qualityOf,
} from "./confusion.ts";
import type { GoldSplit } from "./gold-line.ts";
import type { GoldItem, GoldSet } from "./gold-set.ts";
import type { Level } from "./judged.ts";

/** One judgement of a gold item. */
export interface RepeatVerdict {
  /** Null: unscored. */
  readonly level: Level | null;
  /** 0 … 1; null where the judge gave none. */
  readonly confidence: number | null;
  readonly unscoredReason: string | null;
  readonly reasoning: string | null;
}

/** What a calibration stands for: any other judge, prompt or rubric needs its own. */
export interface JudgeIdentity {
  readonly judgeModel: string;
  readonly promptVersion: string;
  readonly promptHash: string;
  readonly rubricVersion: string;
}

/** What a calibration is made from. */
export interface CalibrationInput {
  readonly judge: JudgeIdentity;
  readonly goldSet: GoldSet;
  /** Which items are measured. */
  readonly split: GoldSplit | "all";
  /** By item id, one or more judgements each; an item without any counts as unscored. */
  readonly verdicts: ReadonlyMap<string, readonly RepeatVerdict[]>;
  /** The heuristic's level by item id; empty where it was not run. */
  readonly heuristic: ReadonlyMap<string, Level | null>;
  /** How often this test split has been measured, this time included. */
  readonly lookCount: number;
  /** Seeded: the same input gives the same report. */
  readonly random: Random;
  /** For the bootstrap intervals: by default 10,000. */
  readonly resamples?: number;
}

/** A count out of n with its Clopper–Pearson interval of 95 %; all null where n is 0. */
export interface Proportion {
  readonly count: number;
  readonly n: number;
  readonly share: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
}

/** An item on which judge and people differ, or that the judge left unscored. */
export interface Disagreement {
  readonly id: string;
  /** Of the gold set's file. */
  readonly line: number;
  readonly human: Level;
  readonly judge: Level | null;
  /** Each judgement's level, in order. */
  readonly repeats: readonly (Level | null)[];
  readonly confidence: number | null;
  readonly unscoredReason: string | null;
  /** The beginning of the judge's reasoning. */
  readonly excerpt: string | null;
}

/** How far a judge agrees with people, as plain JSON. */
export interface CalibrationReport {
  readonly judge: JudgeIdentity;
  readonly goldSet: {
    readonly id: string;
    readonly testSeal: string;
    readonly splitsDeclared: boolean;
    readonly items: number;
    readonly ties: number;
    readonly raters: readonly string[];
  };
  readonly split: GoldSplit | "all";
  readonly lookCount: number;
  /** Items measured: the denominator of every share below that names no other. */
  readonly n: number;
  readonly levels: { readonly human: LevelCounts; readonly judge: LevelCounts };
  readonly humanAgreement: HumanAgreement;
  readonly confusion: ConfusionMatrix;
  readonly perLevel: readonly LevelQuality[];
  /** The same level; an unscored item is no agreement. */
  readonly agreement: Proportion;
  /** The same level or the next. */
  readonly adjacent: Proportion;
  /** Mean of judge less people over the scored items: above 0 the judge is too kind. Null where none is scored. */
  readonly signedBias: number | null;
  /** Over scored items only, as are the next two; `n` says how many. */
  readonly kappa: CoefficientEstimate;
  readonly quadraticKappa: CoefficientEstimate;
  readonly ordinalAlpha: CoefficientEstimate;
  /** Of the items that people put below L3, those that the judge calls L3. */
  readonly falseL3: Proportion;
  /** Of the items judged more than once, those whose judgements are not all alike. */
  readonly flips: Proportion;
  readonly unscored: Proportion & { readonly calls: Proportion; readonly reasons: Readonly<Record<string, number>> };
  /** Rank correlation of level with the response's length. */
  readonly length: { readonly judge: Coefficient; readonly human: Coefficient };
  readonly baselines: {
    readonly majority: Baseline;
    /** Null where it was not run. */
    readonly heuristic: Baseline | null;
    readonly length: Baseline & { readonly fittedOn: "dev" | "measured items" };
  };
  readonly disagreements: readonly Disagreement[];
}

interface Measured {
  readonly item: GoldItem;
  readonly repeats: readonly RepeatVerdict[];
  readonly level: Level | null;
}

const excerptLength = 280;

/**
 * Measures how far a judge's blind judgements of a gold set agree with people's. Pure: the same input, the same report.
 *
 * An item's level is the ordinal median of its judgements (`decideRepeats`). SOURCE: the seed, section 6; intervals:
 * Clopper & Pearson (1934); coefficients: as `cohenKappa` and `krippendorffAlphaOrdinal`.
 */
export function calibrate(input: CalibrationInput): CalibrationReport {
  const { goldSet, split, random, resamples = 10_000 } = input;
  const inSplit = (entry: { readonly split: GoldSplit }): boolean => split === "all" || entry.split === split;
  const measured = goldSet.items.filter(inSplit).map((item): Measured => {
    const repeats = input.verdicts.get(item.id) ?? [];
    return { item, repeats, level: decideRepeats(repeats.map(({ level }) => level)) };
  });
  const people = measured.map(({ item }) => item.level);
  const judge = measured.map(({ level }) => level);
  const confusion = confusionOf(people, judge);
  const gaps = people.flatMap((level, index) => (judge[index] == null ? [] : [judge[index] - level]));
  const n = measured.length;
  return {
    judge: input.judge,
    goldSet: {
      id: goldSet.id,
      testSeal: goldSet.testSeal,
      splitsDeclared: goldSet.splitsDeclared,
      items: goldSet.items.length,
      ties: goldSet.ties.length,
      raters: goldSet.raters,
    },
    split,
    lookCount: input.lookCount,
    n,
    levels: { human: countLevels(people), judge: countLevels(judge) },
    humanAgreement: agreementOfRaters([...measured.map(({ item }) => item), ...goldSet.ties.filter(inSplit)], {
      random,
      resamples,
    }),
    confusion,
    perLevel: qualityOf(confusion),
    agreement: proportion(gaps.filter((gap) => gap === 0).length, n),
    adjacent: proportion(gaps.filter((gap) => Math.abs(gap) <= 1).length, n),
    signedBias: gaps.length === 0 ? null : gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length,
    ...estimateAgreement(confusion, { random, resamples }),
    falseL3: falseL3Of(people, judge),
    flips: flipsOf(measured),
    unscored: unscoredOf(measured),
    length: correlateLength(measured),
    baselines: compareBaselines(input, measured),
    disagreements: measured.filter(({ item, level }) => item.level !== level).map(describeDisagreement),
  };
}

/**
 * The level that repeated judgements of one item come to: their ordinal median, of an even number the lower, so that
 * disagreement never lifts a level; the voice that the judge has in `settleVerdicts`. Null where half or more are unscored.
 */
export function decideRepeats(repeats: readonly (Level | null)[]): Level | null {
  const scored = repeats.filter((level) => level !== null).sort((a, b) => a - b);
  if (scored.length * 2 <= repeats.length) return null;
  return scored[Math.floor((scored.length - 1) / 2)] ?? null;
}

function proportion(count: number, n: number): Proportion {
  const interval = clopperPearson(count, n);
  return { count, n, share: n === 0 ? null : count / n, lo: interval?.lo ?? null, hi: interval?.hi ?? null };
}

function countLevels(given: readonly (Level | null)[]): LevelCounts {
  const count = (wanted: Level): number => given.filter((level) => level === wanted).length;
  return { 1: count(1), 2: count(2), 3: count(3) };
}

function falseL3Of(people: readonly Level[], judge: readonly (Level | null)[]): Proportion {
  const below = judge.filter((_, index) => people[index] !== 3);
  return proportion(below.filter((level) => level === 3).length, below.length);
}

function flipsOf(measured: readonly Measured[]): Proportion {
  const repeated = measured.filter(({ repeats }) => repeats.length >= 2);
  const flipped = repeated.filter(({ repeats }) => new Set(repeats.map(({ level }) => level)).size > 1);
  return proportion(flipped.length, repeated.length);
}

function unscoredOf(measured: readonly Measured[]): CalibrationReport["unscored"] {
  const calls = measured.flatMap(({ repeats }) => repeats);
  const unscored = calls.filter(({ level }) => level === null);
  const reasons = new Map<string, number>();
  const notJudged = measured.filter(({ repeats }) => repeats.length === 0).length;
  if (notJudged > 0) reasons.set("notJudged", notJudged);
  for (const { unscoredReason } of unscored) {
    const reason = unscoredReason ?? "unknown";
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  return {
    ...proportion(measured.filter(({ level }) => level === null).length, measured.length),
    calls: proportion(unscored.length, calls.length),
    reasons: Object.fromEntries([...reasons].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function correlateLength(measured: readonly Measured[]): CalibrationReport["length"] {
  const lengths = measured.map(({ item }) => lengthOf(item.response));
  return {
    judge: spearman(
      measured.map(({ level }) => level),
      lengths,
    ),
    human: spearman(
      measured.map(({ item }) => item.level),
      lengths,
    ),
  };
}

function compareBaselines(input: CalibrationInput, measured: readonly Measured[]): CalibrationReport["baselines"] {
  const people = measured.map(({ item }) => item.level);
  const judge = measured.map(({ level }) => level);
  const compare = (rule: string, baseline: readonly (Level | null)[]): Baseline =>
    compareBaseline(rule, people, judge, baseline);
  const constant = majorityLevel(people);
  const dev = input.goldSet.items.filter(({ split }) => split === "dev");
  // Without items of its own to learn from, the rule may learn from those that it is measured on: in its favour.
  const fittedOn = dev.length > 0 && input.split === "test" ? "dev" : "measured items";
  const rule = fitLengthRule(fittedOn === "dev" ? dev : measured.map(({ item }) => item));
  const heuristic = measured.map(({ item }) => input.heuristic.get(item.id) ?? null);
  const byLength = measured.map(({ item }) => levelByLength(rule, item.response));
  const [low, high] = rule.cuts;
  return {
    majority: compare(
      `always L${constant}`,
      people.map(() => constant),
    ),
    heuristic: heuristic.every((level) => level === null) ? null : compare("the keyword heuristic", heuristic),
    length: {
      ...compare(`length, cut at ${low} and ${high} characters, longer is ${rule.longerIs}`, byLength),
      fittedOn,
    },
  };
}

function describeDisagreement({ item, repeats, level }: Measured): Disagreement {
  // Of several judgements, the one that shows the level that was settled on; else the first.
  const shown = repeats.find((repeat) => repeat.level === level) ?? repeats[0];
  return {
    id: item.id,
    line: item.line,
    human: item.level,
    judge: level,
    repeats: repeats.map((repeat) => repeat.level),
    confidence: shown?.confidence ?? null,
    unscoredReason: level === null ? (shown?.unscoredReason ?? "notJudged") : null,
    excerpt: shown?.reasoning == null ? null : excerptOf(shown.reasoning),
  };
}

function excerptOf(reasoning: string): string {
  // Control and direction characters could rewrite the terminal or the page that shows the excerpt.
  const letters = Array.from(reasoning.replace(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, " ").trim());
  return letters.length <= excerptLength ? letters.join("") : `${letters.slice(0, excerptLength).join("")}…`;
}
