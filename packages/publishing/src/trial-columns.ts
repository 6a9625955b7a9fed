import type { ProfileName, ProfileScores } from "@hallumaze/metrics";
import type { ReportRow } from "@hallumaze/reports";

/** What a column's cells are: `bool`, whole numbers of 32 and 64 bits, double, text, or a moment in UTC. */
export type ColumnType = "bool" | "int32" | "int64" | "float64" | "string" | "timestamp";

/** What a cell can hold; null is not known. */
export type Cell = string | number | boolean | Date | bigint | null;

/** One column of the data set: this definition makes the file's schema, the card's, and the table of columns in it. */
export interface TrialColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** False where every row has a value. */
  readonly nullable: boolean;
  /** One sentence: what it is, its unit or range, what null means. */
  readonly meaning: string;
  readonly read: (row: ReportRow) => Cell;
}

const identity: readonly TrialColumn[] = [
  column(
    "cell_id",
    "string",
    "Hash of the trial's plan: the same plan has the same id in every data set.",
    (row) => row.cellId,
  ),
  column("sweep", "string", "Name of the sweep.", (row) => row.sweep),
  column("alias", "string", "The model's name in the sweep.", (row) => row.alias),
  column("provider", "string", "Who serves the model; `sim` is a baseline solver.", (row) => row.plan.provider),
  column("model", "string", "The model as it was asked for.", (row) => row.plan.model),
  optional("served_model", "string", "The model that the reply says it is of.", (row) => row.servedModel),
];

const condition: readonly TrialColumn[] = [
  column("size", "int32", "Rows and columns of the maze.", (row) => row.plan.size),
  column("seed", "int64", "Seed of the maze.", (row) => BigInt(row.plan.seed)),
  column("generator", "string", "How the maze's walls were chosen.", (row) => row.plan.generator),
  column("placement", "string", "Where its traps were put.", (row) => row.plan.placement),
  column("group", "string", "Ariadne's Thread: A no hint, B and C hints.", (row) => row.plan.group),
  column("mirage", "bool", "True where the maze's text carried tempting hints.", (row) => row.plan.mirage),
  column("language", "string", "Language of the prompt: ko or en.", (row) => row.plan.language),
  column("confidence", "bool", "True where confidences were asked for.", (row) => row.plan.confidence),
  column("repeat", "int32", "0-based repeat of the same cell.", (row) => row.plan.repeat),
  column("prompt_version", "string", "Version of the prompt.", (row) => row.plan.promptVersion),
  optional("temperature", "float64", "Sampling temperature; null is the vendor's own.", (row) => row.plan.temperature),
  column("max_tokens", "int32", "Most tokens of a reply.", (row) => row.plan.maxTokens),
  column("params", "string", "Further parameters, as JSON.", (row) => JSON.stringify(row.plan.params)),
];

const ending: readonly TrialColumn[] = [
  column("state", "string", "done has an answer; every other state is a missing one.", (row) => row.state),
  optional("outcome", "string", "How the last try ended: ok, truncated, refused, timeout …", (row) => row.outcome),
  column("tries", "int32", "Tries that were made.", (row) => row.tries),
  column("reused", "bool", "True where the answer was taken over from another sweep.", (row) => row.reused),
  optional("finished_at", "timestamp", "When it ended, UTC.", (row) =>
    row.finishedAtMs === null ? null : new Date(row.finishedAtMs),
  ),
  optional("latency_ms", "int32", "Time of its requests, in milliseconds.", (row) => whole(row.latencyMs)),
];

const usage: readonly TrialColumn[] = (
  [
    ["input_tokens", "inputTokens", "Tokens sent"],
    ["output_tokens", "outputTokens", "Tokens received, those of reasoning included where the vendor counts them so"],
    ["cached_tokens", "cachedTokens", "Tokens sent that the vendor had cached"],
    ["reasoning_tokens", "reasoningTokens", "Tokens of reasoning"],
  ] as const
).map(([name, key, meaning]) =>
  optional(name, "int32", `${meaning}; null is not told.`, (row) => row.usage?.[key] ?? null),
);

const cost = optional(
  "cost_usd",
  "float64",
  "Known cost of all its requests in US dollars; null is not known.",
  (row) => (row.costUsd === null ? null : Number(row.costUsd)),
);

const judged: readonly TrialColumn[] = [
  optional(
    "judge_level",
    "int32",
    "The judges' level, 1 to 3; null where there is none.",
    (row) => row.judge?.level ?? null,
  ),
  optional(
    "judge_unscored",
    "string",
    "Why there is no level; null where there is one or none was asked for.",
    (row) => row.judge?.unscoredReason ?? null,
  ),
  optional("judge_confidence", "float64", "The judges' confidence, 0 to 1.", (row) => row.judge?.confidence ?? null),
];

const profiles: readonly ProfileName[] = ["seed", "published", "robust"];

const metrics: readonly (readonly [key: keyof ProfileScores, type: ColumnType, meaning: string])[] = [
  ["sr", "int32", "success, 0 or 1"],
  ["hc", "float64", "moves that the maze does not allow"],
  ["fhr", "float64", "first step that went wrong, 1-based; -1 where none did"],
  ["bt", "float64", "backtracks"],
  ["lt", "float64", "loops"],
  ["hrr", "float64", "share of errors that were recognised, 0 to 1"],
  ["mei", "float64", "metacognitive escape index"],
  ["ce", "float64", "calibration error, 0 to 1; null where no confidence was given"],
  ["brs", "float64", "bias resistance, 0 to 1; null where no attempt was made"],
  ["score", "float64", "HalluMaze score"],
];

/**
 * Every column of the data set, in order. Names are lower case with underscores, as in the published trials; scores are
 * `<profile>_<metric>`, null without an answer.
 */
export const trialColumns: readonly TrialColumn[] = [
  ...identity,
  ...condition,
  ...ending,
  ...usage,
  cost,
  ...judged,
  ...profiles.flatMap((profile) =>
    metrics.map(([key, type, meaning]) =>
      optional(
        `${profile}_${key}`,
        type,
        `Profile ${profile}: ${meaning}.`,
        (row) => row.scores[profile]?.[key] ?? null,
      ),
    ),
  ),
];

function column(name: string, type: ColumnType, meaning: string, read: TrialColumn["read"]): TrialColumn {
  return { name, type, nullable: false, meaning, read };
}

function optional(name: string, type: ColumnType, meaning: string, read: TrialColumn["read"]): TrialColumn {
  return { name, type, nullable: true, meaning, read };
}

function whole(value: number | null): number | null {
  return value === null ? null : Math.round(value);
}
