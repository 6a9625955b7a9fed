import type { CellPlan } from "@hallumaze/sweep";

import type { PromptTally, SweepAggregates } from "./aggregates.ts";
import type { Finding } from "./finding.ts";
import { thresholds } from "./thresholds.ts";
import { countOf, groupBy, outOf, percent, sumOf } from "./wording.ts";

/** Counts a plan's first prompt by the local estimate. */
export type CountPrompt = (plan: CellPlan) => number;

/**
 * Prompts that did not arrive as they were sent, by the provider's own count of input tokens against the local estimate:
 * cut outright, no longer growing with the maze, far longer than sent, or counted otherwise from some time on.
 */
export function findPromptCut({ conditions, prompts }: SweepAggregates, countPrompt: CountPrompt): readonly Finding[] {
  const counted = prompts.filter(({ inputCounted }) => inputCounted > 0);
  const forms = [...groupBy(counted, formKey).values()].map((periods) => toForm(periods, countPrompt));
  return [
    ...findRefused(conditions),
    ...findStandstill(forms),
    ...findInflation(forms),
    ...[...groupBy(counted, ({ alias }) => alias).values()].flatMap(findDrift),
  ];
}

/** Prompts of one form with what was counted of them. */
interface Form {
  readonly alias: string;
  readonly size: number;
  readonly wording: string;
  readonly estimate: number;
  readonly reported: number;
  readonly replies: number;
}

function toForm(periods: readonly PromptTally[], countPrompt: CountPrompt): Form {
  const [first] = periods;
  if (first === undefined) throw new RangeError("a form without a tally");
  const replies = sumOf(periods, ({ inputCounted }) => inputCounted);
  return {
    alias: first.alias,
    size: first.size,
    wording: JSON.stringify([first.alias, first.language, first.mirage, first.confidence]),
    estimate: countPrompt(first.plan),
    reported: sumOf(periods, ({ inputCounted, inputMean }) => inputCounted * (inputMean ?? 0)) / replies,
    replies,
  };
}

function formKey({ alias, size, language, mirage, confidence }: PromptTally): string {
  return JSON.stringify([alias, size, language, mirage, confidence]);
}

/** The engine refuses a reply whose prompt was counted below 0.4 of the estimate: each such trial is a fact. */
function findRefused(conditions: SweepAggregates["conditions"]): readonly Finding[] {
  return [...groupBy(conditions, ({ alias }) => alias)].flatMap(([alias, tallies]) => {
    const ended = tallies.filter(({ state }) => state === "done" || state === "failed");
    const cut = ended.filter(({ outcome }) => outcome === "prompt_truncated");
    const hits = sumOf(cut, ({ count }) => count);
    if (hits === 0) return [];
    const sizes = [...new Set(cut.map(({ size }) => size))].toSorted((a, b) => a - b);
    const n = sumOf(ended, ({ count }) => count);
    return [
      {
        detector: "prompt-cut",
        severity: "warning",
        model: alias,
        condition: sizesOf(sizes),
        observed: hits / n,
        expected: 0,
        n,
        message: `${outOf(hits, n)} prompts were cut: the server counted under 40 % of what was sent, and the trials are missing`,
        advice: `${contextAdvice}, then retry with --outcome prompt_truncated`,
        examples: [],
      } satisfies Finding,
    ];
  });
}

const contextAdvice = "raise the server's context length (Ollama: num_ctx or OLLAMA_CONTEXT_LENGTH)";

