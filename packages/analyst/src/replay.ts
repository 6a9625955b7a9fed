import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";

import { rescored, type TrialRecord } from "@hallumaze/analysis";
import { type AddCommand, type Console, type ExitCode, exitCodes, UsageError } from "@hallumaze/console";
import type { StoredImportedTrial } from "@hallumaze/imports";
import { checkManifest, PublishingError, writeManifest } from "@hallumaze/publishing";
import { z } from "zod";

import { gatherRecords, writeReport } from "./analyse-sweep.ts";
import { bundleFiles } from "./bundle-files.ts";

interface ReplayOptions {
  readonly output?: string;
  readonly json?: boolean;
}

const bundleFacts = z.object({
  trials: z.int().min(0),
  settings: z.object({
    sweep: z.string(),
    options: z.object({
      seed: z.string(),
      resamples: z.int().min(1),
      permutations: z.int().min(1),
      level: z.number().gt(0).lt(1),
      interval: z.enum(["bca", "percentile", "studentised"]),
    }),
    reasoning: z.array(z.string()).nullable(),
    experiments: z.array(z.string()).nullable(),
    facts: z.array(z.string()),
    warnings: z.array(z.string()),
  }),
});

/** What a replay found. */
interface ReplayReport {
  readonly trials: number;
  readonly rescored: number;
  /** Trials whose replies were pruned: their scores were taken as they are. */
  readonly pruned: number;
  /** Trials that this program scores otherwise than the bundle says. */
  readonly differentScores: number;
  /** Files of the report that came out otherwise. */
  readonly differentFiles: readonly string[];
  /** Where the report made anew lies; null where it was the same and is gone. */
  readonly folder: string | null;
}

/** `replay FOLDER`: reads, scores and analyses a bundle again and compares; needs no key, no database and no network. */
export const addReplayCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("replay")
    .description(
      "check a bundle: hashes, then reading, scoring, tables and figures made anew and compared; no key, no cost",
    )
    .argument("<folder>", "folder that bundle made")
    .option(
      "--output <folder>",
      "folder for the report made anew, kept; one of its own, kept where something differs, when left out",
    )
    .option("--json", "print what was found as JSON")
    .addHelpText("after", "\nExample:\n  $ hallumaze replay baselines-bundle\n");
  register(command, async (path: string, options: ReplayOptions) => {
    const folder = resolve(console.workingFolder, path);
    const facts = await checkBundle(folder, path);
    const target = await openTarget(console, folder, options.output);
    let isKept = options.output !== undefined;
    try {
      const signal = console.interrupt;
      const counts = await compareScores(folder, signal);
      const data = await gatherRecords(() => readRecords(folder), readImported(folder), facts.trials, signal);
      await writeReport(target, data, facts.settings, { say: (text) => console.err(text), signal });
      const differentFiles = await compareReports(folder, target);
      isKept ||= differentFiles.length > 0;
      const report = { ...counts, differentFiles, folder: isKept ? target : null };
      return printReplay(console, report, options.json === true);
    } finally {
      // What came out the same is the bundle's own.
      if (!isKept) await rm(target, { recursive: true, force: true });
    }
  });
};

