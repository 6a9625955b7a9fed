import type { ChatRequest, ChatResult, SideRequest, Usage } from "@hallumaze/engine";
import type { FinishReason } from "@hallumaze/protocol";

import { countForLimits } from "./capabilities.ts";
import {
  classifyFailure,
  type ErrorFacts,
  type Failure,
  findBlamed,
  findError,
  isUnsupported,
} from "./classify-failure.ts";
import type { Endpoint, Redactor } from "./keys.ts";
import type { Exchange, Recorder } from "./recorder.ts";
import { keepBody, readBody, type ReplyBody } from "./reply-body.ts";
import { readLimits } from "./server-waits.ts";

/** Usage with what only some vendors count: tokens written to the prompt cache, a part of `inputTokens`. */
export interface ProviderUsage extends Usage {
  readonly cacheWriteTokens: number | null;
}

/** A result with what it counts against the lane's limits, where that is not its usage. */
export type ProviderResult = ChatResult & { readonly limitUsage: Pick<Usage, "inputTokens" | "outputTokens"> };

/** A request as a vendor takes it, before its SDK puts it on the wire. */
export interface Draft {
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly stream: boolean;
  /** Which of a vendor's interfaces it is for. */
  readonly api: string;
}

/** What a reply says of itself, whether it is complete or not. */
export interface ReplyFacts {
  readonly servedModel: string | null;
  readonly servedBy: string | null;
  readonly nativeFinishReason: string | null;
  readonly usage: ProviderUsage;
}

/** A reply as its vendor's folder reads it. */
export type Reading = ReplyFacts &
  (
    | {
        readonly kind: "reply";
        readonly text: string;
        readonly reasoning: string | null;
        readonly finishReason: FinishReason | null;
      }
    /** The answer or the prompt was held back; `detail` says which and why. */
    | { readonly kind: "filtered"; readonly detail: string; readonly message: string }
    /** An error inside the reply. */
    | { readonly kind: "error"; readonly error: ErrorFacts }
    /** No reply can be read: cut before its finish frame, or not this vendor's format. */
    | { readonly kind: "broken"; readonly outcome: "transport" | "unparseable_body"; readonly message: string }
  );

/** All that differs between vendors: a folder gives one of these. */
export interface Vendor {
  readonly draft: (request: ChatRequest) => Draft;
  /** Sends a draft through the vendor's SDK, whose fetch is the recorder's. Its result is ignored. */
  readonly send: (draft: Draft, model: string, endpoint: Endpoint) => Promise<unknown>;
  readonly read: (body: ReplyBody, draft: Draft) => Reading;
}

/** Usage of which nothing is known. */
export const unknownUsage: ProviderUsage = {
  inputTokens: null,
  outputTokens: null,
  cachedTokens: null,
  reasoningTokens: null,
  cacheWriteTokens: null,
};

/** What can carry the conversation: never shown as a parameter, never repaired away. */
const contentKeys = new Set(["model", "messages", "system", "contents", "systemInstruction", "input", "instructions"]);

/**
 * One try: one request, but for one free resend, on a fresh socket, where a reused one died before any byte of the reply,
 * and one repair of a parameter that the model does not take. Both are recorded beside the result.
 */
export async function attempt(
  vendor: Vendor,
  parts: { readonly recorder: Recorder; readonly redactor: Redactor; readonly endpoint: Endpoint },
  request: ChatRequest,
  signal: AbortSignal,
): Promise<ProviderResult> {
  const { recorder, redactor, endpoint } = parts;
  const { redact } = redactor;
  const side: SideRequest[] = [];
  const isUsed = (reason: SideRequest["reason"]): boolean => side.some((earlier) => earlier.reason === reason);
  const note = (reason: SideRequest["reason"], message: string, exchange: Exchange): void => {
    side.push({ reason, message: redact(message), rawBody: keptBody(exchange, redact), httpMs: exchange.httpMs });
  };
  let draft = vendor.draft(request);
  const startedMs = performance.now();
  for (;;) {
    const sent = draft;
    const send = (): Promise<unknown> => vendor.send(sent, request.model, endpoint);
    const spentMs = performance.now() - startedMs;
    const exchange = await recorder.record(endpoint.key, signal, send, spentMs, isUsed("resend"));
    if (exchange.breakage?.kind === "transport" && exchange.breakage.resendable && !isUsed("resend")) {
      note("resend", exchange.breakage.message, exchange);
      continue;
    }
    const verdict = judge(vendor, exchange, draft);
    if (verdict.kind === "failure" && verdict.failure.outcome === "bad_request" && !isUsed("repair")) {
      const repaired = repair(draft, verdict.failure);
      if (repaired !== null) {
        note("repair", `${verdict.failure.message} → ${repaired.change}`, exchange);
        draft = repaired.draft;
        continue;
      }
    }
    const { usage } = verdict.facts;
    return { ...toResult(verdict, exchange, draft, side, redact), limitUsage: countForLimits(request.provider, usage) };
  }
}

