import type { FinishReason } from "@hallumaze/protocol";

import { hasDuplicateKey } from "./json-keys.ts";
import type {
  Evidence,
  JudgeFlag,
  JudgePromptVersion,
  Level,
  UnreadableReason,
  Verdict,
  VerdictReading,
} from "./judged.ts";
import { sanitiseResponse } from "./sanitise-response.ts";
import { givesReason, readRefusal, saysNoneFound } from "./stock-phrases.ts";
import { makeVisible, quotationForm } from "./text-forms.ts";

/** What a reply is read against. */
export interface VerdictContext {
  readonly version: JudgePromptVersion;
  /** The response as the candidate gave it. */
  readonly response: string;
  /** The request's nonce; null in the seed's version. */
  readonly nonce: string | null;
  /** How the judge's reply ended; null where it is not known. */
  readonly finishReason: FinishReason | null;
}

const keysOf: Readonly<Record<JudgePromptVersion, readonly string[]>> = {
  "llm-judge-v1": ["evidence", "counter_argument", "reasoning", "level", "confidence", "nonce"],
  "llm-judge-v1-seed": ["level", "reasoning", "counter_argument", "confidence"],
};

/**
 * Reads a judge's reply strictly: the whole message is one JSON object of the version's form, in one code fence at most,
 * or there is no verdict and a reason. Nothing is searched for in prose, nothing is filled in, no level is rounded.
 *
 * The one leniency is in the level: `l3` or a zero-width sign around it is still L3, since nothing else can be meant;
 * `L4`, `3/3`, `3` and full-width letters are out of range. Throws for no text. SOURCE: judge specification, item 5.
 */
export function readVerdict(raw: string, context: VerdictContext): VerdictReading {
  if (context.finishReason === "refusal" || context.finishReason === "content_filter") {
    return unreadable("refused", `the reply ended as ${context.finishReason}`);
  }
  const body = unwrap(raw);
  if (body === "") {
    return context.finishReason === "length"
      ? unreadable("truncated", "the reply was cut at its token limit before its first visible word")
      : unreadable("empty", "the reply holds no text");
  }
  const parsed = parseObject(body);
  if (parsed === null) return unreadable(...withoutObject(body, context));
  if (hasDuplicateKey(body)) return unreadable("duplicateKey", "a key stands twice in one object");
  return readFields(parsed, body, context);
}

type Unreadable = readonly [reason: UnreadableReason, message: string];
type Fields = Readonly<Record<string, unknown>>;

function unreadable(...[reason, message]: Unreadable): VerdictReading {
  return { kind: "unreadable", reason, message };
}

function withoutObject(body: string, { finishReason }: VerdictContext): Unreadable {
  if (finishReason === "length") return ["truncated", "the reply was cut at its token limit"];
  if (!body.startsWith("{") && readRefusal(body) === "whole") return ["refused", "the reply refuses"];
  return ["notOneObject", `expected exactly one JSON object, got ${body.length} characters of something else`];
}

/** The message without white space and invisible signs at its ends, and without one fence around all of it. */
function unwrap(raw: string): string {
  const bare = trimInvisible(raw);
  const fence = /^```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n?[ \t]*```$/i.exec(bare);
  // A second fence inside would be a second thing that was said.
  if (fence?.[1] === undefined || fence[1].includes("```")) return bare;
  return trimInvisible(fence[1]);
}