/** A folder of its own for what is made anew: a given one must not exist, so that nothing is written over. */
async function openTarget(console: Console, folder: string, output: string | undefined): Promise<string> {
  if (output === undefined) return mkdtemp(join(tmpdir(), "hallumaze-replay-"));
  const target = resolve(console.workingFolder, output);
  if (!relative(folder, target).startsWith("..")) throw new UsageError(`${output} is within the bundle: name another.`);
  await mkdir(dirname(target), { recursive: true });
  try {
    await mkdir(target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new UsageError(`${output} is there already: name another --output, or take it away.`);
  }
  return target;
}

async function checkBundle(folder: string, shown: string): Promise<z.infer<typeof bundleFacts>> {
  const check = await checkManifest(folder).catch((error: unknown) => {
    throw error instanceof PublishingError ? new UsageError(`${shown} is no bundle: ${error.message}`) : error;
  });
  const problems = (["changed", "missing", "added"] as const).flatMap((kind) =>
    check[kind].map((file) => `  ${kind}: ${file}`),
  );
  if (problems.length > 0) {
    const shownProblems = problems.slice(0, 20).join("\n");
    throw new UsageError(`${shown} is not what bundle made (${problems.length} differences):\n${shownProblems}`);
  }
  const facts = bundleFacts.safeParse(check.manifest.facts);
  if (!facts.success) throw new UsageError(`${shown}: the manifest does not say how its report was made.`);
  return facts.data;
}

async function compareScores(
  folder: string,
  signal: AbortSignal,
): Promise<Pick<ReplayReport, "trials" | "rescored" | "pruned" | "differentScores">> {
  const counts = { trials: 0, rescored: 0, pruned: 0, differentScores: 0 };
  for await (const record of readRecords(folder)) {
    signal.throwIfAborted();
    counts.trials += 1;
    if (record.conversation?.isPruned === true) counts.pruned += 1;
    const again = rescored(record);
    if (again === record.row) continue;
    counts.rescored += 1;
    const numbers = ({ outcome, scores, readingJson }: TrialRecord["row"]): string =>
      JSON.stringify([outcome, scores.seed, scores.published, scores.robust, readingJson]);
    if (numbers(again) !== numbers(record.row)) counts.differentScores += 1;
  }
  return counts;
}

async function compareReports(folder: string, target: string): Promise<readonly string[]> {
  const [before, after] = await Promise.all([checkManifest(folder), writeManifest(target)]);
  const prefix = `${bundleFiles.report}/`;
  const made = new Map(after.files.map(({ path, sha256 }) => [path, sha256]));
  const old = before.manifest.files.filter(({ path }) => path.startsWith(prefix));
  const known = new Set(old.map(({ path }) => path.slice(prefix.length)));
  return [
    ...old.filter(({ path, sha256 }) => made.get(path.slice(prefix.length)) !== sha256).map(({ path }) => path),
    ...[...made.keys()].filter((path) => !known.has(path)).map((path) => `${prefix}${path}`),
  ];
}

function printReplay(console: Console, report: ReplayReport, json: boolean): ExitCode {
  const isSame = report.differentScores === 0 && report.differentFiles.length === 0;
  if (json) console.out(JSON.stringify({ ...report, same: isSame }));
  else {
    const { trials, rescored: again, pruned, differentScores, differentFiles } = report;
    console.out(`${trials} trials, ${again} read and scored again${pruned > 0 ? `, ${pruned} pruned` : ""}`);
    console.out(differentScores === 0 ? "every score is the same" : `${differentScores} trials score otherwise`);
    console.out(differentFiles.length === 0 ? "every table and figure is the same, byte for byte" : "differ:");
    for (const file of differentFiles.slice(0, 20)) console.out(`  ${file}`);
    if (report.folder !== null) console.out(`made anew in ${report.folder}`);
  }
  return isSame ? exitCodes.ok : exitCodes.unexpected;
}

/** What reading and scoring lean on; the rest is checked by coming out the same. */
const recordShape = z.looseObject({
  row: z.looseObject({
    trialId: z.string(),
    alias: z.string(),
    state: z.string(),
    plan: z.looseObject({ size: z.int().min(3).max(101), seed: z.int().min(0), group: z.enum(["A", "B", "C"]) }),
    scores: z.looseObject({}),
  }),
  conversation: z
    .looseObject({
      replies: z.array(z.looseObject({ text: z.string(), finishReason: z.string().nullable() })),
      shadow: z.boolean(),
      isPruned: z.boolean(),
    })
    .nullable(),
});
const importedShape = z.looseObject({ kind: z.string(), model: z.string(), scores: z.looseObject({}) });
const trialRecord = z.custom<TrialRecord>((value) => recordShape.safeParse(value).success);
const importedTrial = z.custom<StoredImportedTrial>((value) => importedShape.safeParse(value).success);

async function* readRecords(folder: string): AsyncGenerator<TrialRecord> {
  for await (const value of readLines(folder, bundleFiles.records, trialRecord)) yield value;
}

async function* readImported(folder: string): AsyncGenerator<readonly StoredImportedTrial[]> {
  for await (const value of readLines(folder, bundleFiles.imported, importedTrial)) {
    yield [value];
  }
}

/** The hashes tell that a file is what somebody hashed, not that this program wrote it. */
async function* readLines<Shape extends z.ZodType>(
  folder: string,
  name: string,
  shape: Shape,
): AsyncGenerator<z.infer<Shape>> {
  let number = 0;
  try {
    const source = createReadStream(join(folder, name));
    const unpacked = source.pipe(createGunzip());
    source.on("error", (error) => unpacked.destroy(error));
    const text = Readable.from(boundedLines(unpacked));
    for await (const line of createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      yield shape.parse(JSON.parse(line));
    }
  } catch (error) {
    const isGzip = error instanceof Error && (error as NodeJS.ErrnoException).code?.startsWith("Z_") === true;
    if (error instanceof RangeError) throw new UsageError(`${name}, line ${number + 1}: ${error.message}.`);
    if (!isGzip && !(error instanceof SyntaxError) && !(error instanceof z.ZodError)) throw error;
    throw new UsageError(`${name}, line ${number}: not what bundle writes.`);
  }
}

/** A trial's replies and more; a file of a few kilobytes may unpack to a line that no memory holds. */
const longestLineBytes = 256 * 1024 ** 2;

async function* boundedLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of chunks) {
    const at = chunk.lastIndexOf("\n");
    length = at === -1 ? length + chunk.length : chunk.length - at - 1;
    if (length > longestLineBytes) throw new RangeError(`longer than ${longestLineBytes / 1024 ** 2} MiB`);
    yield chunk;
  }
}