/** Where larger mazes make longer prompts and the provider counts hardly more, the rest was dropped. */
function findStandstill(forms: readonly Form[]): readonly Finding[] {
  const known = forms.filter(({ replies }) => replies >= thresholds.promptRepliesMin);
  const stops = [...groupBy(known, ({ wording }) => wording).values()].flatMap((ofWording) => {
    const bySize = ofWording.toSorted((a, b) => a.estimate - b.estimate);
    return bySize.flatMap((form, index) => {
      const smaller = bySize[index - 1];
      if (smaller === undefined) return [];
      const grown = form.estimate - smaller.estimate;
      const counted = form.reported - smaller.reported;
      const isStill = grown >= thresholds.promptGrowthTokensMin && counted < thresholds.promptGrowthShareMin * grown;
      return isStill ? [{ form, smaller, grown, counted }] : [];
    });
  });
  return [...groupBy(stops, ({ form }) => form.alias).values()].flatMap((ofModel) => {
    const worst = ofModel.toSorted((a, b) => a.counted / a.grown - b.counted / b.grown || b.grown - a.grown)[0];
    if (worst === undefined) return [];
    const { form, smaller, grown, counted } = worst;
    return [
      {
        detector: "prompt-cut",
        severity: "warning",
        model: form.alias,
        condition: `size ${form.size}`,
        observed: counted / grown,
        expected: 1,
        n: form.replies + smaller.replies,
        message:
          `from size ${smaller.size} to ${form.size} the prompt grows by about ${countOf(grown)} tokens, ` +
          `and the server counted ${countOf(Math.max(0, counted))} more (${countOf(form.reported)} in all): it drops the rest`,
        advice: `${contextAdvice}, then run these sizes again with --fresh`,
        examples: [],
      } satisfies Finding,
    ];
  });
}

function findInflation(forms: readonly Form[]): readonly Finding[] {
  return [...groupBy(forms, ({ alias }) => alias)].flatMap(([alias, ofModel]) => {
    const replies = sumOf(ofModel, (form) => form.replies);
    const ratio =
      sumOf(ofModel, (form) => form.replies * form.reported) / sumOf(ofModel, (form) => form.replies * form.estimate);
    if (replies < thresholds.repliesMin || !(ratio > thresholds.promptInflationMax)) return [];
    return [
      {
        detector: "prompt-cut",
        severity: "warning",
        model: alias,
        condition: null,
        observed: ratio,
        expected: 1,
        n: replies,
        message: `the server counted ${ratio.toFixed(1)} times the tokens that were sent, over ${countOf(replies)} replies`,
        advice:
          "look for text that the server adds (a system prompt, tools, a template, an earlier conversation); it is paid for and may steer the model",
        examples: [],
      } satisfies Finding,
    ];
  });
}

/** Each later quarter against the first, like with like: what its prompts would count had nothing changed. */
function findDrift(tallies: readonly PromptTally[]): readonly Finding[] {
  const firsts = new Map(tallies.filter(({ period }) => period === 0).map((tally) => [formKey(tally), tally]));
  const drifts = [1, 2, 3].flatMap((period) => {
    const pairs = tallies.flatMap((tally) => {
      const first = firsts.get(formKey(tally));
      return tally.period === period && first !== undefined ? [{ tally, first }] : [];
    });
    const replies = sumOf(pairs, ({ tally }) => tally.inputCounted);
    const before = sumOf(pairs, ({ first }) => first.inputCounted);
    if (Math.min(replies, before) < thresholds.promptDriftRepliesMin) return [];
    const expected = sumOf(pairs, ({ tally, first }) => tally.inputCounted * (first.inputMean ?? 0));
    const ratio = sumOf(pairs, ({ tally }) => tally.inputCounted * (tally.inputMean ?? 0)) / expected;
    return Math.abs(ratio - 1) > thresholds.promptDriftMax ? [{ period, ratio, replies }] : [];
  });
  const worst = drifts.toSorted((a, b) => Math.abs(b.ratio - 1) - Math.abs(a.ratio - 1))[0];
  if (worst === undefined) return [];
  const { period, ratio, replies } = worst;
  return [
    {
      detector: "prompt-cut",
      severity: "warning",
      model: tallies[0]?.alias ?? null,
      condition: `quarter ${period + 1} of the sweep`,
      observed: ratio,
      expected: 1,
      n: replies,
      message: `the server counted ${percent(Math.abs(ratio - 1))} ${ratio < 1 ? "fewer" : "more"} input tokens for the same prompts than in the first quarter`,
      advice:
        "find out what changed at the server (context length, template, model), and run the part that differs again",
      examples: [],
    } satisfies Finding,
  ];
}

function sizesOf(sizes: readonly number[]): string {
  return sizes.length === 1 ? `size ${sizes[0]}` : `sizes ${sizes.join(", ")}`;
}
