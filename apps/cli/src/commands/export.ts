import { judgedTrials } from "@hallumaze/analysis";
import { type AddCommand, exitCodes, findSweep, UsageError, writeBeside, writeWhole } from "@hallumaze/console";
import { once } from "node:events";
import { resolve } from "node:path";

import { openHouse } from "@hallumaze/runtime";
import {
  type ReportPages,
  type ReportRow,
  seedShapeJson,
  seedShapeRecords,
  trialCsv,
  trialJsonl,
} from "@hallumaze/reports";
import { Option } from "commander";

type Format = "csv" | "json" | "jsonl" | "parquet";

const writers = { csv: trialCsv, json: seedShape, jsonl: trialJsonl } as const;

/** `export SWEEP`: every trial as CSV, JSON Lines, or JSON in the shape of the seed document. */
export const addExportCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("export")
    .description("write every trial of a sweep as CSV, JSON Lines, Parquet, or JSON in the seed document's shape")
    .argument("<sweep>", "name of the sweep")
    .addOption(
      new Option("--format <format>", "what to write").choices(["csv", "json", "jsonl", "parquet"]).default("jsonl"),
    )
    .option("--output <file>", "file to write; standard output when left out")
    .option("--json", "the same as --format jsonl")
    .addHelpText("after", "\nExample:\n  $ hallumaze export baselines --format csv --output trials.csv\n");
  register(command, async (name: string, options: { readonly format: Format; readonly output?: string }) => {
    if (options.format === "parquet" && options.output === undefined) {
      throw new UsageError("Parquet is no text: name the file with --output.");
    }
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    const sweep = await findSweep(house.store, name);
    if (options.format === "parquet") {
      const { writeTrialParquet } = await import("@hallumaze/publishing");
      const path = resolve(console.workingFolder, options.output ?? "");
      const { rows } = await writeBeside(path, (draft) => writeTrialParquet(judgedTrials(house.store, sweep), draft));
      console.err(`wrote ${options.output}: ${rows} trials`);
      return exitCodes.ok;
    }
    const chunks = writers[options.format](judgedTrials(house.store, sweep));
    if (options.output === undefined) {
      for await (const chunk of chunks) {
        // A closed pipe (`| head`) has all it wants.
        if (!process.stdout.writable) break;
        if (!process.stdout.write(chunk))
          await Promise.race([once(process.stdout, "drain"), once(process.stdout, "close")]).catch(() => undefined);
      }
      return exitCodes.ok;
    }
    await writeWhole(resolve(console.workingFolder, options.output), chunks);
    console.err(`wrote ${options.output}`);
    return exitCodes.ok;
  });
};

/** The seed document's file groups trials by maze, so it holds all rows at once; the line formats stream. */
async function* seedShape(pages: ReportPages): AsyncGenerator<string> {
  const rows: ReportRow[] = [];
  for await (const page of pages) rows.push(...page);
  const lastMs = Math.max(0, ...rows.map((row) => row.finishedAtMs ?? 0));
  yield seedShapeJson(seedShapeRecords(rows, new Date(lastMs).toISOString().slice(0, 19)));
}
