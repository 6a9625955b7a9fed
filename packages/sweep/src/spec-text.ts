import type { Json } from "@hallumaze/foundation";
import {
  type Alias,
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  visit,
  type YAMLMap,
} from "yaml";

import type { Problem, SpecPath } from "./spec-error.ts";

/** A place in a text, 1-based. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** A text read into plain values, and where each of them stands. */
export interface LocatedValue {
  readonly value: Json;
  /** Problems of the text itself; where there are any, `value` may be incomplete. */
  readonly problems: readonly (Problem & { readonly place: TextPlace | null })[];
  /** The place of a value, or of its key; of the nearest ancestor that the text has, for a path that it has not. */
  readonly locate: (path: SpecPath, atKey: boolean) => TextPlace | null;
}

/** The longest text that is read, in UTF-16 code units. */
export const MAX_SPEC_LENGTH = 1_000_000;

/** Bounds that keep any text cheap; a spec that people write is far below each. */
const MAX_DEPTH = 64;
const MAX_STRAY_TOKENS = 10_000;
const MAX_ALIASES = 1_000;
const MAX_NODES = 600_000;
const MAX_SYNTAX_PROBLEMS = 5;

/**
 * Reads YAML 1.2 (core schema), of which JSON is a subset; duplicate keys, further documents, tags, and aliases beyond
 * their bounds are problems. Never throws; its time is about linear in the text's length.
 */
export function readSpecText(text: string, format: "yaml" | "json"): LocatedValue {
  const refused = refuseText(text);
  if (refused !== null) return failed([{ path: [], place: null, message: refused.message, suggestion: refused.mend }]);
  const source = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const lines = new LineCounter();
  const composed = compose(source, lines);
  if ("message" in composed) {
    return failed([{ path: [], place: placeAt(lines, composed.offset), message: composed.message }]);
  }
  const { document } = composed;
  const syntax = [...document.errors, ...document.warnings].slice(0, MAX_SYNTAX_PROBLEMS).map((error) => ({
    path: [],
    place: placeAt(lines, error.pos[0]),
    message: `not valid ${format === "json" ? "JSON" : "YAML"}: ${plainSyntaxMessage(error.code, error.message)}`,
  }));
  if (syntax.length > 0) return failed(syntax);
  if (format === "json" && !isJson(source)) {
    const message = "not valid JSON: text without double quotes, a comment, or a comma too many";
    const place = placeAt(lines, firstNonJson(document) ?? 0);
    return failed([{ path: [], place, message, suggestion: "mend it, or name the file .yaml" }]);
  }
  if (document.contents === null) {
    return failed([{ path: [], place: null, message: "the file holds no spec, only comments or blank lines" }]);
  }
  return plainValue(document.contents, lines);
}

function refuseText(text: string): { message: string; mend: string } | null {
  if (text.length > MAX_SPEC_LENGTH) {
    const megabytes = (text.length / 1_000_000).toFixed(1);
    return {
      message: `the file is too large: ${megabytes} million characters, at most 1.0 million are read`,
      mend: 'write seeds as ranges, such as "2000..2999"',
    };
  }
  if (text.trim() === "" || text === "\uFEFF") {
    return { message: "the file is empty", mend: "a spec needs at least name, models, seeds and sizes" };
  }
  if (text.includes("\uFFFD") || text.includes("\u0000")) {
    return { message: "the file is not UTF-8 text", mend: "save it as UTF-8" };
  }
  return null;
}

/** Refuses deep nesting and floods of stray tokens before the composer, which recurses, sees them. */
function compose(source: string, lines: LineCounter): { document: Document } | { message: string; offset: number } {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const tokens = [];
  for (const lexeme of new Lexer().lex(source)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > MAX_DEPTH) {
      return { message: `nested more than ${MAX_DEPTH} levels deep`, offset: parser.offset };
    }
    if (tokens.length > MAX_STRAY_TOKENS) {
      return { message: "too many stray characters outside the spec's one document", offset: parser.offset };
    }
  }
  tokens.push(...parser.end());
  const options = { version: "1.2", schema: "core", uniqueKeys: false, lineCounter: lines } as const;
  let document: Document | null = null;
  for (const next of new Composer(options).compose(tokens, true, source.length)) {
    if (document !== null) {
      return { message: "a spec file holds one document; a second one begins here", offset: next.range[0] };
    }
    document = next;
  }
  return document === null ? { message: "the file is empty", offset: 0 } : { document };
}

