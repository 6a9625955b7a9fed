import type { Level, UnreadableReason } from "./judged.ts";

/** Who judged: the first judge, the first judge once more in a fresh session, a second judge, a third. */
export type JudgementRound = "first" | "repeat" | "second" | "third";

/** One judgement of a response, after its "format only" call where one was needed. */
export interface Judgement {
  readonly round: JudgementRound;
  readonly outcome:
    | { readonly kind: "verdict"; readonly level: Level; readonly confidence: number }
    | { readonly kind: "unreadable"; readonly reason: UnreadableReason };
}

/** How judgements are brought together. */
export interface SettleOptions {
  /** Below this confidence one judge is not enough; 0 … 1, 0.6 in the seed. */
  readonly consensusBelow: number;
  /** How often the first judge judges; a whole number >= 1. */
  readonly repeats: number;
  /** False where no third judge is to be had: then judges who differ leave it to a person. */
  readonly third?: boolean;
}

/** What follows from the judgements so far. */
export type Settlement =
  | { readonly kind: "needs"; readonly round: "repeat" | "second" | "third" }
  /** `spread`: highest minus lowest level of all verdicts, 0 … 2. `confidence`: the median of all verdicts'. */
  | { readonly kind: "settled"; readonly level: Level; readonly spread: 0 | 1 | 2; readonly confidence: number }
  | { readonly kind: "needsHuman" }
  | { readonly kind: "unscored"; readonly reason: UnreadableReason };

interface Opinion {
  readonly level: Level;
  readonly confidence: number;
}

/**
 * Settles a response, or says which judgement is needed next. Each judge has one voice, the first judge that of the median of
 * its repeats; two voices that agree settle it, three settle it by their median unless all three differ.
 *
 * Disagreement never lifts a level: the median of an even number is the lower one. A first judge that refuses gives way to
 * the second and third; any other unreadable first verdict is unscored. Order of `judgements` does not matter.
 * At least one judgement of the round `first` is expected; without one it asks for none and leaves it to a person.
 * SOURCE: judge specification, items 5, 7 and 8.
 */
export function settleVerdicts(judgements: readonly Judgement[], options: SettleOptions): Settlement {
  const own = judgements.filter(({ round }) => round === "first" || round === "repeat");
  const first = own.find(({ round }) => round === "first");
  if (first === undefined) return { kind: "needsHuman" };
  const opinions = opinionsOf(own);
  if (opinions.length === 0 && first.outcome.kind === "unreadable" && first.outcome.reason !== "refused") {
    return { kind: "unscored", reason: first.outcome.reason };
  }
  const isRefused = first.outcome.kind === "unreadable";
  if (!isRefused && own.length < options.repeats) return { kind: "needs", round: "repeat" };
  if (isSure(opinions, own.length, options)) return settled(opinions, lowerMedian(opinions.map(({ level }) => level)));
  return hearOthers(judgements, opinions, first, options);
}

/** Whether the first judge alone settles it: every repeat readable, all of one level, none below the confidence asked for. */
function isSure(opinions: readonly Opinion[], asked: number, { consensusBelow }: SettleOptions): boolean {
  return (
    opinions.length === asked &&
    new Set(opinions.map(({ level }) => level)).size === 1 &&
    opinions.every(({ confidence }) => confidence >= consensusBelow)
  );
}

function hearOthers(
  judgements: readonly Judgement[],
  own: readonly Opinion[],
  first: Judgement,
  options: SettleOptions,
): Settlement {
  const seconds = judgements.filter(({ round }) => round === "second");
  const thirds = judgements.filter(({ round }) => round === "third");
  if (seconds.length === 0) return { kind: "needs", round: "second" };
  const all = [...own, ...opinionsOf(seconds), ...opinionsOf(thirds)];
  const voices = [own, opinionsOf(seconds), opinionsOf(thirds)]
    .filter((opinions) => opinions.length > 0)
    .map((opinions) => lowerMedian(opinions.map(({ level }) => level)));
  const agreed = voices.find((level, at) => voices.indexOf(level) !== at);
  if (agreed !== undefined) return settled(all, lowerMedian(voices));
  if (own.length === 0 && voices.length === 0 && first.outcome.kind === "unreadable") {
    return { kind: "unscored", reason: first.outcome.reason };
  }
  if (own.length === 0 && thirds.length === 0 && isSure(all, 1, options)) return settled(all, lowerMedian(voices));
  const mayAsk = thirds.length === 0 && options.third !== false;
  return mayAsk ? { kind: "needs", round: "third" } : { kind: "needsHuman" };
}

function opinionsOf(judgements: readonly Judgement[]): readonly Opinion[] {
  return judgements.flatMap(({ outcome }) => (outcome.kind === "verdict" ? [outcome] : []));
}

function settled(opinions: readonly Opinion[], level: Level): Settlement {
  const levels = opinions.map((opinion) => opinion.level);
  return {
    kind: "settled",
    level,
    spread: (Math.max(...levels) - Math.min(...levels)) as 0 | 1 | 2,
    confidence: lowerMedian(opinions.map(({ confidence }) => confidence)),
  };
}

/** The middle one; of an even number the lower of the two in the middle. At least one is expected. */
function lowerMedian<T extends number>(values: readonly [T, ...T[]] | readonly T[]): T {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)];
  if (middle === undefined) throw new RangeError("the median of no values was asked for");
  return middle;
}
