import type { Json } from "@hallumaze/foundation";
import { distance } from "fastest-levenshtein";
import type { z } from "zod";

import { type Problem, quote, type SpecPath } from "./spec-error.ts";

type ZodIssue = z.core.$ZodIssue;

/** The keys that the object at a path may have. */
type KeysAt = (path: SpecPath) => readonly string[];

const MAX_SUGGESTIONS = 200;

/** What each field takes, in words; told where a value has the wrong type or shape. */
const TAKES: Readonly<Record<string, string>> = {
  name: "1 to 80 letters, digits, spaces, dots, dashes or underscores, beginning with a letter or digit",
  models: "a list of provider/model, such as [sim/dfs-honest], or of objects { model: sim/dfs-honest, as: name }",
  "models[]": "provider/model, such as sim/dfs-honest, or an object { model: sim/dfs-honest, as: name }",
  model: "provider/model, such as sim/dfs-honest",
  seeds: 'a list of whole numbers from 0, ranges such as "2000..2029", or published30',
  "seeds[]": 'a whole number from 0 without quotes, a range such as "2000..2029", or published30',
  seed: 'a whole number from 0, a range such as "2000..2029", published30, or a list of these',
  "seed[]": 'a whole number from 0 without quotes, a range such as "2000..2029", or published30',
  sizes: "a list of whole numbers from 3 to 101, such as [5, 7]",
  "sizes[]": "a whole number from 3 to 101 without quotes",
  size: "a whole number from 3 to 101",
  groups: "a list of A, B, C",
  languages: "a list of ko, en",
  mirage: "true, false, or a list of both",
  "mirage[]": "true or false",
  confidence: "true, false, or a list of both",
  "confidence[]": "true or false",
  repeats: "a whole number from 1 to 1000",
  temperature: "a number from 0 to 2, or null for the vendor's own default",
  maxTokens: "a whole number, or { perSize: { 5: 2500 }, default: 2500 }",
  perSize: "sizes from 3 to 101 with a whole number each, such as { 5: 2500, 7: 4000 }",
  baseUrl: "http:// or https://, host and path, without user, query or fragment",
  keyEnv: "the name of an environment variable, such as OLLAMA_KEY",
  as: "1 to 120 letters, digits and . _ : / @ + -, beginning with a letter or digit",
  deadline:
    '"08:00" in quotes, from 00:00 to 23:59 (midnight is "00:00"), or a date and time with its zone: 2026-12-01T08:00:00+09:00',
  lane: "1 to 60 letters, digits, dashes or underscores",
  params: "names with a number, a text, true or false each",
  limits: "an object such as { sim/dfs-honest: { concurrency: 4 } }",
  retries: "an object such as { tries: 4, empty: 1 }",
  exclude: "a list of objects such as { size: 11, group: C }",
  "exclude[]": "an object such as { size: 11, group: C }",
};

/** Turns one finding of a schema into plain problems, each at its place. */
export function explainIssue(issue: ZodIssue, root: Json, keysAt: KeysAt): Problem[] {
  const path = issue.path as SpecPath;
  const value = valueAt(root, path);
  if (issue.code === "unrecognized_keys") {
    // A suggestion costs a comparison with each valid key: nobody reads the ones after so many.
    const keysOf = (index: number): readonly string[] => (index < MAX_SUGGESTIONS ? keysAt(path) : []);
    return issue.keys.map((key, index) => unknownKey([...path, key], keysOf(index)));
  }
  if (issue.code === "invalid_union") return explainUnion(issue, root, path, value, keysAt);
  if (issue.code === "invalid_key") {
    return [{ path, atKey: true, message: "this key is not allowed here", ...suggest(takes(path.slice(0, -1))) }];
  }
  if (value === undefined) return [{ path, message: "missing", ...suggest(takes(path)) }];
  return [explainValue(issue, path, value)];
}

/** Says that a key is unknown, with the nearest of the valid ones, or with all of them where none is near. */
export function unknownKey(path: SpecPath, known: readonly string[]): Problem {
  return { path, atKey: true, message: "unknown key", ...suggestNearest(String(path.at(-1)), known, "keys here") };
}

