import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";

import { experimentNames, runExperiment, withoutPeople } from "@hallumaze/analysis";
import {
  type AddCommand,
  type Console,
  type ExitCode,
  exitCodes,
  findSweep,
  list,
  openResultsFolder,
  readBytes,
  UsageError,
} from "@hallumaze/console";
import {
  analysePaired,
  analysePublished,
  type ExperimentName,
  type PublishedAnalysis,
  type PublishedTrial,
} from "@hallumaze/experiments";
import { parseImport, problemText } from "@hallumaze/imports";
import { drawTable, printTable, singleLine } from "@hallumaze/reports";
import { openHouse } from "@hallumaze/runtime";
import { Option } from "commander";

import { gatherSweep } from "./analyse-sweep.ts";
import { addStatisticsOptions, statisticsOptions, type StatisticsWords } from "./experiment-options.ts";
import { warningLines, writeExperiment } from "./write-results.ts";

interface AnalyzeOptions extends StatisticsWords {
  readonly method?: "published" | "paired";
  readonly experiment?: ExperimentName;
  readonly reasoning?: readonly string[];
  readonly output?: string;
  readonly json?: boolean;
}

/** `analyze CSV|SWEEP`: the published analysis, paired comparisons, or one experiment. */
export const addAnalyzeCommand: AddCommand = (program, console, register) => {
  const command = addStatisticsOptions(
    program
      .command("analyze")
      .description("analyse a sweep, or a file of published trials: all pairs of models, or one experiment")
      .argument("<source>", "name of a sweep, or a JSON or CSV file of trials")
      .addOption(new Option("--method <method>", "how; paired unless told").choices(["published", "paired"]))
      .addOption(new Option("--experiment <name>", "one experiment instead").choices([...experimentNames])),
  )
    .option("--reasoning <models>", "models that count as reasoning ones; those that told of reasoning tokens", list)
    .option("--output <folder>", "also write an experiment's tables and figures below this folder")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nExample:\n  $ hallumaze analyze baselines --experiment mirage\n  $ hallumaze analyze trials.csv --method published\n",
    );
  register(command, async (source: string, options: AnalyzeOptions) => {
    if (options.method !== undefined && options.experiment !== undefined) {
      throw new UsageError("--method and --experiment are two things; give one.");
    }
    if (options.output !== undefined && options.experiment === undefined) {
      throw new UsageError("--output writes an experiment: name it with --experiment, or use hallumaze report.");
    }
    const path = resolve(console.workingFolder, source);
    const isFile = await stat(path).then(
      (found) => found.isFile(),
      () => false,
    );
    if (isFile) return analyseFile(console, source, options);
    if (/\.(?:csv|json)$/i.test(source)) throw new UsageError(`there is no file ${source}.`);
    return analyseStored(console, source, options);
  });
};

async function analyseFile(console: Console, path: string, options: AnalyzeOptions): Promise<ExitCode> {
  if (options.method !== "published") {
    throw new UsageError("a file holds published trials: --method published. Others need the trials of a sweep.");
  }
  const request = {
    fileName: basename(path),
    bytes: await readBytes(console, path),
    as: null,
    model: null,
    skipBad: false,
  };
  const reading = parseImport(request);
  if (reading.kind === "refused") {
    throw new UsageError(["the file cannot be read:", ...reading.problems.slice(0, 20).map(problemText)].join("\n"));
  }
  const trials: PublishedTrial[] = [];
  let missing = 0;
  for (const { model, scores } of reading.rows) {
    const trial = publishedTrial(model, scores.published);
    if (trial === null) missing += 1;
    else trials.push(trial);
  }
  return printPublished(console, trials, missing, options);
}

function publishedTrial(model: string, scores: Scores | undefined): PublishedTrial | null {
  if (scores === undefined) return null;
  const { mei, sr, hrr, brs } = scores;
  return mei === null || sr === null || hrr === null || brs === null ? null : { model, mei, sr, hrr, brs };
}

interface Scores {
  readonly mei: number | null;
  readonly sr: number | null;
  readonly hrr: number | null;
  readonly brs: number | null;
}

