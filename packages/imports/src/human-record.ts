import { scoreReply } from "@hallumaze/engine";
import type { ProfileScores } from "@hallumaze/metrics";
import type { CellPlan } from "@hallumaze/sweep";
import { z } from "zod";

import type { ImportedScores } from "./imported-trial.ts";
import type { MappedTrial, RecordContext } from "./published-record.ts";
import * as field from "./record-fields.ts";

/** The columns of means, with the metric that each one is and what it may hold. */
const means = {
  sr: ["sr", field.share],
  mei: ["mei", field.index],
  ce: ["ce", field.share],
  brs: ["brs", field.share],
  hallumaze_score: ["score", field.share],
  hallucination_count: ["hc", field.amount],
  backtrack_count: ["bt", field.amount],
  loop_count: ["lt", field.amount],
  hrr: ["hrr", field.share],
  first_hallucination_step: ["fhr", field.meanErrorStep],
} as const satisfies Readonly<Record<string, readonly [metric: keyof ImportedScores, kind: z.ZodType]>>;

const meanNames = Object.keys(means) as (keyof typeof means)[];
const deviation = "_sd";

const aggregate = z.looseObject({
  provider: field.name.nullish(),
  model: field.name.nullish(),
  n: field.count.nullish(),
  size: field.size,
  seed: field.seed.nullish(),
  group: field.group.nullish(),
  mirage: field.flag.nullish(),
  confidence: field.flag.nullish(),
  language: field.language.nullish(),
  latency_s: field.seconds.nullish(),
  ...Object.fromEntries(
    meanNames.flatMap((name) => [
      [name, means[name][1].nullish()],
      [`${name}${deviation}`, field.amount.nullish()],
    ]),
  ),
});

/**
 * Reads means over a group of people: `n`, and any of `sr`, `mei`, `hallucination_count` … with their standard
 * deviation (n - 1) as `mei_sd` or, in JSON, as `{"mean": …, "sd": …}`. `n` may stand in the name, as the original
 * document writes it: `undergraduate_group_n30`. SOURCE: seed section 9.4.
 */
export function mapHumanAggregate(
  fields: Readonly<Record<string, unknown>>,
  context: RecordContext,
): field.RecordResult<MappedTrial> {
  const tidy = spreadMeans(field.tidyFields(fields));
  const read = aggregate.safeParse(tidy);
  if (!read.success) return { kind: "bad", problems: field.fieldProblems(read.error, tidy) };
  const doubtful = field.twoWords(fields);
  if (doubtful.length > 0) return { kind: "bad", problems: doubtful };
  const { data } = read;
  const model = data.model ?? context.model ?? "human";
  const n = data.n ?? Number(/_n([1-9]\d*)$/.exec(model)?.[1] ?? 0);
  const told = data as Readonly<Record<string, unknown>>;
  const scores = scoresOf(told, "");
  if (n < 1)
    return { kind: "bad", problems: [{ field: "n", message: "is missing: how many people the means are of" }] };
  if (meanNames.every((name) => scores[means[name][0]] === null)) {
    return { kind: "bad", problems: [{ field: null, message: `holds no mean: give one of ${meanNames.join(", ")}` }] };
  }
  const deviations = scoresOf(told, deviation);
  return {
    kind: "rows",
    rows: [
      {
        provider: data.provider ?? "human",
        model,
        size: data.size,
        seed: data.seed ?? null,
        group: data.group ?? null,
        mirage: data.mirage ?? null,
        language: data.language ?? null,
        confidence: data.confidence ?? null,
        participant: null,
        n,
        outcome: null,
        latencyMs: field.millisecondsOf(data.latency_s),
        scores: { published: scores },
        deviations: Object.values(deviations).some((value) => value !== null) ? deviations : null,
        logText: null,
        readingJson: null,
        readerVersion: null,
        record: fields,
      },
    ],
  };
}