/** Reads one exchange that was got by other ways than a try: a row of a batch. No resend, no repair. */
export function readExchange(
  vendor: Vendor,
  exchange: Exchange,
  draft: Draft,
  of: { readonly provider: string; readonly redact: (text: string) => string },
): ProviderResult {
  const verdict = judge(vendor, exchange, draft);
  const limitUsage = countForLimits(of.provider, verdict.facts.usage);
  return { ...toResult(verdict, exchange, draft, [], of.redact), limitUsage };
}

/** What a refused exchange means; null where it was answered in full with a status of success. */
export function failureOf(exchange: Exchange): Failure | null {
  const status = exchange.status ?? 0;
  if (exchange.breakage === null && status >= 200 && status < 300) return null;
  if (status >= 300) {
    const body = readBody(exchange.body);
    const source = { headers: exchange.headers, nowMs: exchange.endedAtMs };
    return classifyFailure(status, errorOf(body) ?? plainText(body), source);
  }
  const { breakage } = exchange;
  return plain(breakage?.kind ?? "transport", breakage?.message ?? "no reply", null);
}

type Verdict = { readonly facts: ReplyFacts } & (
  | { readonly kind: "reply"; readonly reading: Reading & { readonly kind: "reply" } }
  | { readonly kind: "failure"; readonly failure: Failure }
);

/** Body first, then status; a complete reply counts although its connection broke afterwards. */
function judge(vendor: Vendor, exchange: Exchange, draft: Draft): Verdict {
  const body = readBody(exchange.body);
  const status = exchange.status ?? 0;
  const source = { headers: exchange.headers, nowMs: exchange.endedAtMs };
  const noFacts = { servedModel: null, servedBy: null, nativeFinishReason: null, usage: unknownUsage };
  const fail = (failure: Failure, facts: ReplyFacts = noFacts): Verdict => ({ kind: "failure", failure, facts });

  const error = errorOf(body);
  if (status >= 300) return fail(explain(classifyFailure(status, error ?? plainText(body), source), draft));
  if (error !== null)
    return fail(explain(classifyFailure(status, error, source), draft), readFacts(vendor, body, draft));
  const reading = status === 0 ? null : vendor.read(body, draft);
  if (reading?.kind === "reply" && (exchange.breakage === null || reading.nativeFinishReason !== null)) {
    return { kind: "reply", reading, facts: reading };
  }
  const facts = reading ?? noFacts;
  if (reading?.kind === "error") return fail(explain(classifyFailure(status, reading.error, source), draft), facts);
  if (reading?.kind === "filtered") return fail(plain("filtered", reading.message, reading.detail), facts);
  if (exchange.breakage !== null) {
    const { breakage } = exchange;
    const stage = breakage.kind === "timeout" ? breakage.stage : null;
    const message = stage === null ? breakage.message : `timeout(${stage}): ${breakage.message}`;
    return fail(plain(breakage.kind, message, stage), facts);
  }
  if (reading?.kind === "broken") return fail(plain(reading.outcome, reading.message, null), facts);
  return fail(plain("transport", "no reply", null), facts);
}

function plain(outcome: Failure["outcome"], message: string, detail: string | null): Failure {
  return { outcome, message, detail, retryAfterMs: null, park: null, unsupported: null };
}

/** Says which of the draft's parameters a refusal means, where its body does not say so itself. */
function explain(failure: Failure, draft: Draft): Failure {
  if (failure.outcome !== "bad_request" || failure.detail !== null) return failure;
  const blamed = findBlamed(failure.message, Object.keys(flatten(draft.body)));
  return {
    ...failure,
    detail: blamed?.split(".").at(-1) ?? null,
    unsupported: isUnsupported(failure.message) ? blamed : null,
  };
}

