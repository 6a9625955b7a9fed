import { join, relative } from "node:path";

import { judgedTrials, type TrialSourceStore } from "@hallumaze/analysis";
import type { AriadneSummary } from "@hallumaze/ariadne";
import { type Console, openResultsFolder, writeWhole } from "@hallumaze/console";
import type { DetectorStorePort, Finding } from "@hallumaze/detectors";
import type { SweepRecord } from "@hallumaze/engine";
import { parseStoredSpec } from "@hallumaze/sweep";
import {
  ariadneCells,
  ariadneHeads,
  ariadneNotes,
  ariadneSummaries,
  drawTable,
  type IntervalFigure,
  leaderboard,
  type LeaderboardRow,
  singleLine,
  trialCsv,
  trialJsonl,
} from "@hallumaze/reports";
import { findInSweep, type SweepFindings } from "@hallumaze/watching";

import { findingLines, findingsMarkdown } from "./findings.ts";

const pageSize = 500;
/** Findings that a run prints; its folder has all. */
const findingsShown = 8;
/** Enough for two printed digits; papers use the analysis commands' larger number. */
const leaderboardReplicates = 2000;

/** What was made of a finished sweep. */
export interface Results {
  readonly rows: readonly LeaderboardRow[];
  /** Empty where the sweep has no trial of groups B and C. */
  readonly ariadne: readonly AriadneSummary[];
  /** The judges whose levels are shown. */
  readonly judges: readonly string[];
  readonly folder: string;
  readonly found: SweepFindings;
  readonly summary: {
    readonly folder: string;
    readonly files: readonly string[];
    readonly models: readonly LeaderboardRow[];
    readonly ariadne: readonly AriadneSummary[];
    readonly findings: readonly Finding[];
  };
}

/** Ranks the models of a sweep; names the judges of its levels in `judges`. */
export function rankSweep(
  store: TrialSourceStore,
  sweep: SweepRecord,
  judges = new Set<string>(),
): Promise<readonly LeaderboardRow[]> {
  return leaderboard(judgedTrials(store, sweep, { judges, of: "scores" }), {
    replicates: leaderboardReplicates,
    seed: sweep.name,
    // A hint changes what a result means: groups are never pooled.
    ...(parseStoredSpec(sweep.specJson).groups.length > 1 ? { splitBy: ["group"] as const } : {}),
  });
}

/** Writes a sweep's tables below `folder`; each file appears whole or not at all. */
export async function writeResults(
  console: Console,
  store: TrialSourceStore & DetectorStorePort,
  sweep: SweepRecord,
  folder: string,
): Promise<Results> {
  const target = await openResultsFolder(console, sweep.name, folder);
  const judges = new Set<string>();
  const rows = await rankSweep(store, sweep, judges);
  const ariadne = await ariadneSummaries(store.streamTrials(sweep.sweepId, pageSize), {
    replicates: leaderboardReplicates,
    seed: sweep.name,
  });
  await writeWhole(join(target, "leaderboard.json"), [
    `${JSON.stringify({ sweep: sweep.name, models: rows, ariadne }, null, 2)}\n`,
  ]);
  await writeWhole(join(target, "leaderboard.md"), [
    `${markdown(sweep.name, { rows, ariadne, judges: [...judges] })}\n`,
  ]);
  const planned = rows.reduce((sum, row) => sum + row.planned, 0);
  const found = await findInSweep(store, sweep.sweepId, planned);
  await writeWhole(join(target, "warnings.md"), [findingsMarkdown(sweep.name, found)]);
  await writeWhole(join(target, "warnings.json"), [`${JSON.stringify({ sweep: sweep.name, ...found }, null, 2)}\n`]);
  await writeWhole(join(target, "trials.csv"), trialCsv(judgedTrials(store, sweep)));
  await writeWhole(join(target, "trials.jsonl"), trialJsonl(judgedTrials(store, sweep)));
  const shown = relative(console.workingFolder, target) || ".";
  const files = ["leaderboard.md", "leaderboard.json", "warnings.md", "warnings.json", "trials.csv", "trials.jsonl"];
  return {
    rows,
    ariadne,
    judges: [...judges],
    folder: shown,
    found,
    summary: { folder: shown, files, models: rows, ariadne, findings: found.findings },
  };
}

/** Prints the ranked table, as many columns of it as the terminal holds, and where the files are. */
export function printLeaderboard(console: Console, results: Results): void {
  const isJudged = results.rows.some(({ levels }) => levels !== null);
  const wanted = columns.filter(({ head }) => isJudged || head !== levelHead);
  const shown = wanted.filter(
    ({ head, isEssential }) => console.columns() >= wideColumns || isEssential || head === levelHead,
  );
  console.out("");
  console.out(
    drawTable(
      shown.map((column) => column.head),
      results.rows.map((row) => shown.map((column) => column.cell(row))),
      Number.POSITIVE_INFINITY,
    ),
  );
  console.out("");
  console.out(legend(results.rows, results.judges));
  printAriadne(console, results.ariadne);
  const inFile = join(results.folder, "warnings.md");
  for (const line of findingLines(results.found, findingsShown, inFile)) console.out(line);
  console.out(`files: ${results.summary.files.map((file) => join(results.folder, file)).join("  ")}`);
}

