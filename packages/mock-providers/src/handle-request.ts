import type { IncomingMessage, ServerResponse } from "node:http";

import type { Clock } from "@hallumaze/foundation";

import { answerQuestion, type SolverChoice } from "./answer-question.ts";
import type { BatchAnswer, BatchDesk } from "./batch-desk.ts";
import { type Delivery, deliverReply, type Outgoing } from "./deliver-reply.ts";
import type { Failure, FailureKind, Question, Reply, WrittenFailure } from "./dialect.ts";
import type { LaneGate, openLimits } from "./enforce-limits.ts";
import type { CountKeeper, LaneId, RequestEnd } from "./keep-counts.ts";
import { limitHeaders } from "./limit-headers.ts";
import { keyName, type OpenEntry, type RequestLog } from "./log-requests.ts";
import { matchesPattern, type Player } from "./play-script.ts";
import { batchDialectOf, keyOf, type Route, routeBatch, routeRequest, writeFailure } from "./route-request.ts";
import type { ParsedRule } from "./script-schema.ts";

/** What every request is handled with. */
export interface Handling {
  readonly clock: Clock;
  readonly seed: number;
  readonly desk: BatchDesk;
  readonly solver: SolverChoice | null;
  readonly keys: readonly string[] | null;
  readonly models: readonly string[] | null;
  readonly latency: { readonly baseMs: number; readonly perTokenMs: number };
  readonly limits: ReturnType<typeof openLimits>;
  readonly counts: CountKeeper;
  readonly log: RequestLog;
  /** The script being played, as it is now. */
  readonly player: () => Player;
}

/** One request on its way, after its body has come. */
interface Arrival {
  readonly response: ServerResponse;
  readonly key: string | null;
  readonly signal: AbortSignal;
  readonly entry: OpenEntry;
  readonly requestId: string;
  lane: LaneId | null;
}

/** A request to a vendor's path. */
interface Exchange extends Arrival {
  readonly route: Route;
}

const bodyLimitBytes = 32 * 1024 * 1024;

/**
 * Handles one request to a vendor's path: reads it, plays the script on it, lets it through the limits, answers. An
 * answer whose client has gone is charged all the same, as vendors do.
 */
export async function handleRequest(
  handling: Handling,
  request: IncomingMessage,
  response: ServerResponse,
  {
    number,
    connection,
    signal,
  }: { readonly number: number; readonly connection: number; readonly signal: AbortSignal },
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://rehearsal");
  handling.counts.arrived(url.pathname);
  const body = await readBody(request, signal);
  const batches = routeBatch(url.pathname);
  const route = batches?.route ?? (request.method === "POST" ? routeRequest(url.pathname) : null);
  const key = route === null ? null : keyOf(route.vendor, request.headers, url.searchParams);
  const entry = newEntry(handling, request, { number, connection, bodyText: body ?? "", key, route });
  handling.log.add(entry);
  const arrival: Arrival = { response, key, signal, entry, requestId: `req_rehearsal_${number}`, lane: null };
  if (route === null) return sendText(handling, arrival, 404, notFound(url.pathname));
  const exchange: Exchange = { ...arrival, route };
  if (body === null) return sendFailure(handling, exchange, { kind: "payload_too_large" });
  if (batches !== undefined) {
    const contentType = request.headers["content-type"] ?? "";
    const { method = "GET" } = request;
    const keyId = keyName(key);
    const call = {
      method,
      path: url.pathname,
      query: url.searchParams,
      body,
      contentType,
      keyId,
      requestId: String(number),
    };
    return sendBatchAnswer(handling, exchange, () => batches.answer(handling.desk, call));
  }
  const question = readQuestion(route, body, url.pathname);
  if (typeof question === "string") {
    return sendFailure(handling, exchange, { kind: "bad_request", message: question });
  }
  exchange.lane = { vendor: route.vendor, model: question.model, keyId: keyName(key) };
  entry.model = question.model;
  handling.counts.identified(exchange.lane);
  const rule = handling.player().next({ question, dialect: route.dialect, key, connection });
  await play(handling, exchange, question, rule);
}

async function sendBatchAnswer(
  handling: Handling,
  exchange: Exchange,
  answer: () => BatchAnswer | Promise<BatchAnswer>,
): Promise<void> {
  const { key } = exchange;
  if (key === null || handling.keys?.includes(key) === false) return sendFailure(handling, exchange, { kind: "auth" });
  const made = await answer();
  if (made.kind === "failure") return sendFailure(handling, exchange, { kind: made.failure, message: made.message });
  if (made.kind === "text") return sendText(handling, exchange, 200, made.body, { "content-type": made.type });
  const delivery: Delivery = made.isLost === true ? { reset: "before_headers" } : {};
  return sendText(handling, exchange, 200, JSON.stringify(made.body), { "content-type": "application/json" }, delivery);
}

