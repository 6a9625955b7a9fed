import {
  type AddCommand,
  type Console,
  type ExitCode,
  exitCodes,
  integerBetween,
  list,
  writeWhole,
  exitCodeOf,
} from "@hallumaze/console";
import { randomBytes } from "node:crypto";
import { dirname, join, resolve } from "node:path";

import { submitSweep } from "@hallumaze/engine";
import { createRandom } from "@hallumaze/foundation";
import {
  type ReportRow,
  seedShapeCsv,
  seedShapeJson,
  type SeedShapeRecord,
  seedShapeRecords,
} from "@hallumaze/reports";
import { type House, openHouse, readProvenance } from "@hallumaze/runtime";
import { type SeedOptions, specFromSeedOptions, type SweepSpec } from "@hallumaze/sweep";
import { Option } from "commander";

import { programFolder, programVersion } from "../env.ts";
import { applyModelRules, requireKeys, solverRules } from "../inputs.ts";
import { workUntilDone } from "../work-until-done.ts";
import { askInteractively } from "./interactive.ts";
import { chooseModels, keyVariables, readConfig } from "./seed-models.ts";
import { comparison, mazeBox, resultLines } from "./seed-console.ts";

/** The words of the seed document's command line. */
export interface SeedWords {
  readonly config?: string;
  readonly size?: number;
  readonly runs?: number;
  readonly seed?: number;
  readonly maxTokens?: number;
  readonly group?: string;
  readonly mirage: boolean;
  readonly confidence: boolean;
  readonly output?: string;
  readonly csv?: boolean;
  readonly interactive?: boolean;
  readonly model?: readonly string[];
}

/** The seed document's own command line: options without a subcommand. Runs through the same queue and store. */
export const addSeedOptions: AddCommand = (program, console, register) => {
  program
    .option("--config <path>", "settings and models from a config.json, see config.example.json")
    .option("--size <n>", "maze size (default 7)", integerBetween(3, 101))
    .option(
      "--runs <n>",
      "with --seed: repeats of that maze; without: as many new mazes (default 1)",
      integerBetween(1, 1000),
    )
    .option("--seed <n>", "seed of the maze", integerBetween(0, Number.MAX_SAFE_INTEGER))
    .option("--max-tokens <n>", "token limit of a reply (default 2500)", integerBetween(1, 10_000_000))
    .addOption(new Option("--group <group>", "Ariadne's Thread group (default A)").choices(["A", "B", "C"]))
    .option("--no-mirage", "leave the tempting hints out")
    .option("--no-confidence", "do not ask for confidences")
    .option("--output <path>", "JSON file (default hallumaze_results_YYYYMMDD_HHMMSS.json)")
    .option("--csv", "write a CSV file beside it")
    .option("--interactive", "ask for settings and models")
    .option("--model <models>", "models to run, for example sim/oracle,sim/dfs-honest", list);
  register(program, async (words: SeedWords) => runSeedCommand(console, words));
};

async function runSeedCommand(console: Console, words: SeedWords): Promise<ExitCode> {
  const config = words.config === undefined ? null : await readConfig(console, words.config);
  const given: Partial<SeedOptions> = {
    ...config?.options,
    ...(words.size !== undefined && { size: words.size }),
    ...(words.group !== undefined && { group: words.group }),
    ...(words.maxTokens !== undefined && { maxTokens: words.maxTokens }),
    ...(!words.mirage && { mirage: false }),
    ...(!words.confidence && { confidence: false }),
    ...(words.runs !== undefined && { runs: words.runs }),
    ...(words.seed !== undefined && { seed: words.seed }),
  };
  const asked = words.interactive ? await askInteractively(console, given) : null;
  const options: SeedOptions = asked?.options ?? { ...given, models: chooseModels(console, config, words.model) };
  // Keys typed or found in the file go no further than this map.
  const variables = { ...console.variables, ...keyVariables(config?.keys ?? []), ...asked?.keys };
  // Unseeded runs want mazes that nobody has seen: this is the one draw that is not reproducible, and its seeds are printed.
  const random = createRandom(randomBytes(16).toString("hex"));
  const { spec, notes } = specFromSeedOptions(options, { random, solvers: solverRules });
  for (const note of notes) console.err(`note: ${note}`);
  const checked = applyModelRules(console, spec, "command line");
  requireKeys({ variables }, checked);
  await using house = await openHouse(console.environment(), console.logger(), variables);
  // Awaited here: the house closes when this scope ends.
  return await runMazes(console, house, checked, words);
}

async function runMazes(console: Console, house: House, spec: SweepSpec, words: SeedWords): Promise<ExitCode> {
  const { sweep, enqueued, cells } = await submitSweep(house, spec, {
    provenance: await readProvenance(programFolder, programVersion),
    fresh: false,
    rehearsal: false,
    signal: console.interrupt,
  });
  if (enqueued < cells)
    console.err(`note: ${cells - enqueued} of ${cells} cells have been answered before and are not asked again`);
  const work = await workUntilDone(console, house, sweep.sweepId, {
    concurrency: 8,
    quiet: !console.isTerminal,
    rehearsal: false,
  });
  if (work.interrupted) {
    console.err("Interrupted: what is done is kept. The same command resumes where --seed was given.");
    return exitCodes.interrupted;
  }
  const rows: ReportRow[] = [];
  for await (const page of house.store.streamTrials(sweep.sweepId, 500)) rows.push(...page);
  const now = new Date(console.now());
  const records = seedShapeRecords(rows, now.toISOString().slice(0, 19));
  printRecords(console, records);
  await writeFiles(console, records, words, now);
  return exitCodeOf(work.progress);
}

function printRecords(console: Console, records: readonly SeedShapeRecord[]): void {
  for (const record of records) {
    console.out(mazeBox(record));
    for (const result of record.results) console.out(resultLines(result));
    console.out("");
  }
  console.out(comparison(records, console.columns()));
}

async function writeFiles(
  console: Console,
  records: readonly SeedShapeRecord[],
  words: SeedWords,
  now: Date,
): Promise<void> {
  const stamp = now.toISOString().replaceAll(/[-:]/g, "").slice(0, 15).replace("T", "_");
  const shown = words.output ?? `hallumaze_results_${stamp}.json`;
  const path = resolve(console.workingFolder, shown);
  await writeWhole(path, [seedShapeJson(records)]);
  console.out(`  ✓ JSON 저장: ${shown}`);
  if (!words.csv) return;
  const csvName = `${shown.replace(/\.json$/i, "")}.csv`;
  await writeWhole(join(dirname(path), csvName.split(/[\\/]/).at(-1) ?? csvName), [seedShapeCsv(records)]);
  console.out(`  ✓ CSV 저장: ${csvName}`);
}
