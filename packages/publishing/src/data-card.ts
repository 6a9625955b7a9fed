import { stringify } from "yaml";

import { type ColumnType, trialColumns } from "./trial-columns.ts";

/** What a data card says beside its columns. */
export interface DataCardFacts {
  /** Shown as the card's head. */
  readonly title: string;
  /** SPDX or Hugging Face name of the licence: `cc-by-4.0`, `mit` … */
  readonly license: string;
  /** A paragraph of Markdown: what was asked of whom, when, how. Trusted text of the researcher. */
  readonly description: string;
  readonly sweeps: readonly string[];
  readonly models: readonly string[];
  readonly languages: readonly string[];
  /** Trials in the data; of these, those with an answer. */
  readonly rows: number;
  readonly answered: number;
  /** Bytes of the Parquet file. */
  readonly byteCount: number;
  readonly programVersion: string;
}

/** The name that the `datasets` library gives a type. SOURCE: Hugging Face, `datasets.Value`. */
const featureTypes: Readonly<Record<ColumnType, string>> = {
  bool: "bool",
  int32: "int32",
  int64: "int64",
  float64: "float64",
  string: "string",
  timestamp: "timestamp[ms, tz=UTC]",
};

/** Where the card's data lies below its folder. */
export const dataFile = "data/trials.parquet";

/**
 * The README.md of a data set, as the Hugging Face hub reads it: a YAML head with licence, files, features and counts,
 * then what the columns mean. Features and columns come from `trialColumns`, as the file's schema does.
 *
 * SOURCE: Hugging Face hub, data set cards: `configs`, `dataset_info`.
 */
export function dataCard(facts: DataCardFacts): string {
  const head = {
    license: facts.license,
    pretty_name: facts.title,
    language: [...facts.languages],
    tags: ["benchmark", "mazes", "metacognition", "hallucination"],
    size_categories: [sizeCategory(facts.rows)],
    configs: [{ config_name: "default", data_files: [{ split: "train", path: dataFile }] }],
    dataset_info: {
      features: trialColumns.map(({ name, type }) => ({ name, dtype: featureTypes[type] })),
      splits: [{ name: "train", num_bytes: facts.byteCount, num_examples: facts.rows }],
      download_size: facts.byteCount,
      dataset_size: facts.byteCount,
    },
  };
  const lines = [
    `# ${inline(facts.title)}`,
    "",
    facts.description.trim(),
    "",
    `${facts.rows} trials, ${facts.answered} with an answer. A trial without one keeps its row and has no scores: missing is`,
    "not wrong. One split, `train`, holds all; it is a name, not advice.",
    "",
    `- Sweeps: ${facts.sweeps.map(code).join(", ")}`,
    `- Models: ${facts.models.map(code).join(", ")}`,
    `- Made by HalluMaze ${inline(facts.programVersion)}`,
    "",
    "## Columns",
    "",
    "| column | type | may be null | meaning |",
    "| --- | --- | --- | --- |",
    ...trialColumns.map(
      ({ name, type, nullable, meaning }) => `| \`${name}\` | ${type} | ${nullable ? "yes" : "no"} | ${meaning} |`,
    ),
    "",
    "Profiles: `seed` are the original formulas on verified counts, `published` repeats the published reference with its",
    "weaknesses, `robust` is hard to game. The maze (size, seed) is the unit of analysis, not the trial.",
    "",
  ];
  return `---\n${stringify(head, { lineWidth: 0 })}---\n\n${lines.join("\n")}`;
}

/** SOURCE: Hugging Face hub, `size_categories`. */
function sizeCategory(rows: number): string {
  const steps: readonly (readonly [below: number, name: string])[] = [
    [1e3, "n<1K"],
    [1e4, "1K<n<10K"],
    [1e5, "10K<n<100K"],
    [1e6, "100K<n<1M"],
    [1e7, "1M<n<10M"],
  ];
  return steps.find(([below]) => rows < below)?.[1] ?? "10M<n<100M";
}

/** A name from elsewhere as code: no mark-up of it is read. */
function code(name: string): string {
  return `\`${inline(name).replaceAll("`", "'")}\``;
}

function inline(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
