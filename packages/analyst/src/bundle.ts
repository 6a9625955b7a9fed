import { createWriteStream } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

import { judgedTrials, trialRecords } from "@hallumaze/analysis";
import { type AddCommand, type Console, exitCodes, findSweep, list, UsageError, writeWhole } from "@hallumaze/console";
import type { SweepRecord } from "@hallumaze/engine";
import { writeDataFolder, writeManifest } from "@hallumaze/publishing";
import { quoted, trialCsv, trialJsonl } from "@hallumaze/reports";
import { type House, openHouse } from "@hallumaze/runtime";

import { gatherSweep, openTrials, type ReportSettings, writeReport } from "./analyse-sweep.ts";
import { bundleFiles } from "./bundle-files.ts";
import {
  addStatisticsOptions,
  checkExperiments,
  statisticsOptions,
  type StatisticsWords,
} from "./experiment-options.ts";

interface BundleOptions extends StatisticsWords {
  readonly output?: string;
  readonly reasoning?: readonly string[];
  readonly experiments?: readonly string[];
  readonly license: string;
  readonly json?: boolean;
}

/** `bundle SWEEP`: all that a reviewer needs to replay a sweep without a key, as one folder with a manifest of hashes. */
export function addBundleCommand(version: string): AddCommand {
  return (program, console, register) => {
    const command = addStatisticsOptions(
      program
        .command("bundle")
        .description(
          "write a sweep as one folder: spec, replies, tables, figures, data set, manifest; replay checks it",
        )
        .argument("<sweep>", "name of the sweep"),
    )
      .option("--output <folder>", "folder to make; <sweep>-bundle when left out")
      .option("--reasoning <models>", "models that count as reasoning ones; those that told of reasoning tokens", list)
      .option("--license <id>", "licence of the data, as the data card names it", "cc-by-4.0")
      .option("--experiments <names>", "only these, for example models,mirage", list)
      .option("--json", "print what was written as JSON")
      .addHelpText("after", "\nExample:\n  $ hallumaze bundle baselines --output paper/baselines\n");
    register(command, async (name: string, options: BundleOptions) => {
      await using house = await openHouse(console.environment(), console.logger(), console.variables);
      const sweep = await findSweep(house.store, name);
      const folder = resolve(console.workingFolder, options.output ?? `${sweep.name.replace(/[^\w.-]+/g, "-")}-bundle`);
      if (
        await stat(folder).then(
          () => true,
          () => false,
        )
      ) {
        throw new UsageError(`${folder} is there already: name another --output, or take it away.`);
      }
      const open = await openTrials(house, sweep);
      if (open > 0) {
        throw new UsageError(
          `${open} trials of ${sweep.name} are still open, and its files would differ: wait, or hallumaze pause ${quoted(sweep.name)}.`,
        );
      }
      await mkdir(dirname(folder), { recursive: true });
      // A folder of its own: two at once do not meet, and nothing of others is touched.
      const draft = await mkdtemp(`${folder}.partial-`);
      try {
        const settings: ReportSettings = {
          sweep: sweep.name,
          options: statisticsOptions(options),
          reasoning: options.reasoning ?? null,
          experiments: checkExperiments(options.experiments),
          facts: [],
          warnings: [],
        };
        const files = await writeBundle({ console, house, sweep, draft, version, license: options.license }, settings);
        await chmod(draft, 0o755);
        await rename(draft, folder);
        printBundle(console, folder, files, options.json === true);
      } catch (error) {
        await rm(draft, { recursive: true, force: true });
        throw error;
      }
      return exitCodes.ok;
    });
  };
}

interface BundleJob {
  readonly console: Console;
  readonly house: House;
  readonly sweep: SweepRecord;
  readonly draft: string;
  readonly version: string;
  readonly license: string;
}

/** Writes every file of a bundle, the manifest last; gives their number. */
async function writeBundle(job: BundleJob, given: ReportSettings): Promise<number> {
  const { console, house, sweep, draft, version, license } = job;
  const signal = console.interrupt;
  const data = await gatherSweep(house, sweep, signal);
  const settings = { ...given, facts: [`${data.table.size()} trials`, `HalluMaze Sweeps ${version}`] };
  await writeWhole(join(draft, bundleFiles.spec), [`${JSON.stringify(JSON.parse(sweep.specJson), null, 2)}\n`]);
  await writeRecords(house, sweep, draft);
  signal.throwIfAborted();
  await writeWhole(join(draft, "trials.csv"), trialCsv(judgedTrials(house.store, sweep)));
  await writeWhole(join(draft, "trials.jsonl"), trialJsonl(judgedTrials(house.store, sweep)));
  signal.throwIfAborted();
  await writeDataFolder(judgedTrials(house.store, sweep), join(draft, "dataset"), {
    title: sweep.name,
    license,
    description: `Trials of the HalluMaze sweep ${sweep.name}.`,
    programVersion: version,
  });
  await writeReport(join(draft, bundleFiles.report), data, settings, { say: (text) => console.err(text), signal });
  const manifest = await writeManifest(draft, {
    settings: JSON.parse(JSON.stringify(settings)),
    trials: data.table.size(),
    programVersion: version,
  });
  return manifest.files.length;
}

function printBundle(console: Console, folder: string, files: number, json: boolean): void {
  const shown = relative(console.workingFolder, folder) || ".";
  if (json) console.out(JSON.stringify({ folder: shown, files }));
  else console.out(`${shown}: ${files} files. Check it anywhere with: hallumaze replay ${quoted(shown)}`);
}

/** Every trial with its replies, and what was imported, as JSON Lines under gzip. */
async function writeRecords(house: House, sweep: SweepRecord, folder: string): Promise<void> {
  await writeLines(join(folder, bundleFiles.records), trialRecords(house.store, sweep));
  async function* imported(): AsyncGenerator {
    for await (const page of house.store.streamImported(500)) yield* page;
  }
  await writeLines(join(folder, bundleFiles.imported), imported());
}

async function writeLines(path: string, values: AsyncIterable<unknown>): Promise<void> {
  async function* lines(): AsyncGenerator<string> {
    for await (const value of values) yield `${JSON.stringify(value)}\n`;
  }
  await pipeline(Readable.from(lines()), createGzip(), createWriteStream(path));
}
