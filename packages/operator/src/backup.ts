import { resolve } from "node:path";

import { backUp, backUpWithPgDump, isPgDump, restore, restoreWithPgRestore } from "@hallumaze/archive";
import { type AddCommand, type Console, exitCodes } from "@hallumaze/console";
import { openLedgerDatabase } from "@hallumaze/runtime";

interface BackupOptions {
  readonly pgDump?: boolean;
  readonly json?: boolean;
}

/** `backup FILE`: the whole ledger as it stands at one moment, while sweeps run or not. */
export const addBackupCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("backup")
    .description("save the whole ledger to a file, as it stands at one moment; sweeps may run meanwhile")
    .argument("<file>", "file to write; gzip, or zstd where the name ends with .zst")
    .option("--pg-dump", "use PostgreSQL's own pg_dump of the server's version instead of the program's copy")
    .option("--json", "print the report as JSON")
    .addHelpText("after", "\nExample:\n  $ hallumaze backup results/ledger.backup\n");
  register(command, async (file: string, options: BackupOptions) => {
    const path = resolve(console.workingFolder, file);
    const { interrupt: signal, variables } = console;
    return withDatabase(console, async (url, name) => {
      if (options.pgDump) {
        const report = await backUpWithPgDump(url, path, { variables, signal });
        console.out(
          options.json
            ? JSON.stringify({ ...report, file })
            : `${name} saved to ${file} by ${report.tool}: ${megabytes(report.fileBytes)}`,
        );
        return;
      }
      const report = await backUp(url, path, { programVersion: program.version() ?? "unknown", signal });
      if (options.json) console.out(JSON.stringify({ ...report, file }));
      else {
        const rows = Object.values(report.rows).reduce((sum, count) => sum + count, 0);
        console.out(
          `${name} saved to ${file}: ${report.rows["trials"] ?? 0} trials, ${rows} rows, ${megabytes(report.fileBytes)}, read back and whole`,
        );
      }
    });
  });
};

interface RestoreOptions {
  readonly newLedgerId?: boolean;
  readonly json?: boolean;
}

/** `restore FILE`: brings a backup into an empty database, wholly or not at all. */
export const addRestoreCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("restore")
    .description("bring a backup into an empty database, wholly or not at all; older ones are brought up to date")
    .argument("<file>", "file that backup wrote")
    .option("--new-ledger-id", "give the copy an identity of its own, to live beside its original on one Redis")
    .option("--json", "print the report as JSON")
    .addHelpText(
      "after",
      "\nExample:\n  $ HALLUMAZE_HOME=.hallumaze/restored hallumaze restore results/ledger.backup\n",
    );
  register(command, async (file: string, options: RestoreOptions) => {
    const path = resolve(console.workingFolder, file);
    const { interrupt: signal, variables } = console;
    return withDatabase(console, async (url, name) => {
      const report = (await isPgDump(path))
        ? await restoreWithPgRestore(url, path, { variables, signal })
        : await restore(url, path, { signal, newLedgerId: options.newLedgerId === true });
      if (options.json) {
        console.out(JSON.stringify({ ...report, file }));
        return;
      }
      const taken = report.takenAt === null ? "" : ` of ${report.takenAt}`;
      console.out(`${name} holds the backup${taken}${countRows(report.rows)}`);
      if (report.migrated.length > 0) console.out(`brought up to date by ${report.migrated.length} migrations`);
      console.out("A worker, or run with the same spec, goes on with what was open then.");
    });
  });
};

function countRows(rows: Readonly<Record<string, number>>): string {
  const { sweeps, trials, exchanges } = rows;
  return trials === undefined ? "" : `: ${sweeps ?? 0} sweeps, ${trials} trials, ${exchanges ?? 0} exchanges`;
}

async function withDatabase(console: Console, work: (url: string, name: string) => Promise<void>) {
  const environment = console.environment();
  const database = await openLedgerDatabase(environment);
  try {
    // One long transaction: not through a pooler.
    await work(environment.DATABASE_DIRECT_URL ?? database.url, database.name);
    return exitCodes.ok;
  } finally {
    await database.close();
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
