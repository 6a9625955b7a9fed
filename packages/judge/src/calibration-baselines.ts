import { mcnemarExact } from "@hallumaze/statistics";

import type { GoldItem } from "./gold-set.ts";
import type { Level } from "./judged.ts";

/** How often a rule that reads no meaning agrees with people, and whether the judge does better on the same items. */
export interface Baseline {
  /** What the rule is, in words. */
  readonly rule: string;
  /** Items on which it gives the people's level. */
  readonly agreed: number;
  /** Share of all items; an item that the rule gives no level to counts against it. */
  readonly share: number | null;
  /** Items that it gives no level to. */
  readonly missing: number;
  /** Items that the judge alone gets right, and that the rule alone gets right. */
  readonly onlyJudge: number;
  readonly onlyBaseline: number;
  /** The judge's share less the rule's. */
  readonly difference: number | null;
  /** Exact two-sided p-value of McNemar's test. */
  readonly p: number;
}

/** A rule from length to level: two cuts, and which end is the higher. */
export interface LengthRule {
  /** Lengths in code points: below `cuts[0]`, from there to below `cuts[1]`, and from there on. */
  readonly cuts: readonly [number, number];
  readonly longerIs: "higher" | "lower";
}

const levels = [1, 2, 3] as const;

/** Compares a rule's levels with the judge's: all three lists are of the same items. */
export function compareBaseline(
  rule: string,
  people: readonly Level[],
  judge: readonly (Level | null)[],
  baseline: readonly (Level | null)[],
): Baseline {
  const right = (given: readonly (Level | null)[]): boolean[] => people.map((level, index) => given[index] === level);
  const [byJudge, byRule] = [right(judge), right(baseline)];
  const count = (wanted: (index: number) => boolean): number => people.filter((_, index) => wanted(index)).length;
  const { length: n } = people;
  const agreed = byRule.filter(Boolean).length;
  const onlyJudge = count((index) => byJudge[index] === true && byRule[index] === false);
  const onlyBaseline = count((index) => byJudge[index] === false && byRule[index] === true);
  return {
    rule,
    agreed,
    share: n === 0 ? null : agreed / n,
    missing: baseline.filter((level) => level === null).length,
    onlyJudge,
    onlyBaseline,
    difference: n === 0 ? null : (onlyJudge - onlyBaseline) / n,
    p: mcnemarExact(onlyJudge, onlyBaseline),
  };
}

/** The level that people gave most often; of several, the lowest. 1 where there are no items. */
export function majorityLevel(people: readonly Level[]): Level {
  const count = (wanted: Level): number => people.filter((level) => level === wanted).length;
  return levels.reduce<Level>((best, level) => (count(level) > count(best) ? level : best), 1);
}

/** A response's length in code points. */
export function lengthOf(response: string): number {
  return Array.from(response).length;
}

/** The rule of length that agrees with most of the items; of several, the first by cuts. Time grows with items squared. */
export function fitLengthRule(items: readonly Pick<GoldItem, "response" | "level">[]): LengthRule {
  const lengths = items.map(({ response }) => lengthOf(response));
  const cuts = [...new Set([0, ...lengths, Math.max(0, ...lengths) + 1])].sort((a, b) => a - b);
  /** How many items of a level are shorter than each cut. */
  const shorter = levels.map((level) => {
    const own = lengths.filter((_, index) => items[index]?.level === level).sort((a, b) => a - b);
    let at = 0;
    return cuts.map((cut) => {
      while (at < own.length && (own[at] ?? 0) < cut) at++;
      return at;
    });
  });
  const below = (level: number, cut: number): number => shorter[level - 1]?.[cut] ?? 0;
  const last = cuts.length - 1;
  let best: { rule: LengthRule; hits: number } = { rule: { cuts: [0, 0], longerIs: "higher" }, hits: -1 };
  for (const longerIs of ["higher", "lower"] as const) {
    const [shortest, longest] = longerIs === "higher" ? [1, 3] : [3, 1];
    for (let low = 0; low <= last; low++) {
      for (let high = low; high <= last; high++) {
        const middle = below(2, high) - below(2, low);
        const hits = below(shortest, low) + middle + below(longest, last) - below(longest, high);
        if (hits > best.hits) best = { rule: { cuts: [cuts[low] ?? 0, cuts[high] ?? 0], longerIs }, hits };
      }
    }
  }
  return best.rule;
}

/** The level that a rule of length gives. */
export function levelByLength(rule: LengthRule, response: string): Level {
  const length = lengthOf(response);
  const step = Number(length >= rule.cuts[0]) + Number(length >= rule.cuts[1]);
  return levels[rule.longerIs === "higher" ? step : 2 - step] ?? 1;
}
