import { canonicalJson, contentId, type Json, sha256Hex } from "@hallumaze/foundation";

import { type GoldEntry, type GoldProblem, type GoldSplit, readGoldLine } from "./gold-line.ts";
import type { Level } from "./judged.ts";

/** An item whose raters' majority gives it a level. */
export interface GoldItem extends GoldEntry {
  /** Content id of scenario and response: 32 hexadecimal digits. */
  readonly id: string;
  readonly level: Level;
  readonly split: GoldSplit;
}

/** An item without a majority: listed, and left out of every figure but the raters' agreement with each other. */
export type GoldTie = Omit<GoldItem, "level">;

/** A gold set as its file says it. */
export interface GoldSet {
  /** In the file's order. */
  readonly items: readonly GoldItem[];
  readonly ties: readonly GoldTie[];
  /** Reasons not to use the file: what is listed here is not in `items`. */
  readonly problems: readonly GoldProblem[];
  /** What a reader of its figures has to know. The gate, not the import, decides what follows from it. */
  readonly warnings: readonly GoldProblem[];
  /** Content id of all items, labels and splits; the lines' order does not count. */
  readonly id: string;
  /** SHA-256 over the test split's items and labels: a later change shows. 64 hexadecimal digits. */
  readonly testSeal: string;
  /** Names, sorted. */
  readonly raters: readonly string[];
  /** Whether the file says itself, for one item at least, what is held out; otherwise all splits were drawn. */
  readonly splitsDeclared: boolean;
}

/** How a gold set is read. */
export interface GoldSetOptions {
  /** Seeds the draw of splits that the file does not say. */
  readonly splitSeed?: string;
  /** The seal that the test split must have, such as one that was recorded with an earlier calibration. */
  readonly expectedSeal?: string;
}

const smallestTest = 36;
const levels = [1, 2, 3] as const;

/**
 * Reads a gold set: JSONL, one line `{scenario: {prompt, expectedL3, criteriaL1?, criteriaL2?}, response, labels: [{rater,
 * level}], split?, reason?}`, levels as 1 … 3 or "L1" … "L3"; one line may be `{testSeal}`, the seal that the test split
 * had when it was closed. Strict: whatever does not fit is a problem with its line.
 *
 * An item's level is what more than half of its raters say. A split that the file leaves open is drawn by a hash of seed
 * and item, half and half, so that a further item moves no other.
 */
export function parseGoldSet(jsonl: string, options: GoldSetOptions = {}): GoldSet {
  const { splitSeed = "gold", expectedSeal } = options;
  const { entries, seals, problems } = readLines(jsonl);
  const placed = entries.map((entry) => {
    const id = goldItemId(entry);
    return { ...entry, id, split: entry.split ?? drawSplit(splitSeed, id) };
  });
  const items: GoldItem[] = [];
  const ties: GoldTie[] = [];
  for (const entry of placed) {
    const level = majority(entry);
    if (level === null) ties.push(entry);
    else items.push({ ...entry, level });
  }
  const testSeal = sealOf(placed.filter((entry) => entry.split === "test"));
  for (const { line, seal } of [
    ...seals,
    ...(expectedSeal === undefined ? [] : [{ line: null, seal: expectedSeal }]),
  ]) {
    if (seal !== testSeal) problems.push(brokenSeal(line, seal, testSeal));
  }
  if (entries.length === 0) problems.push({ line: null, code: "noItems", message: "The file holds no usable item." });
  const raters = [...new Set(placed.flatMap((entry) => entry.labels.map(({ rater }) => rater)))].sort();
  return {
    items,
    ties,
    problems,
    warnings: warningsOf(items, ties, entries, raters),
    id: contentId(asJson(placed, true)),
    testSeal,
    raters,
    splitsDeclared: entries.some((entry) => entry.split !== null),
  };
}

/** The line that seals a gold set's test split as it is: to be put into its file, and checked at every later reading. */
export function sealLine(goldSet: GoldSet): string {
  return JSON.stringify({ testSeal: goldSet.testSeal });
}