/** Answers one request of a batch as a single one is answered: by script, model and solver. Limits do not hold there. */
export function answerRow(
  handling: Handling,
  question: Question,
  number: number,
): Reply | { readonly error: FailureKind; readonly message: string | null } {
  const rule = handling.player().next({ question, dialect: batchDialectOf(question), key: null, connection: 0 });
  if (rule?.fail !== undefined) {
    const wish = typeof rule.fail === "string" ? { kind: rule.fail } : rule.fail;
    return { error: wish.kind, message: wish.message ?? null };
  }
  if (handling.models?.some((pattern) => matchesPattern(pattern, question.model)) === false) {
    return { error: "model_not_found", message: null };
  }
  const { solver, seed } = handling;
  return answerQuestion(question, {
    solver,
    seed,
    wish: rule?.reply ?? {},
    key: null,
    number,
    nowMs: handling.clock(),
  });
}

async function play(
  handling: Handling,
  exchange: Exchange,
  question: Question,
  rule: ParsedRule | null,
): Promise<void> {
  const { entry, key } = exchange;
  if (rule !== null) {
    entry.rule = rule.name ?? describeRule(rule);
    handling.counts.ruleApplied(entry.rule);
  }
  if (rule?.respond !== undefined) return sendRaw(handling, exchange, rule);
  const delivery = rule?.delivery ?? {};
  if (rule?.fail !== undefined) {
    const wish = typeof rule.fail === "string" ? { kind: rule.fail } : rule.fail;
    return sendFailure(handling, exchange, wish, delivery);
  }
  if (exchange.route.vendor !== "compatible" && (key === null || handling.keys?.includes(key) === false)) {
    return sendFailure(handling, exchange, { kind: "auth" });
  }
  if (handling.models?.some((pattern) => matchesPattern(pattern, question.model)) === false) {
    return sendFailure(handling, exchange, { kind: "model_not_found" });
  }
  const gate = handling.limits.lane(question.vendor, keyName(key), question.model);
  const admission = gate.admit();
  if (!admission.admitted) {
    if (exchange.lane !== null) handling.counts.rateLimited(exchange.lane);
    const { waitMs, dimension } = admission;
    return sendFailure(handling, exchange, { kind: "rate_limited", retryAfterMs: waitMs, dimension });
  }
  if (exchange.lane !== null) handling.counts.admitted(exchange.lane);
  await sendAnswer(handling, exchange, question, rule, gate);
}

async function sendAnswer(
  handling: Handling,
  exchange: Exchange,
  question: Question,
  rule: ParsedRule | null,
  gate: LaneGate,
): Promise<void> {
  const { route, key, entry, requestId, response, signal } = exchange;
  const delivery = rule?.delivery ?? {};
  const reply = answerQuestion(question, {
    solver: handling.solver,
    seed: handling.seed,
    wish: rule?.reply ?? {},
    key,
    number: entry.number,
    nowMs: handling.clock(),
  });
  const content = contentOf(route, reply, question);
  const headers = {
    ...idHeaders(route, requestId),
    "content-type": typeof content === "string" ? "application/json" : "text/event-stream; charset=utf-8",
    ...limitHeaders(route.vendor, gate.meters(), handling.clock()),
  };
  const outgoing = {
    status: 200,
    headers,
    content,
    ...paceOf(handling, reply, content),
    errorEvent:
      delivery.errorEvent === undefined
        ? null
        : route.dialect.errorEvent(failureOf(handling, exchange, { kind: delivery.errorEvent.kind })),
  };
  await deliverReply(response, outgoing, delivery, signal, (end) => {
    const isCharged = end !== "black_hole" && end !== "server_closed";
    const { inputTokens, outputTokens } = isCharged ? reply.usage : { inputTokens: 0, outputTokens: 0 };
    gate.settle(inputTokens, outputTokens);
    if (isCharged && exchange.lane !== null) {
      handling.counts.completed(exchange.lane, inputTokens, outputTokens, end === 200);
    }
    ended(handling, exchange, end);
  });
}

function contentOf({ dialect }: Route, reply: Reply, question: Question): Outgoing["content"] {
  if (reply.shape === "empty_body") return "";
  return question.stream ? dialect.events(reply, question) : JSON.stringify(dialect.body(reply, question));
}

/** The latency model: a reply without stream takes as long as the stream's deltas would. */
function paceOf({ latency }: Handling, { usage }: Reply, content: Outgoing["content"]) {
  const tokensMs = usage.outputTokens * latency.perTokenMs;
  if (typeof content === "string") return { firstByteMs: latency.baseMs + tokensMs, perDeltaMs: 0 };
  const deltas = content.filter(({ isDelta }) => isDelta).length;
  return { firstByteMs: latency.baseMs, perDeltaMs: deltas > 0 ? tokensMs / deltas : 0 };
}

type FailureWish = Exclude<ParsedRule["fail"], FailureKind | undefined>;

async function sendFailure(
  handling: Handling,
  exchange: Exchange,
  wish: FailureWish,
  delivery: Delivery = {},
): Promise<void> {
  const failure = failureOf(handling, exchange, wish);
  const { body } = failure;
  const outgoing = {
    status: wish.status ?? failure.status,
    headers: {
      "content-type": typeof body === "string" ? "text/plain" : "application/json",
      ...failure.headers,
      ...meterHeaders(handling, exchange, wish),
      ...wish.headers,
    },
    content: typeof body === "string" ? body : JSON.stringify(body),
    firstByteMs: 0,
    perDeltaMs: 0,
    errorEvent: null,
  };
  await deliverReply(exchange.response, outgoing, delivery, exchange.signal, (end) => ended(handling, exchange, end));
}

