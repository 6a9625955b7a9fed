import { hasDuplicateKey } from "./json-keys.ts";
import type { Level, Scenario } from "./judged.ts";

/** `dev` is for work on the prompt, `test` is held out: only it can open the gate. */
export type GoldSplit = "dev" | "test";

/** What is wrong with a line (`line` from 1), or with the whole file (null). */
export interface GoldProblem {
  readonly line: number | null;
  readonly code: string;
  readonly message: string;
}

/** What one person said of a response. */
export interface GoldLabel {
  readonly rater: string;
  readonly level: Level;
}

/** One line of a gold set, read. */
export interface GoldEntry {
  /** From 1. */
  readonly line: number;
  readonly scenario: Scenario;
  readonly response: string;
  /** One or more, each rater once. */
  readonly labels: readonly GoldLabel[];
  /** Null where the line does not say. */
  readonly split: GoldSplit | null;
  /** Why the labels are what they are; never shown to a judge. */
  readonly reason: string | null;
}

/** What a line of a gold set is. */
export type GoldLineReading =
  | { readonly kind: "entry"; readonly entry: GoldEntry }
  | { readonly kind: "seal"; readonly seal: string }
  | { readonly kind: "problems"; readonly problems: readonly GoldProblem[] };

type Fields = Readonly<Record<string, unknown>>;
type Report = (code: string, message: string) => null;

const levelNames = new Map<unknown, Level>(
  [1, 2, 3].flatMap((level) => [
    [level, level as Level],
    [`L${level}`, level as Level],
  ]),
);

/** Reads one line of a gold set strictly: every problem of the line is listed. `line` counts from 1. */
export function readGoldLine(text: string, line: number): GoldLineReading {
  const problems: GoldProblem[] = [];
  const report: Report = (code, message) => {
    problems.push({ line, code, message });
    return null;
  };
  const fields = parseObject(text, report);
  if (fields !== null && "testSeal" in fields) {
    const seal = readSeal(fields, report);
    return seal === null ? { kind: "problems", problems } : { kind: "seal", seal };
  }
  const entry = fields === null ? null : readEntry(fields, line, report);
  return entry === null || problems.length > 0 ? { kind: "problems", problems } : { kind: "entry", entry };
}

function parseObject(text: string, report: Report): Fields | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return report("notJson", `Not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (hasDuplicateKey(text)) return report("duplicateKey", "A key stands twice in one object.");
  return asFields(value, "The line", report);
}

function readSeal(fields: Fields, report: Report): string | null {
  const seal = fields["testSeal"];
  if (Object.keys(fields).length > 1) return report("unknownKey", "A line with testSeal holds nothing else.");
  if (typeof seal === "string" && /^[0-9a-f]{64}$/.test(seal)) return seal;
  return report("wrongValue", "testSeal: expected 64 lower-case hexadecimal digits.");
}

function readEntry(fields: Fields, line: number, report: Report): GoldEntry | null {
  refuseOthers(fields, ["scenario", "response", "labels", "split", "reason"], "", report);
  const scenario = readScenario(fields["scenario"], report);
  const response = readText(fields, "response", "", { mayBeEmpty: true }, report);
  const labels = readLabels(fields["labels"], report);
  const split = readSplit(fields["split"], report);
  const reason = fields["reason"] === undefined ? null : readText(fields, "reason", "", { mayBeEmpty: false }, report);
  if (scenario === null || response === null || labels === null) return null;
  return { line, scenario, response, labels, split, reason };
}

function readScenario(value: unknown, report: Report): Scenario | null {
  const fields = asFields(value, "scenario", report);
  if (fields === null) return null;
  refuseOthers(fields, ["prompt", "expectedL3", "criteriaL1", "criteriaL2"], "scenario.", report);
  const text = (key: string): string | null => readText(fields, key, "scenario.", { mayBeEmpty: false }, report);
  const optional = (key: string): string | null =>
    fields[key] === undefined || fields[key] === null ? null : text(key);
  const [prompt, expectedL3] = [text("prompt"), text("expectedL3")];
  const [criteriaL1, criteriaL2] = [optional("criteriaL1"), optional("criteriaL2")];
  return prompt === null || expectedL3 === null ? null : { prompt, expectedL3, criteriaL1, criteriaL2 };
}

function readLabels(value: unknown, report: Report): GoldLabel[] | null {
  if (value === undefined) return report("missingKey", "labels is missing.");
  if (!Array.isArray(value) || value.length === 0) return report("wrongValue", "labels: expected one label or more.");
  const labels: GoldLabel[] = [];
  for (const [index, item] of value.entries()) {
    const where = `labels[${index}]`;
    const fields = asFields(item, where, report);
    if (fields === null) continue;
    refuseOthers(fields, ["rater", "level"], `${where}.`, report);
    const rater = readText(fields, "rater", `${where}.`, { mayBeEmpty: false }, report);
    const level = levelNames.get(fields["level"]);
    if (level === undefined) report("wrongValue", `${where}.level: expected 1, 2, 3, "L1", "L2" or "L3".`);
    if (rater === null || level === undefined) continue;
    if (labels.some((label) => label.rater === rater))
      report("duplicateRater", `${where}: ${rater} has a label already.`);
    labels.push({ rater, level });
  }
  return labels;
}

function readSplit(value: unknown, report: Report): GoldSplit | null {
  if (value === undefined || value === null) return null;
  return value === "dev" || value === "test" ? value : report("wrongValue", 'split: expected "dev" or "test".');
}

function readText(
  fields: Fields,
  key: string,
  prefix: string,
  { mayBeEmpty }: { mayBeEmpty: boolean },
  report: Report,
): string | null {
  const value = fields[key];
  if (value === undefined) return report("missingKey", `${prefix}${key} is missing.`);
  if (typeof value !== "string") return report("wrongValue", `${prefix}${key}: expected text.`);
  if (!mayBeEmpty && value.trim() === "") return report("wrongValue", `${prefix}${key} is empty.`);
  return value;
}

function refuseOthers(fields: Fields, known: readonly string[], prefix: string, report: Report): void {
  for (const key of Object.keys(fields))
    if (!known.includes(key)) report("unknownKey", `${prefix}${key} is no key here.`);
}

function asFields(value: unknown, where: string, report: Report): Fields | null {
  if (value === undefined) return report("missingKey", `${where} is missing.`);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  return report("wrongValue", `${where}: expected an object.`);
}