/** The draft without the refused parameter, or with the token limit under its other name; null where it cannot be. */
function repair(draft: Draft, failure: Failure): { draft: Draft; change: string } | null {
  if (failure.unsupported === null) return null;
  const path = findBlamed(`'${failure.unsupported}'`, Object.keys(flatten(draft.body)));
  if (path === null) return null;
  const other = { max_tokens: "max_completion_tokens", max_completion_tokens: "max_tokens" }[path];
  if (other !== undefined && draft.api === "chat") {
    const { [path]: limit, ...rest } = draft.body;
    return { draft: { ...draft, body: { ...rest, [other]: limit } }, change: `sent as ${other}` };
  }
  if (/^(max_?tokens|max_?output_?tokens)$/i.test(path.split(".").at(-1) ?? "")) return null;
  const shorter = without(draft.body, path.split("."));
  const { stream_options: _options, ...plain } = shorter;
  const body = path === "stream" ? plain : shorter;
  return { draft: { ...draft, body, stream: draft.stream && path !== "stream" }, change: `sent without ${path}` };
}

function without(body: Readonly<Record<string, unknown>>, path: readonly string[]): Record<string, unknown> {
  const [head = "", ...rest] = path;
  const { [head]: value, ...others } = body;
  if (rest.length === 0 || !isRecord(value)) return others;
  const inner = without(value, rest);
  // A group without its deciding member (a thinking budget, an effort) is itself refused.
  const isOnlyType = Object.keys(inner).every((key) => key === "type" || key === "includeThoughts");
  return isOnlyType ? others : { ...others, [head]: inner };
}

function toResult(
  verdict: Verdict,
  exchange: Exchange,
  draft: Draft,
  sideRequests: readonly SideRequest[],
  redact: (text: string) => string,
): ChatResult {
  const clean = (text: string | null): string | null => (text === null ? null : redact(text));
  const { facts } = verdict;
  const received = {
    rawBody: keptBody(exchange, redact),
    servedModel: clean(facts.servedModel),
    servedBy: clean(facts.servedBy),
    nativeFinishReason: clean(facts.nativeFinishReason),
    usage: facts.usage,
    httpMs: exchange.httpMs,
    ttftMs: exchange.ttftMs,
    effectiveParams: { ...flatten(draft.body), ...draft.headers, ...(draft.stream ? { stream: true } : {}) },
    limits: readLimits(exchange.headers, exchange.endedAtMs),
    sideRequests,
  };
  if (verdict.kind === "reply") {
    const { text, reasoning, finishReason } = verdict.reading;
    return { ...received, kind: "reply", text: redact(text), reasoning: clean(reasoning), finishReason };
  }
  const { outcome, message, detail, retryAfterMs, park } = verdict.failure;
  return {
    ...received,
    kind: "failure",
    outcome,
    message: redact(message),
    detail: clean(detail),
    retryAfterMs,
    park: park === null ? null : { ...park, reason: redact(park.reason) },
  };
}

function keptBody(exchange: Exchange, redact: (text: string) => string): string | null {
  if (exchange.body.length === 0 && exchange.status === null) return null;
  return keepBody(exchange.body, redact);
}

/** An error object anywhere a server may put it: the body itself, or an event of its stream. */
function errorOf(body: ReplyBody): ErrorFacts | null {
  if (body.kind === "json") return findError(body.value);
  if (body.kind !== "events") return null;
  for (const event of body.events) {
    const error = findError(event.json);
    if (error !== null) return error;
  }
  return null;
}

/** A page, a plain line or some other JSON: its words still tell an overload from a wrong address. */
function plainText(body: ReplyBody): ErrorFacts | null {
  if (body.kind !== "text" && body.kind !== "json") return null;
  const text = body.kind === "text" ? body.text : JSON.stringify(body.value);
  const message = text
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 600);
  return { status: null, message, parameter: null, words: [], text };
}

function readFacts(vendor: Vendor, body: ReplyBody, draft: Draft): ReplyFacts {
  return vendor.read(body, draft);
}

/** A body's parameters as dotted names, the conversation left out. */
function flatten(body: Readonly<Record<string, unknown>>): Record<string, number | string | boolean | null> {
  const flat: Record<string, number | string | boolean | null> = {};
  const visit = (value: unknown, path: string): void => {
    if (isRecord(value)) {
      for (const [key, inner] of Object.entries(value)) visit(inner, path === "" ? key : `${path}.${key}`);
    } else if (value === null || ["number", "string", "boolean"].includes(typeof value)) {
      flat[path] = value as number | string | boolean | null;
    } else if (value !== undefined) {
      flat[path] = JSON.stringify(value);
    }
  };
  for (const [key, value] of Object.entries(body)) if (!contentKeys.has(key)) visit(value, key);
  return flat;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