function printAriadne(console: Console, summaries: readonly AriadneSummary[]): void {
  if (summaries.length === 0) return;
  console.out(
    "\nAriadne's Thread: how soon a lost model answers to a hint (NRS), ignores a note (HIR), gains by it (TI)",
  );
  console.out(drawTable(ariadneHeads, summaries.map(ariadneCells), Number.POSITIVE_INFINITY));
  for (const note of summaries.flatMap(ariadneNotes)) console.out(`  ${note}`);
}

/** Width from which a terminal holds every column of the leaderboard. */
const wideColumns = 160;

const levelHead = "L1/L2/L3";

interface Column {
  readonly head: string;
  readonly isEssential: boolean;
  readonly cell: (row: LeaderboardRow) => string;
}

const columns: readonly Column[] = [
  { head: "#", isEssential: true, cell: (row) => (row.rank === null ? "-" : String(row.rank)) },
  {
    head: "model",
    isEssential: true,
    cell: (row) => singleLine(row.condition === "" ? row.alias : `${row.alias} ${row.condition}`),
  },
  { head: "n", isEssential: true, cell: (row) => `${row.answered}/${row.planned}` },
  { head: "SR", isEssential: true, cell: (row) => withInterval(row.sr) },
  { head: "MEI robust", isEssential: true, cell: (row) => withInterval(row.meiRobust) },
  { head: "MEI seed", isEssential: true, cell: (row) => withInterval(row.meiSeed) },
  { head: "HRR seed", isEssential: false, cell: (row) => number(row.all.hrr.mean) },
  { head: "CE", isEssential: true, cell: (row) => number(row.all.ce.mean) },
  { head: "BRS seed", isEssential: false, cell: (row) => number(row.all.brs.mean) },
  { head: "HC", isEssential: false, cell: (row) => number(row.all.hc.mean) },
  { head: "BT", isEssential: false, cell: (row) => number(row.all.bt.mean) },
  { head: "Score seed", isEssential: false, cell: (row) => number(row.all.score.mean) },
  { head: levelHead, isEssential: false, cell: (row) => levelCounts(row) },
  { head: "no answer", isEssential: false, cell: (row) => String(row.nonAnswers) },
  { head: "cut", isEssential: false, cell: (row) => String(row.cutOffs) },
];

function markdown(name: string, { rows, ariadne, judges }: Pick<Results, "rows" | "ariadne" | "judges">): string {
  const shown = columns.filter(({ head }) => judges.length > 0 || head !== levelHead);
  const line = (words: readonly string[]): string =>
    `| ${words.map((word) => word.replaceAll("|", "\\|")).join(" | ")} |`;
  const table = (heads: readonly string[], cells: readonly (readonly string[])[]): readonly string[] => [
    line(heads),
    line(heads.map(() => "---")),
    ...cells.map(line),
  ];
  return [
    `# ${singleLine(name)}`,
    "",
    ...table(
      shown.map((column) => column.head),
      rows.map((row) => shown.map((column) => column.cell(row))),
    ),
    "",
    legend(rows, judges),
    ...(ariadne.length === 0 ? [] : ["", "## Ariadne's Thread", "", ...table(ariadneHeads, ariadne.map(ariadneCells))]),
    ...ariadne.flatMap(ariadneNotes).map((note) => `\n${note}`),
  ].join("\n");
}

/** What the columns mean, in one line, and whose levels they show. */
function legend(rows: readonly LeaderboardRow[], judges: readonly string[]): string {
  const groups = rows.some(({ condition }) => condition !== "") ? ", each group apart" : "";
  const levels = judges.length === 0 ? "" : `; levels by ${judges.join(" and ")}`;
  const standIn = judges.includes("sim/judge") ? ", a stand-in and no judge to cite" : "";
  return (
    `ranked by robust MEI${groups}; intervals are 95 % (SR by Wilson, MEI by mazes); n is answered/planned; ` +
    `HRR, CE, BRS, HC, BT as in the profile seed${levels}${standIn}`
  );
}

/** Judged answers by level, and how many have none. */
function levelCounts({ levels }: LeaderboardRow): string {
  if (levels === null) return "-";
  const { l1, l2, l3, unscored } = levels;
  return `${l1}/${l2}/${l3}${unscored > 0 ? ` (${unscored} unscored)` : ""}`;
}

function withInterval(figure: IntervalFigure): string {
  const { mean, low, high } = figure;
  if (mean === null) return "-";
  return low === null || high === null ? number(mean) : `${number(mean)} [${number(low)}, ${number(high)}]`;
}

function number(value: number | null): string {
  return value === null ? "-" : value.toFixed(2);
}
