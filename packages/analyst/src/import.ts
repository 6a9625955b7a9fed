import { basename } from "node:path";

import { type AddCommand, type Console, type ExitCode, exitCodes, readBytes, UsageError } from "@hallumaze/console";
import {
  type ImportReading,
  type ImportStorePort,
  type ImportWish,
  parseImport,
  problemText,
  type StoredImport,
} from "@hallumaze/imports";
import { drawTable, formatCount, singleLine } from "@hallumaze/reports";
import { openHouse } from "@hallumaze/runtime";
import { Option } from "commander";

interface ImportOptions {
  readonly as?: ImportWish;
  readonly model?: string;
  readonly skipBad?: boolean;
  readonly list?: boolean;
  readonly remove?: string;
  readonly json?: boolean;
}

/** Bad rows that are printed; the others are counted. `--json` prints all. */
const problemsShown = 20;

/** `import FILE…`, `import --list`, `import --remove ID`: others' results, kept beside the trials. */
export const addImportCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("import")
    .description("keep others' results: published trials, the original program's JSON, people's means or logs")
    .argument("[files...]", "JSON or CSV files")
    .addOption(
      new Option("--as <kind>", "what the files hold; detected when left out").choices(["published", "seed", "human"]),
    )
    .option("--model <name>", "name of the model, or of the group of people, for rows that name none")
    .option("--skip-bad", "leave rows that cannot be read out, and list them; without it they refuse the file")
    .option("--list", "list what was imported")
    .option("--remove <id>", "take an import away again: its id, the beginning of it, or its file name")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nExample:\n  $ hallumaze import examples/imports/human-means.csv\n  $ hallumaze import --list\n",
    );
  register(command, async (files: readonly string[], options: ImportOptions) => {
    const jobs = [files.length > 0, options.list === true, options.remove !== undefined].filter(Boolean);
    if (jobs.length !== 1) throw new UsageError("name files, or --list, or --remove: one of them.");
    // Files are read and checked, all of them, before a database is opened.
    const readings = await Promise.all(files.map((path) => readOne(console, path, options)));
    if (!report(console, readings, options)) return exitCodes.usage;
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    // Awaited here: the house closes when this block ends.
    if (options.remove !== undefined) return await removeImport(console, house.store, options.remove, options);
    if (options.list) return await listImports(console, house.store, options);
    return await addImports(console, house.store, readings, options);
  });
};

interface NamedReading {
  readonly path: string;
  readonly reading: ImportReading;
}

async function readOne(console: Console, path: string, options: ImportOptions): Promise<NamedReading> {
  const bytes = await readBytes(console, path);
  const { as = null, model = null, skipBad = false } = options;
  return { path: singleLine(path), reading: parseImport({ fileName: basename(path), bytes, as, model, skipBad }) };
}

/** Says what is wrong; false where anything was refused. */
function report(console: Console, readings: readonly NamedReading[], options: ImportOptions): boolean {
  const refused = readings.flatMap(({ path, reading }) =>
    reading.kind === "refused" ? [{ path, problems: reading.problems }] : [],
  );
  if (refused.length === 0) return true;
  if (options.json) console.out(JSON.stringify({ refused }));
  for (const { path, problems } of refused) {
    for (const problem of problems.slice(0, problemsShown)) console.err(`${path}: ${singleLine(problemText(problem))}`);
    if (problems.length > problemsShown) console.err(`${path}: and ${problems.length - problemsShown} more`);
  }
  const mend = options.skipBad ? "" : " --skip-bad leaves bad rows out.";
  console.err(`Nothing was imported.${mend}`);
  return false;
}

async function addImports(
  console: Console,
  store: ImportStorePort,
  readings: readonly NamedReading[],
  options: ImportOptions,
): Promise<ExitCode> {
  const done = [];
  for (const { path, reading } of readings) {
    if (reading.kind === "refused") continue;
    const { kind, stored } = await store.addImport(reading.file, reading.rows);
    done.push({ path, added: kind === "added", ...stored });
    for (const warning of reading.file.warnings) console.err(`warning: ${path}: ${singleLine(warning)}`);
    for (const skipped of reading.file.skipped) console.err(`left out: ${path}: ${singleLine(skipped)}`);
    if (options.json) continue;
    console.out(
      kind === "added"
        ? `${path}: ${formatCount(stored.rowCount)} rows as ${stored.kind}, import ${shortId(stored)}`
        : `${path}: known since ${dayOf(stored)} as import ${shortId(stored)} (${singleLine(stored.fileName)}); nothing changed`,
    );
  }
  if (options.json) console.out(JSON.stringify(done));
  return exitCodes.ok;
}

async function listImports(console: Console, store: ImportStorePort, options: ImportOptions): Promise<ExitCode> {
  const imports = await store.listImports();
  if (options.json) console.out(JSON.stringify(imports));
  else if (imports.length === 0) console.out("Nothing was imported yet.");
  else {
    const head = ["import", "file", "kind", "rows", "left out", "when", "sha256"];
    const rows = imports.map((each) => [
      shortId(each),
      each.fileName,
      each.kind,
      formatCount(each.rowCount),
      String(each.skipped.length),
      dayOf(each),
      each.sha256.slice(0, 12),
    ]);
    console.out(drawTable(head, rows, console.columns()));
  }
  return exitCodes.ok;
}

async function removeImport(
  console: Console,
  store: ImportStorePort,
  wanted: string,
  options: ImportOptions,
): Promise<ExitCode> {
  const imports = await store.listImports();
  const found = imports.filter(
    ({ importId, fileName }) => fileName === wanted || (wanted.length >= 4 && importId.startsWith(wanted)),
  );
  const [one] = found;
  if (one === undefined) throw new UsageError(`there is no import "${wanted}". hallumaze import --list lists all.`);
  if (found.length > 1) {
    throw new UsageError(
      `${found.length} imports are meant by "${wanted}": ${found.map(shortId).join(", ")}. Give an id.`,
    );
  }
  const removed = await store.removeImport(one.importId);
  if (options.json) console.out(JSON.stringify(removed));
  else console.out(`removed ${shortId(one)}: ${singleLine(one.fileName)}, ${formatCount(one.rowCount)} rows`);
  return exitCodes.ok;
}

function shortId({ importId }: StoredImport): string {
  return importId.slice(0, 8);
}

function dayOf({ importedAtMs }: StoredImport): string {
  return new Date(importedAtMs).toISOString().slice(0, 16).replace("T", " ");
}
