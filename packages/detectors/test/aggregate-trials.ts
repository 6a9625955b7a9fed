import type { CellPlan } from "@hallumaze/sweep";

import type {
  AnswerTally,
  ConditionTally,
  ConfidenceTally,
  MirageTally,
  ModelFacts,
  PromptTally,
  RepeatTally,
  ServedTally,
  SizeTally,
  SweepAggregates,
} from "../src/aggregates.ts";
import { maxTokens, type SimulatedTrial } from "./simulate-sweep.ts";

const startMs = Date.UTC(2026, 10, 30, 22);
const nightMs = 8 * 3_600_000;

/** Counts trials as the ledger does for the detectors. */
export function aggregate(models: readonly ModelFacts[], trials: readonly SimulatedTrial[]): SweepAggregates {
  const replies = models.flatMap(({ alias }) => {
    const ofModel = trials
      .filter((trial) => trial.alias === alias && trial.state === "done")
      .toSorted((a, b) => a.time - b.time);
    return ofModel.map((trial, index) => ({ ...trial, period: Math.floor((4 * index) / ofModel.length) }));
  });
  return {
    countedTrials: trials.length,
    lookedAtTrials: trials.length,
    models,
    conditions: tally(
      trials,
      ({ alias, size, group, mirage, language, confidence, state, outcome }) => ({
        alias,
        size,
        group,
        mirage,
        language,
        confidence,
        state,
        outcome,
      }),
      (key, rows): ConditionTally => ({ ...key, count: rows.length }),
    ),
    prompts: tally(
      replies,
      ({ alias, size, language, mirage, confidence, period }) => ({
        alias,
        size,
        language,
        mirage,
        confidence,
        period,
      }),
      toPromptTally,
    ),
    sizes: tally(replies, ({ alias, size }) => ({ alias, size }), toSizeTally),
    served: models.flatMap(({ alias }) => {
      const ofModel = replies.filter((reply) => reply.alias === alias);
      return [
        ...countServed(alias, "model", ofModel, ({ servedModel }) => servedModel),
        ...countServed(alias, "host", ofModel, ({ servedBy }) => servedBy),
      ];
    }),
    answers: countAnswers(replies),
    mirages: countMirages(replies),
    repeats: countRepeats(replies),
    confidences: tally(replies.filter(isAnswer), ({ alias }) => ({ alias }), toConfidenceTally),
  };
}

type Reply = SimulatedTrial & { readonly period: number };

function isAnswer({ outcome }: SimulatedTrial): boolean {
  return outcome === "ok" || outcome === "truncated" || outcome === "parse_failed";
}