function failureOf(handling: Handling, { route, key, lane, requestId }: Exchange, wish: FailureWish): WrittenFailure {
  const failure: Failure = {
    kind: wish.kind,
    message: wish.message ?? null,
    suffix: wish.echoKey === true ? ` (${key ?? ""})` : "",
    param: wish.param ?? null,
    model: lane?.model ?? "unknown",
    retryAfterMs: wish.retryAfterMs ?? null,
    retryAfterForm: wish.retryAfterForm ?? "vendor",
    dimension: wish.dimension ?? null,
    requestId,
    nowMs: handling.clock(),
  };
  return writeFailure(route.vendor, failure);
}

/** The limit headers of a failure. The form `reset` shows the named dimension as used up until the wait is over. */
function meterHeaders(handling: Handling, { route, key, lane }: Exchange, wish: FailureWish): Record<string, string> {
  if (lane === null) return {};
  const meters = handling.limits.lane(lane.vendor, keyName(key), lane.model).meters();
  if (wish.retryAfterForm !== "reset") return limitHeaders(route.vendor, meters, handling.clock());
  const named = wish.dimension === undefined || wish.dimension === "concurrency" ? "tokens" : wish.dimension;
  const other = named === "requests" ? ("tokens" as const) : ("requests" as const);
  const shown = [
    { dimension: other, limit: 1000, remaining: 900, resetMs: 100 },
    { dimension: named, limit: 100_000, remaining: 0, resetMs: wish.retryAfterMs ?? 0 },
  ];
  return limitHeaders(route.vendor, shown, handling.clock());
}

async function sendRaw(handling: Handling, exchange: Exchange, rule: ParsedRule): Promise<void> {
  const { status = 200, headers = {}, body = "" } = rule.respond ?? {};
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const type = typeof body === "string" ? "text/plain" : "application/json";
  const content = text.replaceAll("{{key}}", exchange.key ?? "");
  await sendText(handling, exchange, status, content, { "content-type": type, ...headers }, rule.delivery ?? {});
}

async function sendText(
  handling: Handling,
  arrival: Arrival,
  status: number,
  content: string,
  headers: Readonly<Record<string, string>> = { "content-type": "application/json" },
  delivery: Delivery = {},
): Promise<void> {
  const outgoing = { status, headers, content, firstByteMs: 0, perDeltaMs: 0, errorEvent: null };
  await deliverReply(arrival.response, outgoing, delivery, arrival.signal, (end) => ended(handling, arrival, end));
}

function ended({ counts, clock }: Handling, { entry, lane }: Arrival, end: RequestEnd): void {
  entry.end = end;
  entry.endedAtMs = clock();
  counts.ended(lane, end);
}

function newEntry(
  { clock }: Handling,
  request: IncomingMessage,
  {
    number,
    connection,
    bodyText,
    key,
    route,
  }: {
    readonly number: number;
    readonly connection: number;
    readonly bodyText: string;
    readonly key: string | null;
    readonly route: Route | null;
  },
): OpenEntry {
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const);
  return {
    number,
    atMs: clock(),
    connection,
    method: request.method ?? "",
    path: request.url ?? "",
    headers: Object.fromEntries(headers),
    bodyText,
    vendor: route?.vendor ?? null,
    model: null,
    rule: null,
    end: null,
    endedAtMs: null,
    key,
  };
}

function readQuestion({ dialect, vendor }: Route, body: string, path: string): Question | string {
  try {
    return dialect.read(JSON.parse(body), vendor, path);
  } catch {
    return "We could not parse the JSON body of your request.";
  }
}

/** Reads a body; null where it is over the limit. Throws where the client goes. */
async function readBody(request: IncomingMessage, signal: AbortSignal): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size <= bodyLimitBytes) chunks.push(bytes);
  }
  signal.throwIfAborted();
  return size > bodyLimitBytes ? null : Buffer.concat(chunks).toString("utf8");
}

function idHeaders({ vendor }: Route, requestId: string): Record<string, string> {
  if (vendor === "anthropic") return { "request-id": requestId };
  if (vendor === "deepseek") return { "x-ds-trace-id": requestId };
  return vendor === "google" ? {} : { "x-request-id": requestId };
}

function describeRule({ fail, respond, delivery, reply }: ParsedRule): string {
  if (fail !== undefined) return typeof fail === "string" ? fail : fail.kind;
  if (respond !== undefined) return `respond ${respond.status}`;
  return [...Object.keys(delivery ?? {}), ...Object.keys(reply ?? {})].join("+") || "pass";
}

function notFound(path: string): string {
  return JSON.stringify({
    error: { message: `Invalid URL (POST ${path})`, type: "invalid_request_error", param: null, code: null },
  });
}