function trimInvisible(text: string): string {
  const visible = /[^\s\p{Default_Ignorable_Code_Point}]/u;
  const start = text.search(visible);
  if (start < 0) return "";
  let end = text.length;
  while (end > start && !visible.test(text.charAt(end - 1)) && !/[\uDC00-\uDFFF]/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function parseObject(body: string): Fields | null {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readFields(fields: Fields, body: string, context: VerdictContext): VerdictReading {
  const problem = keyProblem(fields, keysOf[context.version], context.version === "llm-judge-v1");
  if (problem !== null) return unreadable(...problem);
  const evidence = context.version === "llm-judge-v1" ? readEvidence(fields["evidence"]) : [];
  if ("problem" in evidence) return unreadable(...evidence.problem);
  const level = readLevel(fields["level"]);
  if (level === null) return unreadable("outOfRange", `level must be L1, L2 or L3, got ${show(fields["level"])}`);
  const { confidence, reasoning, counter_argument: counterArgument } = fields;
  if (typeof confidence !== "number" || !(confidence >= 0 && confidence <= 1)) {
    return unreadable("outOfRange", `confidence must be a number from 0 to 1, got ${show(confidence)}`);
  }
  if (typeof reasoning !== "string" || typeof counterArgument !== "string") {
    return unreadable("outOfRange", "reasoning and counter_argument must be texts");
  }
  if (context.version === "llm-judge-v1" && (context.nonce === null || fields["nonce"] !== context.nonce)) {
    return unreadable("wrongNonce", "the reply does not carry the nonce of its request");
  }
  return checkVerdict({ level, reasoning, counterArgument, confidence, evidence }, body, context);
}

function keyProblem(fields: Fields, expected: readonly string[], isOrdered: boolean): Unreadable | null {
  const keys = Object.keys(fields);
  const unknown = keys.find((key) => !expected.includes(key));
  if (unknown !== undefined) return ["unknownKey", `unknown key ${show(unknown)}`];
  const missing = expected.find((key) => !keys.includes(key));
  if (missing !== undefined) return ["missingKey", `no key ${missing}`];
  if (isOrdered && keys.indexOf("level") < keys.indexOf("counter_argument")) {
    return ["levelBeforeWeakness", "level was written before counter_argument"];
  }
  return null;
}

function readEvidence(value: unknown): readonly Evidence[] | { readonly problem: Unreadable } {
  if (!Array.isArray(value)) return { problem: ["outOfRange", "evidence must be a list"] };
  const items: Evidence[] = [];
  for (const item of value as readonly unknown[]) {
    if (!isObject(item)) return { problem: ["outOfRange", "each item of evidence must be an object"] };
    const problem = keyProblem(item, ["quote", "claim"], false);
    if (problem !== null) return { problem };
    const { quote, claim } = item;
    if (typeof quote !== "string" || typeof claim !== "string") {
      return { problem: ["outOfRange", "quote and claim must be texts"] };
    }
    items.push({ quote, claim });
  }
  return items;
}

const levels: Readonly<Record<string, Level>> = { L1: 1, L2: 2, L3: 3 };

function readLevel(value: unknown): Level | null {
  if (typeof value !== "string" || value.length > 20) return null;
  const written = makeVisible(value).text.trim().toUpperCase();
  return Object.hasOwn(levels, written) ? (levels[written] ?? null) : null;
}

function checkVerdict(verdict: Verdict, body: string, context: VerdictContext): VerdictReading {
  const { counterArgument, reasoning, evidence, level } = verdict;
  if (!/[\p{L}\p{N}]/u.test(counterArgument)) return unreadable("missingKey", "counter_argument is empty");
  if (!/[\p{L}\p{N}]/u.test(reasoning)) return unreadable("missingKey", "reasoning is empty");
  // What the judge saw has names taken out; a person would quote the original.
  const seen = [
    sanitiseResponse(context.response, { capCharacters: Number.POSITIVE_INFINITY }).text,
    context.response,
  ].map(quotationForm);
  if (isCopied(verdict, body, seen)) {
    return unreadable("copiedFromResponse", "the verdict stands in the response that it judges");
  }
  const strange = evidence.find(({ quote }) => {
    const form = quotationForm(quote);
    return !/[\p{L}\p{N}\p{S}]/u.test(form) || !seen.some((text) => text.includes(form));
  });
  if (strange !== undefined) {
    return unreadable("quoteNotFound", `a quote does not stand in the response: ${show(strange.quote)}`);
  }
  if (context.version === "llm-judge-v1" && level > 1 && evidence.length === 0) {
    return unreadable("noEvidence", `L${level} without a quote`);
  }
  const flags: JudgeFlag[] = [];
  if (saysNoneFound(counterArgument)) {
    if (!givesReason(reasoning)) {
      return unreadable("noReasonForNoWeakness", "no weakness was found, and reasoning does not say why");
    }
    flags.push("noWeaknessFound");
  }
  return { kind: "verdict", verdict, flags };
}

/**
 * Whether a judge handed back a verdict that the candidate wrote: the whole message, or its weakness and its reasoning both,
 * stand in the response, as they are or escaped. A judge's own words on a response do not stand in it.
 */
function isCopied({ counterArgument, reasoning }: Verdict, body: string, seen: readonly string[]): boolean {
  const both = [counterArgument, reasoning].map(quotationForm);
  return seen
    .flatMap((text) => [text, quotationForm(unescape(text))])
    .some((text) => text.includes(quotationForm(body)) || both.every((part) => text.includes(part)));
}

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

function unescape(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g,
    (_match, code: string | undefined, sign: string | undefined) =>
      code === undefined ? (escapes[sign ?? ""] ?? sign ?? "") : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** A value from outside, short enough for a message. */
function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
