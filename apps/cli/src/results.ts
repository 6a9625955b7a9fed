import { createWriteStream } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import type { StorePort, SweepRecord } from "@hallumaze/engine";
import {
  drawTable,
  type IntervalFigure,
  leaderboard,
  type LeaderboardRow,
  singleLine,
  trialCsv,
  trialJsonl,
} from "@hallumaze/reports";

import type { Console } from "./console.ts";

const pageSize = 500;
/** Enough for two printed digits; papers use the analysis commands' larger number. */
const leaderboardReplicates = 2000;

/** What was made of a finished sweep. */
export interface Results {
  readonly rows: readonly LeaderboardRow[];
  readonly folder: string;
  readonly summary: {
    readonly folder: string;
    readonly files: readonly string[];
    readonly models: readonly LeaderboardRow[];
  };
}

/** Ranks the models of a sweep. */
export function rankSweep(store: StorePort, sweep: SweepRecord): Promise<readonly LeaderboardRow[]> {
  return leaderboard(store.streamTrials(sweep.sweepId, pageSize), {
    replicates: leaderboardReplicates,
    seed: sweep.name,
  });
}

/** Writes a sweep's tables below `folder`; each file appears whole or not at all. */
export async function writeResults(
  console: Console,
  store: StorePort,
  sweep: SweepRecord,
  folder: string,
): Promise<Results> {
  const target = resolve(console.workingFolder, folder, fileName(sweep.name));
  await mkdir(target, { recursive: true });
  const rows = await rankSweep(store, sweep);
  await writeWhole(join(target, "leaderboard.json"), [
    `${JSON.stringify({ sweep: sweep.name, models: rows }, null, 2)}\n`,
  ]);
  await writeWhole(join(target, "leaderboard.md"), [`${markdown(sweep.name, rows)}\n`]);
  await writeWhole(join(target, "trials.csv"), trialCsv(store.streamTrials(sweep.sweepId, pageSize)));
  await writeWhole(join(target, "trials.jsonl"), trialJsonl(store.streamTrials(sweep.sweepId, pageSize)));
  const shown = relative(console.workingFolder, target) || ".";
  const files = ["leaderboard.md", "leaderboard.json", "trials.csv", "trials.jsonl"];
  return { rows, folder: shown, summary: { folder: shown, files, models: rows } };
}

/** Prints the ranked table and where the files are. */
export function printLeaderboard(console: Console, results: Results): void {
  console.out("");
  console.out(drawTable(head, results.rows.map(cells), Math.max(console.columns(), 150)));
  console.out("");
  console.out(
    "ranked by robust MEI; intervals are 95 %; n is answered/planned; SR by Wilson, MEI by mazes (bootstrap)",
  );
  console.out(`files: ${results.summary.files.map((file) => join(results.folder, file)).join("  ")}`);
}

/** Writes chunks to a file beside the target and renames it: a reader never sees half a file. */
export async function writeWhole(path: string, chunks: Iterable<string> | AsyncIterable<string>): Promise<void> {
  const draft = `${path}.${process.pid}.part`;
  await pipeline(Readable.from(chunks), createWriteStream(draft));
  await rename(draft, path);
}

const head = [
  "#",
  "model",
  "n",
  "SR",
  "MEI robust",
  "MEI seed",
  "HRR",
  "CE",
  "BRS",
  "HC",
  "BT",
  "Score",
  "no answer",
  "cut",
];

function cells(row: LeaderboardRow): string[] {
  return [
    row.rank === null ? "-" : String(row.rank),
    singleLine(row.condition === "" ? row.alias : `${row.alias} ${row.condition}`),
    `${row.answered}/${row.planned}`,
    withInterval(row.sr),
    withInterval(row.meiRobust),
    withInterval(row.meiSeed),
    number(row.all.hrr.mean),
    number(row.all.ce.mean),
    number(row.all.brs.mean),
    number(row.all.hc.mean),
    number(row.all.bt.mean),
    number(row.all.score.mean),
    String(row.nonAnswers),
    String(row.cutOffs),
  ];
}

function markdown(name: string, rows: readonly LeaderboardRow[]): string {
  const line = (words: readonly string[]): string =>
    `| ${words.map((word) => word.replaceAll("|", "\\|")).join(" | ")} |`;
  return [
    `# ${singleLine(name)}`,
    "",
    line(head),
    line(head.map(() => "---")),
    ...rows.map((row) => line(cells(row))),
  ].join("\n");
}

function withInterval(figure: IntervalFigure): string {
  const { mean, low, high } = figure;
  if (mean === null) return "-";
  return low === null || high === null ? number(mean) : `${number(mean)} [${number(low)}, ${number(high)}]`;
}

function number(value: number | null): string {
  return value === null ? "-" : value.toFixed(2);
}

function fileName(name: string): string {
  const safe = name.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^\.+/, "");
  return safe === "" ? "sweep" : safe;
}