/** `{"mei": {"mean": 0.61, "sd": 0.2}}` as `mei` and `mei_sd`. */
function spreadMeans(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      typeof value === "object" && value !== null && "mean" in value
        ? [
            [name, value.mean],
            [`${name}${deviation}`, "sd" in value ? value.sd : null],
          ]
        : [[name, value]],
    ),
  );
}

function scoresOf(told: Readonly<Record<string, unknown>>, suffix: string): ImportedScores {
  return Object.fromEntries(
    meanNames.map((name) => [means[name][0], (told[`${name}${suffix}`] as number | null | undefined) ?? null]),
  ) as unknown as ImportedScores;
}

/** A log is what one person wrote on one maze; longer than any real one is a mistake. */
const longestLog = 1_000_000;

const logRecord = z.looseObject({
  participant: field.name,
  model: field.name.nullish(),
  size: field.size,
  seed: field.seed,
  mirage: field.flag,
  language: field.language.nullish(),
  confidence: field.flag.nullish(),
  generator: z.enum(["dfs", "kruskal", "wilson", "prim"], "expected dfs, kruskal, wilson or prim").nullish(),
  placement: z.enum(["path-order", "sampled"], "expected path-order or sampled").nullish(),
  repeat: field.count.nullish(),
  latency_s: field.seconds.nullish(),
  log: z.string("expected text").min(1, "is empty").max(longestLog, `is longer than ${longestLog} characters`),
});

/**
 * Reads one person's log of one maze and scores it as a model's reply: the same reader, walk and profiles.
 *
 * `mirage` has to be told: only where the maze's text carried the hints are there traps to take. `confidence` (were
 * confidences asked for) is no unless told.
 */
export function mapHumanLog(
  fields: Readonly<Record<string, unknown>>,
  context: RecordContext,
): field.RecordResult<MappedTrial> {
  const { log, ...others } = fields;
  const tidy: Record<string, unknown> = { ...field.tidyFields(others), log };
  const read = logRecord.safeParse(tidy);
  if (!read.success) return { kind: "bad", problems: field.fieldProblems(read.error, tidy) };
  const doubtful = field.twoWords(fields);
  if (doubtful.length > 0) return { kind: "bad", problems: doubtful };
  const { data } = read;
  const model = data.model ?? context.model ?? "human";
  const confidence = data.confidence ?? false;
  const scored = scoreReply(planOf({ ...data, model, confidence }), data.log, null);
  return {
    kind: "rows",
    rows: [
      {
        provider: "human",
        model,
        size: data.size,
        seed: data.seed,
        group: "A",
        mirage: data.mirage,
        language: data.language ?? null,
        confidence,
        participant: data.participant,
        n: 1,
        outcome: scored.outcome,
        latencyMs: field.millisecondsOf(data.latency_s),
        scores: {
          seed: plain(scored.profiles.seed.scores),
          published: plain(scored.profiles.published.scores),
          robust: plain(scored.profiles.robust.scores),
        },
        deviations: null,
        logText: data.log,
        readingJson: scored.readingJson,
        readerVersion: scored.readerVersion,
        record: others,
      },
    ],
  };
}

/** The plan that a model would have had: scoring depends on the maze and its conditions only. */
function planOf(data: z.infer<typeof logRecord> & { readonly model: string; readonly confidence: boolean }): CellPlan {
  return {
    format: 1,
    provider: "human",
    model: data.model,
    baseUrl: null,
    temperature: null,
    params: {},
    maxTokens: 0,
    promptVersion: "human",
    generator: data.generator ?? "dfs",
    placement: data.placement ?? "path-order",
    seed: data.seed,
    size: data.size,
    group: "A",
    mirage: data.mirage,
    language: data.language ?? "en",
    confidence: data.confidence,
    repeat: data.repeat ?? 0,
    rehearsal: false,
  };
}

function plain({ sr, hc, fhr, bt, lt, hrr, mei, ce, brs, score }: ProfileScores): ImportedScores {
  return { sr, hc, fhr, bt, lt, hrr, mei, ce, brs, score };
}