/** The library's message without the text that it quotes: what stands there may be a key. */
function plainSyntaxMessage(code: string, message: string): string {
  if (code === "TAB_AS_INDENT") return "a tab indents this line; YAML takes spaces only";
  if (code === "TAG_RESOLVE_FAILED") return "tags (!name) have no meaning in a spec";
  if (code === "BLOCK_AS_IMPLICIT_KEY") return "a second `key:` on one line; quote the text or begin a new line";
  return message.replace(/:? *(?:"[\s\S]*|\{[\s\S]*)$/, "").slice(0, 120);
}

function isJson(source: string): boolean {
  try {
    JSON.parse(source);
    return true;
  } catch {
    return false;
  }
}

/** Where a document that reads as YAML first leaves JSON: a bare or single-quoted text, or an empty value. */
function firstNonJson(document: Document): number | null {
  let found: number | null = null;
  visit(document, {
    Scalar: (_, node) => {
      const bare = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/.test(node.source ?? "");
      if (node.type === "QUOTE_DOUBLE" || (node.type === "PLAIN" && bare)) return undefined;
      found = node.range?.[0] ?? null;
      return visit.BREAK;
    },
  });
  return found;
}

function plainValue(root: Node, lines: LineCounter): LocatedValue {
  const problems: (Problem & { place: TextPlace | null })[] = [];
  const anchors = new Map<string, Node>();
  const targets = new Map<Node, Node>();
  const open = new Set<Node>();
  let aliases = 0;
  let nodes = 0;

  function read(node: unknown, path: SpecPath): Json {
    if (++nodes > MAX_NODES) {
      if (nodes === MAX_NODES + 1) problems.push({ path: [], place: null, message: "too many values in one spec" });
      return null;
    }
    if (isAlias(node)) return readAlias(node, path);
    if ((isScalar(node) || isMap(node) || isSeq(node)) && node.anchor !== undefined) anchors.set(node.anchor, node);
    if (isScalar(node)) return scalarValue(node.value);
    if (!isMap(node) && !isSeq(node)) return null;
    open.add(node);
    const value = isMap(node) ? readMap(node, path) : node.items.map((item, index) => read(item, [...path, index]));
    open.delete(node);
    return value;
  }

  function readMap(node: YAMLMap, path: SpecPath): Json {
    const members: { [key: string]: Json } = {};
    for (const pair of node.items) {
      const place = placeAt(lines, startOf(pair.key) ?? startOf(node) ?? 0);
      if (!isScalar(pair.key)) {
        problems.push({ path, place, message: "a key must be plain text" });
        continue;
      }
      const key = String(scalarValue(pair.key.value));
      const child = [...path, key];
      // Assigned, `__proto__` would vanish from the value and so from every check.
      if (key === "__proto__") problems.push({ path: child, place, message: "unknown key" });
      else if (Object.hasOwn(members, key)) {
        problems.push({ path: child, place, message: "this key stands twice", suggestion: "keep one of them" });
      } else members[key] = read(pair.value, child);
    }
    return members;
  }

  function readAlias(node: Alias, path: SpecPath): Json {
    const place = placeAt(lines, startOf(node) ?? 0);
    const target = anchors.get(node.source);
    if (target === undefined || open.has(target)) {
      problems.push({ path, place, message: "this alias (*name) has no anchor (&name) that ends before it" });
      return null;
    }
    if (++aliases > MAX_ALIASES) {
      if (aliases === MAX_ALIASES + 1) problems.push({ path, place, message: `more than ${MAX_ALIASES} aliases` });
      return null;
    }
    targets.set(node, target);
    return read(target, path);
  }

  const value = read(root, []);
  const locate = (path: SpecPath, atKey: boolean): TextPlace =>
    placeAt(lines, offsetOf(root, targets, path, atKey) ?? 0);
  return { value, problems, locate };
}

function offsetOf(root: Node, targets: ReadonlyMap<Node, Node>, path: SpecPath, atKey: boolean): number | null {
  let node: unknown = root;
  let key: unknown = null;
  for (const part of path) {
    const inside: unknown = isAlias(node) ? targets.get(node) : node;
    if (isMap(inside)) {
      const pair = inside.items.find(({ key: found }) => isScalar(found) && String(scalarValue(found.value)) === part);
      // A missing key is best shown at the entry that lacks it.
      if (pair === undefined) break;
      key = pair.key;
      node = pair.value;
    } else if (isSeq(inside) && typeof part === "number" && part < inside.items.length) {
      key = null;
      node = inside.items[part];
    } else break;
  }
  return atKey ? (startOf(key) ?? startOf(node)) : (startOf(node) ?? startOf(key));
}

/** The core schema yields nothing else; what another schema might yield counts as empty. */
function scalarValue(value: unknown): number | string | boolean | null {
  return typeof value === "number" || typeof value === "string" || typeof value === "boolean" ? value : null;
}

function startOf(node: unknown): number | null {
  return isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? (node.range?.[0] ?? null) : null;
}

function placeAt(lines: LineCounter, offset: number): TextPlace {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

function failed(problems: LocatedValue["problems"]): LocatedValue {
  return { value: null, problems, locate: () => null };
}
