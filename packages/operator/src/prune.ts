import { prune } from "@hallumaze/archive";
import { type AddCommand, exitCodes, findSweep, UsageError } from "@hallumaze/console";
import { openHouse } from "@hallumaze/runtime";

interface PruneOptions {
  readonly all?: boolean;
  readonly olderThan: number;
  readonly text?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** `prune [SWEEP]`: removes what is large of old exchanges and keeps hashes; no figure changes. */
export const addPruneCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("prune")
    .description("remove requests, raw replies and reasoning of old ended trials; hashes and every figure stay")
    .argument("[sweep]", "name of the sweep")
    .option("--all", "every sweep")
    .requiredOption("--older-than <age>", "only trials that ended so long ago: 30d, 12h, 4w", parseAge)
    .option("--text", "the replies' text too: what is pruned so can never be scored or judged again")
    .option("--dry-run", "only say what would go")
    .option("--json", "print the report as JSON")
    .addHelpText("after", "\nExample:\n  $ hallumaze prune baselines --older-than 30d --dry-run\n");
  register(command, async (name: string | undefined, options: PruneOptions) => {
    if ((name === undefined) === (options.all !== true))
      throw new UsageError("say which: the name of one sweep, or --all.");
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    const sweepId = name === undefined ? null : (await findSweep(house.store, name)).sweepId;
    const dryRun = options.dryRun === true;
    const wish = { sweepId, olderThanMs: options.olderThan, withText: options.text === true, dryRun };
    const report = await prune(house.databaseUrl, wish, console.interrupt);
    if (options.json) console.out(JSON.stringify({ sweep: name ?? null, dryRun, ...report }));
    else {
      const what = `${report.exchanges} exchanges of ${report.trials} trials and ${report.judgements} judgements`;
      const size = `${(report.storedBytes / 1e6).toFixed(1)} MB as stored`;
      console.out(dryRun ? `would prune ${what}: ${size}` : `pruned ${what}: ${size}; hashes are kept`);
      if (report.skipped > 0) console.err(`${report.skipped} trials were in use and are left for the next time`);
    }
    return exitCodes.ok;
  });
};

const unitMs = { h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** `30d` in milliseconds. */
function parseAge(text: string): number {
  const [, count, unit] = /^(\d{1,5})([hdw])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined)
    throw new UsageError(`--older-than ${text}: give a number with h, d or w, such as 30d.`);
  return Number(count) * unitMs[unit as keyof typeof unitMs];
}