function tally<Row, Key extends object, Tally>(
  rows: readonly Row[],
  keyOf: (row: Row) => Key,
  toTally: (key: Key, rows: readonly Row[]) => Tally,
): readonly Tally[] {
  const groups = new Map<string, { readonly key: Key; readonly rows: Row[] }>();
  for (const row of rows) {
    const key = keyOf(row);
    const name = Object.values(key).join("\u001f");
    const group = groups.get(name) ?? { key, rows: [] };
    group.rows.push(row);
    groups.set(name, group);
  }
  return [...groups.values()].map((group) => toTally(group.key, group.rows));
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function known(values: readonly (number | null)[]): readonly number[] {
  return values.filter((value) => value !== null);
}

function toPromptTally(
  key: Pick<PromptTally, "alias" | "size" | "language" | "mirage" | "confidence" | "period">,
  rows: readonly Reply[],
): PromptTally {
  const inputs = known(rows.map(({ inputTokens }) => inputTokens));
  return {
    ...key,
    plan: planOf(key),
    replies: rows.length,
    inputCounted: inputs.length,
    inputMean: mean(inputs),
    latencyLogMean: mean(rows.map(({ httpMs }) => Math.log(Math.max(1, httpMs)))) ?? 0,
  };
}

function planOf({
  size,
  mirage,
  language,
  confidence,
}: Pick<PromptTally, "size" | "mirage" | "language" | "confidence">): CellPlan {
  return {
    format: 1,
    provider: "openai",
    model: "simulated",
    baseUrl: null,
    temperature: 0,
    params: {},
    maxTokens,
    promptVersion: `v1.1-${language}`,
    generator: "dfs",
    placement: "path-order",
    seed: 1,
    size,
    group: "A",
    mirage,
    language,
    confidence,
    repeat: 0,
    rehearsal: false,
  };
}

function toSizeTally(key: { readonly alias: string; readonly size: number }, rows: readonly Reply[]): SizeTally {
  const out = rows.filter(
    ({ outcome, finishReason }) =>
      outcome === "truncated_in_reasoning" || (outcome === "empty" && finishReason === "length"),
  );
  const whole = known(rows.filter(({ outcome }) => outcome === "ok").map(({ outputTokens }) => outputTokens)).toSorted(
    (a, b) => a - b,
  );
  return {
    ...key,
    maxTokens,
    replies: rows.length,
    completeOutputP95: whole[Math.ceil(0.95 * whole.length) - 1] ?? null,
    thoughtOut: out.length,
    thoughtOutReasoningMean: mean(known(out.map(({ reasoningTokens }) => reasoningTokens))),
    unknownFinish: rows.filter(({ finishReason }) => finishReason === null || finishReason === "other").length,
    missingUsage: rows.filter(({ inputTokens, outputTokens }) => inputTokens === null || outputTokens === null).length,
  };
}

function countServed(
  alias: string,
  kind: ServedTally["kind"],
  replies: readonly Reply[],
  nameOf: (reply: Reply) => string | null,
): readonly ServedTally[] {
  const named = replies.flatMap((reply) => {
    const name = nameOf(reply);
    return name === null ? [] : [{ name, ms: startMs + reply.time * nightMs }];
  });
  const marked = named.map((each, index) => ({ ...each, starts: named[index - 1]?.name !== each.name }));
  return tally(
    marked,
    ({ name }) => ({ name }),
    ({ name }, rows) => ({
      alias,
      kind,
      name,
      replies: rows.length,
      firstMs: rows[0]?.ms ?? 0,
      lastMs: rows.at(-1)?.ms ?? 0,
      runs: rows.filter(({ starts }) => starts).length,
    }),
  );
}

function countAnswers(replies: readonly Reply[]): readonly AnswerTally[] {
  const texts = tally(
    replies.filter(isAnswer),
    ({ alias, size, group, mirage, language, text }) => ({ alias, size, group, mirage, language, text }),
    ({ alias, size }, rows) => ({
      alias,
      size,
      mazes: new Set(rows.map(({ seed }) => seed)).size,
      pair: [rows[0]?.id ?? "", rows.at(-1)?.id ?? ""],
    }),
  );
  return tally(
    texts,
    ({ alias, size }) => ({ alias, size }),
    (key, rows) => {
      const widest = rows.toSorted((a, b) => b.mazes - a.mazes)[0];
      return {
        ...key,
        answers: rows.reduce((sum, { mazes }) => sum + mazes, 0),
        shared: rows.reduce((sum, { mazes }) => sum + (mazes > 1 ? mazes : 0), 0),
        largest: widest?.mazes ?? 0,
        examples: widest === undefined || widest.mazes < 2 ? [] : widest.pair,
      };
    },
  );
}

function countMirages(replies: readonly Reply[]): readonly MirageTally[] {
  const pairs = tally(
    replies.filter(isAnswer),
    ({ alias, size, seed, group, language, repeat }) => ({ alias, size, seed, group, language, repeat }),
    ({ alias }, rows) => ({ alias, on: rows.find(({ mirage }) => mirage), off: rows.find(({ mirage }) => !mirage) }),
  ).flatMap(({ alias, on, off }) => (on === undefined || off === undefined ? [] : [{ alias, on, off }]));
  return tally(
    pairs,
    ({ alias }) => ({ alias }),
    (key, rows) => {
      const counted = rows.filter(({ on, off }) => on.inputTokens !== null && off.inputTokens !== null);
      const [first] = rows;
      return {
        ...key,
        pairs: rows.length,
        identical: rows.filter(({ on, off }) => on.text === off.text).length,
        counted: counted.length,
        sameInput: counted.filter(({ on, off }) => on.inputTokens === off.inputTokens).length,
        examples: first === undefined ? [] : [first.on.id, first.off.id],
      };
    },
  );
}

function countRepeats(replies: readonly Reply[]): readonly RepeatTally[] {
  const sets = tally(
    replies.filter(isAnswer),
    ({ alias, size, seed, group, mirage, language }) => ({ alias, size, seed, group, mirage, language }),
    ({ alias }, rows) => ({ alias, rows }),
  ).filter(({ rows }) => rows.length > 1);
  return tally(
    sets,
    ({ alias }) => ({ alias }),
    (key, ofModel) => ({
      ...key,
      sets: ofModel.length,
      identical: ofModel.filter(({ rows }) => new Set(rows.map(({ text }) => text)).size === 1).length,
      examples: ofModel[0]?.rows.slice(0, 2).map(({ id }) => id) ?? [],
    }),
  );
}

function toConfidenceTally(key: { readonly alias: string }, rows: readonly Reply[]): ConfidenceTally {
  const stated = rows.flatMap(({ statedConfidences }) => statedConfidences);
  return {
    ...key,
    replies: rows.length,
    without: rows.filter(({ statedConfidences }) => statedConfidences.length === 0).length,
    statements: stated.length,
    distinct: new Set(stated).size,
  };
}