async function analyseStored(console: Console, name: string, options: AnalyzeOptions): Promise<ExitCode> {
  await using house = await openHouse(console.environment(), console.logger(), console.variables);
  const sweep = await findSweep(house.store, name);
  if (options.method === "published") {
    const trials: PublishedTrial[] = [];
    let missing = 0;
    for await (const page of house.store.streamTrials(sweep.sweepId, 500)) {
      for (const { alias, scores } of page) {
        const trial = publishedTrial(alias, scores.published);
        if (trial === null) missing += 1;
        else trials.push(trial);
      }
    }
    return printPublished(console, trials, missing, options);
  }
  const gathered = await gatherSweep(house, sweep, console.interrupt);
  const data = options.reasoning === undefined ? gathered : { ...gathered, reasoning: options.reasoning };
  if (options.experiment === undefined) {
    const analysis = analysePaired(withoutPeople(data).table, statisticsOptions(options));
    if (options.json) console.out(JSON.stringify(analysis));
    else printPaired(console, analysis);
    return exitCodes.ok;
  }
  const result = runExperiment(options.experiment, data, statisticsOptions(options));
  if (options.output !== undefined) {
    const folder = await openResultsFolder(console, sweep.name, options.output);
    await writeExperiment(folder, result);
    console.err(`wrote ${folder}`);
  }
  if (options.json) {
    console.out(JSON.stringify(result));
    return exitCodes.ok;
  }
  console.out(result.title);
  for (const sentence of result.reading) console.out(singleLine(sentence));
  for (const table of result.tables) {
    const { heads, rows } = printTable(table);
    console.out(`\n${singleLine(table.caption)}\n${drawTable(heads, rows, Number.POSITIVE_INFINITY)}`);
  }
  for (const line of warningLines(result.warnings)) console.err(`warning: ${singleLine(line)}`);
  return exitCodes.ok;
}

function printPublished(
  console: Console,
  trials: readonly PublishedTrial[],
  missing: number,
  options: AnalyzeOptions,
): ExitCode {
  if (trials.length === 0) throw new UsageError("there is no trial with MEI, SR, HRR and BRS in it.");
  const analysis: PublishedAnalysis = analysePublished(trials);
  if (missing > 0) console.err(`warning: ${missing} trials without these scores were left out`);
  if (options.json) {
    console.out(JSON.stringify(analysis));
    return exitCodes.ok;
  }
  const heads = ["model", "n", "MEI", "SR", "HRR", "BRS", "W+", "p", "p Bonferroni", "Glass Δ"];
  const figure = ({ mean, lo, hi }: { mean: number; lo: number; hi: number }): string =>
    `${mean.toFixed(3)} [${lo.toFixed(3)}, ${hi.toFixed(3)}]`;
  const rows = Object.entries(analysis.models).map(([model, { n, mei, sr, hrr, brs, wilcoxon, glassDelta }]) => [
    singleLine(model),
    String(n),
    ...[mei, sr, hrr, brs].map(figure),
    String(wilcoxon.wPlus),
    ...[wilcoxon.p, wilcoxon.pBonferroni].map((p) => p?.toExponential(2) ?? "-"),
    glassDelta?.toFixed(3) ?? "-",
  ]);
  console.out(drawTable(heads, rows, Number.POSITIVE_INFINITY));
  for (const { message } of analysis.warnings) console.err(`warning: ${singleLine(message)}`);
  return exitCodes.ok;
}

function printPaired(console: Console, { models, pairs, warnings }: ReturnType<typeof analysePaired>): void {
  const figure = ({ mean, lo, hi }: { mean: number | null; lo: number | null; hi: number | null }): string =>
    mean === null
      ? "-"
      : lo === null || hi === null
        ? mean.toFixed(3)
        : `${mean.toFixed(3)} [${lo.toFixed(3)}, ${hi.toFixed(3)}]`;
  const p = (value: number | null): string => (value === null ? "-" : value < 0.001 ? "<0.001" : value.toFixed(3));
  console.out(
    drawTable(
      ["model", "n", "mazes", "SR", "MEI robust", "MEI seed", "HRR", "BRS"],
      Object.entries(models).map(([name, { n, planned, mazes, sr, mei, meiRobust, hrr, brs }]) => [
        singleLine(name),
        `${n}/${planned}`,
        String(mazes),
        ...[sr, meiRobust, mei, hrr, brs].map(figure),
      ]),
      Number.POSITIVE_INFINITY,
    ),
  );
  console.out("");
  console.out(
    drawTable(
      ["a", "b", "metric", "mazes", "a - b", "p", "Wilcoxon", "Holm", "BH"],
      pairs.map((pair) => [
        singleLine(pair.a),
        singleLine(pair.b),
        pair.metric,
        String(pair.mazes),
        figure(pair.difference),
        ...[pair.p, pair.pWilcoxon, pair.pHolm, pair.pBenjaminiHochberg].map(p),
      ]),
      Number.POSITIVE_INFINITY,
    ),
  );
  for (const line of warningLines(warnings)) console.err(`warning: ${singleLine(line)}`);
}
