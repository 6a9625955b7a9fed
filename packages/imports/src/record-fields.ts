import { mazeSizes } from "@hallumaze/maze";
import { z } from "zod";

/** Words that stand for "not told" in tables of other programs. */
const nothing = new Set(["", "null", "none", "na", "n/a", "nan", "-"]);

/** Other names of the same fields. SOURCE: seed section 9.4 (`maze_size`, `ariadne_group`). */
const otherNames: ReadonlyMap<string, string> = new Map([
  ["maze_size", "size"],
  ["ariadne_group", "group"],
  ["ariadne_mode", "group"],
  ["score", "hallumaze_score"],
  ["use_mirage", "mirage"],
  ["use_confidence", "confidence"],
]);

/** A record under the usual names, with null for every cell that says nothing. */
export function tidyFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const tidy = new Map<string, unknown>();
  for (const [name, value] of Object.entries(fields)) {
    const usual = otherNames.get(name) ?? name;
    // Of two names of one field the one that says something holds; where both do, they are compared.
    tidy.set(usual, told(value) ?? tidy.get(usual) ?? null);
  }
  return Object.fromEntries(tidy);
}

/** Fields that a record tells twice, under two of their names, and not the same: which one is meant nobody knows. */
export function twoWords(fields: Readonly<Record<string, unknown>>): FieldProblem[] {
  return [...otherNames].flatMap(([other, usual]) => {
    const [one, two] = [told(fields[usual]), told(fields[other])];
    if (one === null || two === null || JSON.stringify(numberOf(one)) === JSON.stringify(numberOf(two))) return [];
    return [{ field: usual, message: `is ${shown(one)}, and ${shown(two)} as ${other}: leave one out` }];
  });
}

function told(value: unknown): unknown {
  return typeof value === "string" && nothing.has(value.trim().toLowerCase()) ? null : (value ?? null);
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A number, or a cell that holds one; anything else goes on as it is, to be refused. */
function numberOf(value: unknown): unknown {
  return typeof value === "string" && decimal.test(value.trim()) ? Number(value) : value;
}

function flagOf(value: unknown): unknown {
  if (value === 1 || value === 0) return value === 1;
  if (typeof value !== "string") return value;
  const word = value.trim().toLowerCase();
  if (word === "true" || word === "1" || word === "yes") return true;
  return word === "false" || word === "0" || word === "no" ? false : value;
}

function successOf(value: unknown): unknown {
  const flag = flagOf(numberOf(value));
  return typeof flag === "boolean" ? Number(flag) : flag;
}

function numberField(min: number, max: number, what: string) {
  const message = `expected ${what}`;
  return z.preprocess(numberOf, z.number(message).min(min, message).max(max, message));
}

function wholeField(min: number, max: number, what: string) {
  const message = `expected ${what}`;
  return z.preprocess(numberOf, z.number(message).int(message).min(min, message).max(max, message));
}

const largest = Number.MAX_SAFE_INTEGER;

/** A share: 0 to 1. */
export const share = numberField(0, 1, "a number from 0 to 1");
/** MEI: its formula reaches from -0.1 to 1. */
export const index = numberField(-0.1, 1, "a number from -0.1 to 1");
/** A count of a trial. */
export const count = wholeField(0, largest, "a whole number of 0 or more");
/** A mean of counts. */
export const amount = numberField(0, largest, "a number of 0 or more");
/** The first step that went wrong, 1-based; -1 for none. */
export const errorStep = wholeField(-1, largest, "-1 or a step from 1 on");
/** A mean of first steps that went wrong. */
export const meanErrorStep = numberField(-1, largest, "a number of -1 or more");
/** SR of one trial: 0 or 1. */
export const success = z.preprocess(successOf, z.union([z.literal(0), z.literal(1)], "expected 0 or 1"));
/** Rows and columns of a maze. */
export const size = wholeField(
  mazeSizes.min,
  mazeSizes.max,
  `a whole number from ${mazeSizes.min} to ${mazeSizes.max}`,
);
/** Seed of a maze. */
export const seed = wholeField(0, largest, "a whole number of 0 or more");
/** Yes or no. */
export const flag = z.preprocess(flagOf, z.boolean("expected true or false"));
/** A name: one line. */
export const name = z.preprocess(
  (value) => (typeof value === "number" ? String(value) : typeof value === "string" ? oneLine(value) : value),
  z.string("expected a name").trim().min(1, "is empty").max(500, "is longer than 500 characters"),
);
/** Without control characters and marks of writing direction: names stand in tables, pages and terminals. */
function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this removes.
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, " ");
}

/** The intervention groups. */
export const group = z.enum(["A", "B", "C"], "expected A, B or C");
/** Languages of the prompt. */
export const language = z.enum(["ko", "en"], "expected ko or en");
/** Seconds. */
export const seconds = numberField(0, 1e9, "seconds, 0 or more");

/** Seconds as whole milliseconds; null stays null. */
export function millisecondsOf(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : Math.round(value * 1000);
}

/** The sentences of a refused record: one a field, with the value it got. */
export function fieldProblems(error: z.ZodError, fields: Readonly<Record<string, unknown>>): FieldProblem[] {
  return error.issues.map((issue) => {
    const field = issue.path[0] === undefined ? null : String(issue.path[0]);
    const got = field === null ? undefined : fields[field];
    const isMissing = field !== null && (got === undefined || got === null) && issue.path.length === 1;
    const message = isMissing ? "is missing" : `${issue.message}${got === undefined ? "" : `; got ${shown(got)}`}`;
    return { field: issue.path.length === 0 ? null : issue.path.map(String).join("."), message };
  });
}

/** What is wrong with one field of a record. */
export interface FieldProblem {
  readonly field: string | null;
  readonly message: string;
}

/** What a mapper makes of one record: its rows, or what is wrong with it. */
export type RecordResult<Row> =
  | { readonly kind: "rows"; readonly rows: readonly Row[] }
  | { readonly kind: "bad"; readonly problems: readonly FieldProblem[] };

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
