import type { AriadneRecord } from "@hallumaze/ariadne";
import type { ProfileName, ProfileScores } from "@hallumaze/metrics";
import { stringify } from "csv-stringify/sync";

import type { ReportPages, ReportRow } from "./report-row.ts";

const profiles: readonly ProfileName[] = ["seed", "published", "robust"];
const metrics = [
  "sr",
  "hc",
  "fhr",
  "bt",
  "lt",
  "hrr",
  "mei",
  "ce",
  "brs",
  "score",
] as const satisfies readonly (keyof ProfileScores)[];

/**
 * One trial as one line of JSON, without the line break: identity, condition, state, scores of every profile, usage.
 * What is not known is null, never 0. `judge` is null where no judge was asked.
 *
 * SOURCE: spec/sweeps.md section 7.
 */
export function trialJsonLine(row: ReportRow): string {
  return JSON.stringify({
    ...Object.fromEntries(identity.map(([column, read]) => [column, read(row)])),
    scores: row.scores,
    judge: row.judge ?? null,
    usage: row.usage,
    costUsd: row.costUsd,
    reading: row.readingJson === null ? null : (JSON.parse(row.readingJson) as unknown),
    params: row.plan.params,
  });
}

/** Every trial as JSON Lines, a page at a time: memory stays that of one page. */
export async function* trialJsonl(pages: ReportPages): AsyncGenerator<string, void, undefined> {
  for await (const page of pages) {
    if (page.length > 0) yield `${page.map(trialJsonLine).join("\n")}\n`;
  }
}

/**
 * Every trial as CSV with a header, a page at a time. Columns of a profile's scores are `seed_mei`, `robust_mei` …;
 * an unknown value is an empty cell.
 *
 * A text cell that a spreadsheet would run as a formula (it begins with = + - @, a tab or a return) gets an apostrophe
 * in front; numbers stay numbers.
 * SOURCE: RFC 4180; OWASP, CSV Injection.
 */
export async function* trialCsv(pages: ReportPages): AsyncGenerator<string, void, undefined> {
  yield csvOf([columns]);
  for await (const page of pages) {
    if (page.length > 0) yield csvOf(page.map(cellsOf));
  }
}

/** Writes rows of cells as CSV; null is an empty cell. */
export function csvOf(rows: readonly (readonly CellValue[])[]): string {
  return stringify(
    rows.map((row) => [...row]),
    { escape_formulas: true, cast: { boolean: (value) => String(value) } },
  );
}

/** What became of a trial's hints; null where nothing was said of them. */
function ariadneOf({ readingJson }: ReportRow): AriadneRecord | null {
  if (readingJson === null || !readingJson.includes('"ariadne"')) return null;
  return (JSON.parse(readingJson) as { readonly ariadne?: AriadneRecord }).ariadne ?? null;
}

type CellValue = string | number | boolean | null;

const identity: readonly (readonly [column: string, read: (row: ReportRow) => CellValue])[] = [
  ["cellId", (row) => row.cellId],
  ["trialId", (row) => row.trialId],
  ["sweep", (row) => row.sweep],
  ["alias", (row) => row.alias],
  ["provider", (row) => row.plan.provider],
  ["model", (row) => row.plan.model],
  ["seed", (row) => row.plan.seed],
  ["size", (row) => row.plan.size],
  ["group", (row) => row.plan.group],
  ["mirage", (row) => row.plan.mirage],
  ["language", (row) => row.plan.language],
  ["confidence", (row) => row.plan.confidence],
  ["repeat", (row) => row.plan.repeat],
  ["generator", (row) => row.plan.generator],
  ["placement", (row) => row.plan.placement],
  ["promptVersion", (row) => row.plan.promptVersion],
  ["baseUrl", (row) => row.plan.baseUrl],
  ["temperature", (row) => row.plan.temperature],
  ["maxTokens", (row) => row.plan.maxTokens],
  ["rehearsal", (row) => row.plan.rehearsal],
  ["state", (row) => row.state],
  ["outcome", (row) => row.outcome],
  ["tries", (row) => row.tries],
  ["message", (row) => row.message],
  ["reused", (row) => row.reused],
  ["servedModel", (row) => row.servedModel],
  ["costUsd", (row) => (row.costUsd === null ? null : Number(row.costUsd))],
  ["latencyMs", (row) => row.latencyMs],
  ["triggers", (row) => ariadneOf(row)?.triggers.join(" ") ?? null],
  ["hintsGiven", (row) => ariadneOf(row)?.hints.length ?? null],
  [
    "hintScores",
    (row) =>
      ariadneOf(row)
        ?.hints.map(({ score }) => score ?? "censored")
        .join(" ") ?? null,
  ],
  ["shadowScore", (row) => ariadneOf(row)?.shadow?.score ?? null],
  ["shadowMeiSeed", (row) => ariadneOf(row)?.shadow?.meiSeed ?? null],
  ["judgeLevel", (row) => row.judge?.level ?? null],
  ["judgeUnscored", (row) => row.judge?.unscoredReason ?? null],
  ["judgeConfidence", (row) => row.judge?.confidence ?? null],
  ["finishedAt", (row) => (row.finishedAtMs === null ? null : new Date(row.finishedAtMs).toISOString())],
];
const usage = ["inputTokens", "outputTokens", "cachedTokens", "reasoningTokens"] as const;
const columns: readonly string[] = [
  ...identity.map(([column]) => column),
  ...usage,
  ...profiles.flatMap((profile) => metrics.map((metric) => `${profile}_${metric}`)),
];

function cellsOf(row: ReportRow): CellValue[] {
  return [
    ...identity.map(([, read]) => read(row)),
    ...usage.map((column) => row.usage?.[column] ?? null),
    ...profiles.flatMap((profile) => metrics.map((metric) => row.scores[profile]?.[metric] ?? null)),
  ];
}
