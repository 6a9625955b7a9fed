import { join, relative } from "node:path";

import { type AddCommand, type Console, exitCodes, findSweep, list, openResultsFolder } from "@hallumaze/console";
import { singleLine } from "@hallumaze/reports";
import { openHouse } from "@hallumaze/runtime";

import { gatherSweep, openTrials, type ReportSettings, writeReport, type WrittenReport } from "./analyse-sweep.ts";
import {
  addStatisticsOptions,
  checkExperiments,
  statisticsOptions,
  type StatisticsWords,
} from "./experiment-options.ts";
import { warningLines } from "./write-results.ts";

interface ReportOptions extends StatisticsWords {
  readonly output: string;
  readonly reasoning?: readonly string[];
  readonly experiments?: readonly string[];
  readonly json?: boolean;
}

/** `report SWEEP`: every experiment that the sweep holds, as tables, figures and one HTML page. */
export function addReportCommand(version: string): AddCommand {
  return (program, console, register) => {
    const command = addStatisticsOptions(
      program
        .command("report")
        .description("write a finished sweep's tables, figures and readings, and one HTML page of them all")
        .argument("<sweep>", "name of the sweep"),
    )
      .option("--output <folder>", "folder for the result files", "results")
      .option("--reasoning <models>", "models that count as reasoning ones; those that told of reasoning tokens", list)
      .option("--experiments <names>", "only these, for example models,mirage", list)
      .option("--json", "print what was written as JSON")
      .addHelpText("after", "\nExample:\n  $ hallumaze report baselines\n");
    register(command, async (name: string, options: ReportOptions) => {
      await using house = await openHouse(console.environment(), console.logger(), console.variables);
      const sweep = await findSweep(house.store, name);
      const folder = join(await openResultsFolder(console, sweep.name, options.output), "report");
      const open = await openTrials(house, sweep);
      const data = await gatherSweep(house, sweep, console.interrupt);
      const settings: ReportSettings = {
        sweep: sweep.name,
        options: statisticsOptions(options),
        reasoning: options.reasoning ?? null,
        experiments: checkExperiments(options.experiments),
        facts: [`${data.table.size()} trials`, `HalluMaze Sweeps ${version}`],
        warnings: open === 0 ? [] : [`${open} trials are still open: these figures will change.`],
      };
      const written = await writeReport(folder, data, settings, {
        say: (text) => console.err(text),
        signal: console.interrupt,
      });
      printReport(console, folder, written, options.json === true);
      return exitCodes.ok;
    });
  };
}

function printReport(console: Console, folder: string, { experiments, leftOut }: WrittenReport, json: boolean): void {
  const shown = relative(console.workingFolder, folder) || ".";
  const page = join(shown, "report.html");
  if (json) {
    const told = experiments.map(({ result }) => ({
      experiment: result.experiment,
      reading: result.reading,
      warnings: result.warnings,
    }));
    console.out(JSON.stringify({ page, experiments: told, leftOut }));
    return;
  }
  for (const { result } of experiments) {
    // Names of models and of people come from files of others.
    console.out(singleLine(`${result.title}: ${result.reading[0] ?? ""}`));
    for (const line of warningLines(result.warnings)) console.out(`  warning: ${singleLine(line)}`);
  }
  for (const { title, reason } of leftOut) console.out(singleLine(`left out: ${title}: ${reason}`));
  console.out(`page: ${page}; tables and figures beside it`);
}
