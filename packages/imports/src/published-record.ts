import { z } from "zod";

import { type ImportedScores, type ImportedTrial, noScores } from "./imported-trial.ts";
import * as field from "./record-fields.ts";

/** What every mapper may use. */
export interface RecordContext {
  /** The name of a row that names no model; null where none was given. */
  readonly model: string | null;
}

/** A row but for its place. */
export type MappedTrial = Omit<ImportedTrial, "position" | "recordJson"> & {
  /** What is kept of the file's own words. */
  readonly record: Readonly<Record<string, unknown>>;
};

const scoreFields = {
  sr: field.success.nullish(),
  mei: field.index.nullish(),
  ce: field.share.nullish(),
  brs: field.share.nullish(),
  hallumaze_score: field.share.nullish(),
  hallucination_count: field.count.nullish(),
  backtrack_count: field.count.nullish(),
  loop_count: field.count.nullish(),
  hrr: field.share.nullish(),
  first_hallucination_step: field.errorStep.nullish(),
  latency_s: field.seconds.nullish(),
  /** Our own export says how a trial ended; the public data may hold an error. */
  outcome: field.name.nullish(),
  error: z.unknown().optional(),
} as const;

const published = z
  .looseObject({
    provider: field.name.nullish(),
    model: field.name.nullish(),
    size: field.size,
    seed: field.seed,
    group: field.group.nullish(),
    mirage: field.flag.nullish(),
    confidence: field.flag.nullish(),
    language: field.language.nullish(),
    ...scoreFields,
  })
  .check(requireScores);

/**
 * Reads one published trial, of the JSON list or of the CSV: provider, model, size, seed, sr, mei, ce, brs,
 * hallumaze_score, hallucination_count, backtrack_count, loop_count, hrr … What else stands there is kept in the
 * record's text. A row with an `error` keeps its place and has no scores: it was not an answer.
 */
export function mapPublished(
  fields: Readonly<Record<string, unknown>>,
  context: RecordContext,
): field.RecordResult<MappedTrial> {
  const tidy = field.tidyFields(fields);
  const read = published.safeParse(tidy);
  if (!read.success) return { kind: "bad", problems: field.fieldProblems(read.error, tidy) };
  const doubtful = field.twoWords(fields);
  if (doubtful.length > 0) return { kind: "bad", problems: doubtful };
  const { data } = read;
  const model = data.model ?? context.model;
  if (model === null) return { kind: "bad", problems: [{ field: "model", message: "is missing; or give --model" }] };
  return {
    kind: "rows",
    rows: [
      {
        provider: data.provider ?? null,
        model,
        size: data.size,
        seed: data.seed,
        group: data.group ?? null,
        mirage: data.mirage ?? null,
        language: data.language ?? null,
        confidence: data.confidence ?? null,
        ...publishedScores(data),
        record: fields,
      },
    ],
  };
}

const seedResult = z
  .looseObject({ provider: field.name.nullish(), model: field.name.nullish(), ...scoreFields })
  .check(requireScores);

const seedRecord = z.looseObject({
  maze: z.looseObject({ size: field.size, seed: field.seed }),
  config: z
    .looseObject({
      use_mirage: field.flag.nullish(),
      use_confidence: field.flag.nullish(),
      ariadne_mode: field.group.nullish(),
    })
    .nullish(),
  results: z.array(z.record(z.string(), z.unknown())).min(1, "holds no result"),
});

/** Reads one run of the original program: a maze with the results of its models. SOURCE: seed section 11. */
export function mapSeed(
  fields: Readonly<Record<string, unknown>>,
  context: RecordContext,
): field.RecordResult<MappedTrial> {
  const read = seedRecord.safeParse(fields);
  if (!read.success) return { kind: "bad", problems: field.fieldProblems(read.error, fields) };
  const { maze, config, results } = read.data;
  const { results: _, ...run } = fields;
  const problems: field.FieldProblem[] = [];
  const rows = results.flatMap((result, at): MappedTrial[] => {
    const tidy = field.tidyFields(result);
    const one = seedResult.safeParse(tidy);
    const where = `results[${at}]`;
    const doubtful = field.twoWords(result);
    if (!one.success || doubtful.length > 0) {
      const found = one.success ? doubtful : field.fieldProblems(one.error, tidy);
      problems.push(...found.map((problem) => ({ ...problem, field: [where, problem.field ?? ""].join(".") })));
      return [];
    }
    const model = one.data.model ?? context.model;
    if (model === null) problems.push({ field: `${where}.model`, message: "is missing; or give --model" });
    return [
      {
        provider: one.data.provider ?? null,
        model: model ?? "",
        size: maze.size,
        seed: maze.seed,
        group: config?.ariadne_mode ?? null,
        mirage: config?.use_mirage ?? null,
        language: null,
        confidence: config?.use_confidence ?? null,
        ...publishedScores(one.data),
        record: { ...run, result },
      },
    ];
  });
  return problems.length > 0 ? { kind: "bad", problems } : { kind: "rows", rows };
}

type ScoreRecord = z.infer<z.ZodObject<typeof scoreFields>>;

function requireScores({ value, issues }: z.core.ParsePayload<ScoreRecord>): void {
  // A row of our own export that got no answer has an outcome and no number at all.
  if (hasError(value) || (value.outcome != null && value.outcome !== "ok" && value.sr == null)) return;
  for (const name of ["sr", "mei"] as const) {
    if (value[name] == null) issues.push({ code: "custom", path: [name], message: "is missing", input: value });
  }
}

function hasError({ error }: ScoreRecord): boolean {
  return error !== undefined && error !== null && error !== "" && error !== false;
}

function publishedScores(
  data: ScoreRecord,
): Pick<
  MappedTrial,
  "participant" | "n" | "outcome" | "latencyMs" | "scores" | "deviations" | "logText" | "readingJson" | "readerVersion"
> {
  const failed = hasError(data);
  const told: ImportedScores = {
    sr: data.sr ?? null,
    hc: data.hallucination_count ?? null,
    fhr: data.first_hallucination_step ?? null,
    bt: data.backtrack_count ?? null,
    lt: data.loop_count ?? null,
    hrr: data.hrr ?? null,
    mei: data.mei ?? null,
    ce: data.ce ?? null,
    brs: data.brs ?? null,
    score: data.hallumaze_score ?? null,
  };
  return {
    participant: null,
    n: 1,
    outcome: failed ? (data.outcome ?? "error") : (data.outcome ?? null),
    latencyMs: field.millisecondsOf(data.latency_s),
    scores: { published: failed ? noScores : told },
    deviations: null,
    logText: null,
    readingJson: null,
    readerVersion: null,
  };
}