function readLines(jsonl: string): {
  entries: GoldEntry[];
  seals: { line: number; seal: string }[];
  problems: GoldProblem[];
} {
  const entries: GoldEntry[] = [];
  const seals: { line: number; seal: string }[] = [];
  const problems: GoldProblem[] = [];
  const lineOf = new Map<string, number>();
  for (const [index, text] of jsonl
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .entries()) {
    if (text.trim() === "") continue;
    const line = index + 1;
    const read = readGoldLine(text, line);
    if (read.kind === "problems") problems.push(...read.problems);
    else if (read.kind === "seal") seals.push({ line, seal: read.seal });
    else {
      const id = goldItemId(read.entry);
      const first = lineOf.get(id);
      lineOf.set(id, first ?? line);
      if (first === undefined) entries.push(read.entry);
      else problems.push({ line, code: "duplicateItem", message: `The scenario and response of line ${first} again.` });
    }
  }
  return { entries, seals, problems };
}

/**
 * The id of an item: of its scenario and response. Blanks and Unicode's ways to write one letter do not make a second item
 * of the same text.
 */
export function goldItemId(entry: Pick<GoldEntry, "scenario" | "response">): string {
  const plain = (text: string): string => text.normalize("NFC").replace(/\s+/g, " ").trim();
  const { prompt, expectedL3, criteriaL1, criteriaL2 } = entry.scenario;
  const scenario = [prompt, expectedL3, criteriaL1 ?? "", criteriaL2 ?? ""].map(plain);
  return contentId([...scenario, plain(entry.response)]);
}

function drawSplit(seed: string, id: string): GoldSplit {
  return Number.parseInt(sha256Hex(`${seed}:${id}`).slice(0, 8), 16) < 2 ** 31 ? "test" : "dev";
}

function majority({ labels }: GoldEntry): Level | null {
  return levels.find((level) => labels.filter((label) => label.level === level).length > labels.length / 2) ?? null;
}

function sealOf(entries: readonly (GoldEntry & { id: string })[]): string {
  return sha256Hex(canonicalJson(asJson(entries, false)));
}

/** All that makes the set what it is, in an order of its own: neither the lines' order nor the reasons count. */
function asJson(entries: readonly (GoldEntry & { id: string })[], withSplit: boolean): Json {
  return [...entries]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ scenario, response, labels, split, id }) => ({
      id,
      scenario: { ...scenario },
      response,
      labels: labels.map(({ rater, level }) => ({ rater, level })).sort((a, b) => (a.rater < b.rater ? -1 : 1)),
      ...(withSplit ? { split } : {}),
    }));
}

function brokenSeal(line: number | null, expected: string, found: string): GoldProblem {
  const message = `The test split was sealed as ${expected}, and is now ${found}: its items or labels have changed.`;
  return { line, code: "sealBroken", message };
}

function warningsOf(
  items: readonly GoldItem[],
  ties: readonly GoldTie[],
  entries: readonly GoldEntry[],
  raters: readonly string[],
): GoldProblem[] {
  const test = items.filter(({ split }) => split === "test");
  const drawn = entries.filter(({ split }) => split === null).length;
  const warnings: [boolean, string, string][] = [
    ...levels.map((level): [boolean, string, string] => [
      items.every((item) => item.level !== level),
      "levelAbsent",
      `No item is of level ${level}.`,
    ]),
    [raters.length === 1, "oneRater", "One rater only: how far people agree cannot be told."],
    [drawn > 0, "splitsDrawn", `${drawn} of ${entries.length} items name no split: it was drawn.`],
    [test.length === 0, "noTestItems", "No item is held out for test."],
    [test.length === items.length, "noDevItems", "No item is free for work on the prompt."],
    [
      test.length < smallestTest,
      "smallTest",
      `${test.length} items are held out: the gate cannot open on fewer than ${smallestTest}.`,
    ],
  ];
  return [
    ...ties.map(({ line }) => ({ line, code: "tie", message: "No level has more than half of the raters." })),
    ...warnings.filter(([holds]) => holds).map(([, code, message]) => ({ line: null, code, message })),
  ];
}