/** Suggests the nearest of the valid words, or lists them (at most 20) where none is near. */
export function suggestNearest(word: string, valid: readonly string[], label: string): { suggestion?: string } {
  const plain = (text: string): string => text.toLowerCase().replace(/[-_ ]/g, "");
  const wanted = plain(word.slice(0, 200));
  let nearest: string | null = null;
  // Never as many edits as the word has letters: then any short word would be near.
  let fewest = Math.min(Math.max(2, Math.floor(wanted.length * 0.4)), wanted.length - 1) + 1;
  for (const candidate of valid) {
    const edits = distance(wanted, plain(candidate));
    if (edits < fewest) [nearest, fewest] = [candidate, edits];
  }
  if (nearest !== null) return { suggestion: `did you mean ${quote(nearest)}?` };
  if (valid.length === 0) return {};
  const more = valid.length > 20 ? ", …" : "";
  return {
    suggestion: `${label}: ${valid
      .slice(0, 20)
      .map((word) => quote(word).slice(1, -1))
      .join(", ")}${more}`,
  };
}

/** The value at a path, or undefined where there is none. */
export function valueAt(root: Json, path: SpecPath): Json | undefined {
  let value: Json | undefined = root;
  for (const part of path) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, part)) return undefined;
    value = (value as Readonly<Record<string | number, Json>>)[part];
  }
  return value;
}

/** Of the alternatives the one that has the value's type speaks; where none has, the field says what it takes. */
function explainUnion(
  issue: Extract<ZodIssue, { code: "invalid_union" }>,
  root: Json,
  path: SpecPath,
  value: Json | undefined,
  keysAt: KeysAt,
): Problem[] {
  if (value === undefined) return [{ path, message: "missing", ...suggest(takes(path)) }];
  const fitting = issue.errors.find((errors) => !errors.some((e) => e.code === "invalid_type" && e.path.length === 0));
  if (fitting !== undefined) {
    return fitting.flatMap((inner) => explainIssue({ ...inner, path: [...issue.path, ...inner.path] }, root, keysAt));
  }
  return [{ path, message: `wrong value ${describe(value)}`, ...suggest(takes(path), yesOrNo(value)) }];
}

function explainValue(issue: ZodIssue, path: SpecPath, value: Json): Problem {
  const got = describe(value);
  switch (issue.code) {
    case "too_small":
      if (issue.origin === "array") return { path, message: "the list is empty", ...suggest(takes(path)) };
      if (issue.origin === "string") return { path, message: "the text is empty", ...suggest(takes(path)) };
      return { path, message: `must be ${issue.inclusive ? "at least" : "more than"} ${issue.minimum}, got ${got}` };
    case "too_big":
      if (issue.origin === "array") return { path, message: `more than ${issue.maximum} entries` };
      if (issue.origin === "string") return { path, message: `longer than ${issue.maximum} characters` };
      return { path, message: `must be at most ${issue.maximum}, got ${got}` };
    case "invalid_value": {
      const valid = issue.values.map(String);
      const suggestion = suggestNearest(typeof value === "string" ? value : "", valid, "one of");
      return { path, message: `${got} is not valid`, ...suggestion };
    }
    case "invalid_type": {
      const quoted = issue.expected === "string" && typeof value === "number" ? `write it in quotes: "${value}"` : null;
      const mend = suggest(takes(path), yesOrNo(value) ?? quoted);
      return { path, message: `expected ${typeInWords(issue.expected)}, got ${got}`, ...mend };
    }
    default:
      return { path, message: `${got} is not valid`, ...suggest(takes(path)) };
  }
}

/** What the nearest field that the path names takes, or what an entry of its list takes. */
function takes(path: SpecPath): string | null {
  const field = path.findLast((part) => typeof part === "string");
  if (field === undefined) return null;
  const entry = typeof path.at(-1) === "number" ? TAKES[`${field}[]`] : undefined;
  const text = entry ?? TAKES[field];
  return text === undefined ? null : `it takes ${text}`;
}

/** YAML 1.1 took yes, no, on and off as booleans; YAML 1.2 takes them as text. */
function yesOrNo(value: Json): string | null {
  if (typeof value !== "string" || !/^(?:yes|no|on|off|true|false)$/i.test(value)) return null;
  return `write ${/^(?:yes|on|true)$/i.test(value)} without quotes`;
}

function suggest(general: string | null, special: string | null = null): { suggestion?: string } {
  const suggestion = special ?? general;
  return suggestion === null ? {} : { suggestion };
}

function describe(value: Json): string {
  if (value === null) return "nothing (null)";
  if (typeof value === "string") return quote(value);
  if (typeof value === "object") return Array.isArray(value) ? "a list" : "an object";
  return String(value);
}

function typeInWords(expected: string): string {
  const words: Readonly<Record<string, string>> = {
    int: "a whole number",
    number: "a number",
    string: "text",
    boolean: "true or false",
    array: "a list",
    object: "an object (key: value)",
    record: "an object (key: value)",
  };
  return words[expected] ?? expected;
}
