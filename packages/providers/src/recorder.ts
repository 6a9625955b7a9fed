import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";

import type * as Undici from "undici";

import { requestNotSent } from "./errors.ts";

/** How long each stage of a request may take, in milliseconds. */
export interface Deadlines {
  /** To a connected (and encrypted) socket. */
  readonly connectMs: number;
  /** From the start to the reply's headers. A reply that is not streamed sends them when the model is done. */
  readonly headerMs: number;
  /** Between two pieces of the reply. */
  readonly idleMs: number;
  /** From the start of the try to the last byte, a resend and a repair included. */
  readonly totalMs: number;
}

/** Deadlines that ship: DeepSeek alone may hold a request for ten minutes before it starts. */
export const defaultDeadlines: Deadlines = { connectMs: 10_000, headerMs: 660_000, idleMs: 180_000, totalMs: 900_000 };

/** Why no complete reply came. */
export type Breakage =
  | { readonly kind: "timeout"; readonly stage: "connect" | "header" | "idle" | "total"; readonly message: string }
  | {
      readonly kind: "transport";
      readonly message: string;
      /** The socket had served before and died before any byte of this reply: safe to send once more. */
      readonly resendable: boolean;
    };

/** One request as it went over the wire, before anybody parsed it. */
export interface Exchange {
  readonly status: number | null;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Every byte that came, transfer coding undone; what came before a breakage too. */
  readonly body: Buffer;
  readonly httpMs: number;
  /** To the first event of a streamed reply; null where it was not streamed. */
  readonly ttftMs: number | null;
  /** Wall clock when the reply ended, for dates in headers: milliseconds since the Unix epoch. */
  readonly endedAtMs: number;
  readonly breakage: Breakage | null;
}

/** Sends what an SDK asks for, exactly once, and keeps what came back. */
export interface Recorder {
  /** For an SDK's `fetch` option; it refuses to send outside `record`. */
  readonly fetch: typeof fetch;
  /** Tells whether the code that asks was called, however deep, by a `record` of this recorder. */
  readonly isRecording: () => boolean;
  /**
   * Runs an SDK call and gives the exchange it caused. What the SDK makes of the reply is ignored: the recorded bytes
   * decide. `spentMs` of the total deadline are gone; `fresh` sends over a connection of its own.
   * Rejects where `signal` fires, or where the SDK sent nothing.
   */
  readonly record: (
    key: string | null,
    signal: AbortSignal,
    call: () => Promise<unknown>,
    spentMs?: number,
    fresh?: boolean,
  ) => Promise<Exchange>;
  readonly close: () => Promise<void>;
}

interface Recording {
  readonly key: string | null;
  readonly signal: AbortSignal;
  readonly spentMs: number;
  readonly fresh: boolean;
  exchange: Exchange | null;
  sent: boolean;
}

/** What was known of the socket when the request was written to it. */
interface SocketState {
  readonly socket: { readonly bytesRead: number };
  readonly reused: boolean;
  readonly bytesRead: number;
}

/** Headers that an SDK may send; others come from variables that it reads by itself, and could carry a second key. */
const allowedHeaders = /^(content-type|accept|user-agent|anthropic-version|x-goog-api-client|x-stainless-.*)$/;
const keyHeaders = new Set(["authorization", "x-api-key", "x-goog-api-key"]);
const statusesWithoutBody = new Set([101, 204, 205, 304]);
/** No maze reply comes near: a server that sends more is broken, and the worker's memory is shared. */
const largestBody = 64 * 1024 * 1024;

/**
 * Opens a recorder with its own connections. `redact` takes keys out of what an SDK says where it sent nothing. Node's built-in fetch gives up after 300 s without headers whatever the
 * caller's timeout, so requests go through undici with that clock off and these deadlines on.
 */
export function openRecorder(deadlines: Deadlines, redact: (text: string) => string): Recorder {
  const recordings = new AsyncLocalStorage<Recording>();
  const sockets = watchSockets();
  // Idle sockets are dropped before common servers and balancers drop theirs (4 s and more).
  const clocks = { connect: { timeout: deadlines.connectMs }, headersTimeout: 0, bodyTimeout: 0 };
  let opening: Promise<Connections> | null = null;
  const openConnections = async (): Promise<Connections> => {
    // Loaded with the first request: most commands send none.
    const { Agent, request } = await import("undici");
    const kept = new Agent({ ...clocks, keepAliveTimeout: 3000, keepAliveMaxTimeout: 30_000 });
    // Where one idle socket had died, others may have: what is sent once more shares none.
    return { request, kept, fresh: new Agent({ ...clocks, pipelining: 0 }) };
  };

  const recordedFetch: typeof fetch = async (input, init) => {
    const recording = recordings.getStore();
    if (recording === undefined) throw new Error("a request outside of a recorded call");
    if (recording.sent) throw new Error("one request a try: the SDK tried to send a second one");
    recording.sent = true;
    opening ??= openConnections();
    const exchange = await exchangeOnce(await opening, sockets, deadlines, recording, addressOf(input), init ?? {});
    recording.exchange = exchange;
    if (exchange.breakage !== null || exchange.status === null) throw new TypeError("fetch failed");
    const body = statusesWithoutBody.has(exchange.status) ? null : new Uint8Array(exchange.body);
    return new Response(body, { status: exchange.status, headers: plainHeaders(exchange.headers) });
  };

  return {
    fetch: recordedFetch,
    isRecording: () => recordings.getStore() !== undefined,
    record: async (key, signal, call, spentMs = 0, fresh = false) => {
      signal.throwIfAborted();
      const recording: Recording = { key, signal, spentMs, fresh, exchange: null, sent: false };
      let failure: unknown = null;
      await recordings.run(recording, call).catch((error: unknown) => {
        failure = error;
      });
      signal.throwIfAborted();
      if (recording.exchange !== null) return recording.exchange;
      throw requestNotSent(redact(failure instanceof Error ? failure.message : String(failure)));
    },
    close: async () => {
      sockets.close();
      const connections = await opening;
      await Promise.all([connections?.kept.destroy(), connections?.fresh.destroy()]);
    },
  };
}

/** undici with the two agents that requests go through. */
interface Connections {
  readonly request: typeof Undici.request;
  readonly kept: Undici.Agent;
  readonly fresh: Undici.Agent;
}

/** A question is posted; batches are also looked at. */
function methodOf({ method }: RequestInit): "POST" | "GET" {
  return method?.toUpperCase() === "GET" ? "GET" : "POST";
}

function addressOf(input: string | URL | Request): string {
  if (typeof input === "string") return input;
  return input instanceof URL ? input.href : input.url;
}

async function exchangeOnce(
  { request, kept, fresh }: Connections,
  sockets: ReturnType<typeof watchSockets>,
  deadlines: Deadlines,
  recording: Recording,
  url: string,
  init: RequestInit,
): Promise<Exchange> {
  const clock = startClock(deadlines, recording.spentMs, recording.signal);
  const form = init.body instanceof FormData ? new Response(init.body) : null;
  const formType = form?.headers.get("content-type") ?? null;
  const body =
    form === null ? Buffer.from(typeof init.body === "string" ? init.body : "") : Buffer.from(await form.arrayBuffer());
  const chunks: Buffer[] = [];
  let status: number | null = null;
  let headers: Readonly<Record<string, string>> = {};
  let breakage: Breakage | null = null;
  let ttftMs: number | null = null;
  try {
    const reply = await request(url, {
      method: methodOf(init),
      headers: {
        ...sentHeaders(init.headers, recording.key),
        ...(formType === null ? {} : { "content-type": formType }),
      },
      body,
      dispatcher: recording.fresh ? fresh : kept,
      signal: clock.signal,
    });
    status = reply.statusCode;
    headers = receivedHeaders(reply.headers);
    clock.headersCame();
    let size = 0;
    for await (const chunk of reply.body as AsyncIterable<Buffer>) {
      clock.bytesCame();
      if (ttftMs === null && isEventStream(headers) && chunk.includes("data:")) ttftMs = clock.elapsedMs();
      size += chunk.length;
      if (size > largestBody) throw new Error(`the reply is larger than ${largestBody} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    breakage = clock.breakage() ?? describeBreakage(error, status, sockets.stateOf(body));
  } finally {
    clock.stop();
  }
  const received = decode(Buffer.concat(chunks), headers["content-encoding"]);
  return { status, headers, body: received, httpMs: clock.elapsedMs(), ttftMs, endedAtMs: Date.now(), breakage };
}

/** The header, idle and total deadlines of one request; the connect deadline is the socket's own. */
function startClock(deadlines: Deadlines, spentMs: number, outer: AbortSignal) {
  const startedMs = performance.now();
  const controller = new AbortController();
  let stage: "header" | "idle" | "total" | null = null;
  const arm = (next: "header" | "idle" | "total", afterMs: number): NodeJS.Timeout =>
    setTimeout(() => {
      stage ??= next;
      controller.abort();
    }, afterMs);
  const total = arm("total", Math.max(0, deadlines.totalMs - spentMs));
  let step = arm("header", deadlines.headerMs);
  const restartIdle = (): void => {
    clearTimeout(step);
    step = arm("idle", deadlines.idleMs);
  };
  const waited = { header: deadlines.headerMs, idle: deadlines.idleMs, total: deadlines.totalMs };
  const words = { header: "no headers", idle: "the reply stood still", total: "no complete reply" };
  // Not AbortSignal.any: on Node 20 it keeps every request's signal for as long as the outer one lives.
  const abort = (): void => controller.abort();
  outer.addEventListener("abort", abort, { once: true });
  if (outer.aborted) abort();
  return {
    signal: controller.signal,
    headersCame: restartIdle,
    bytesCame: restartIdle,
    elapsedMs: () => Math.round(performance.now() - startedMs),
    breakage: (): Breakage | null =>
      stage === null ? null : { kind: "timeout", stage, message: `${words[stage]} within ${waited[stage]} ms` },
    stop: () => {
      clearTimeout(total);
      clearTimeout(step);
      outer.removeEventListener("abort", abort);
    },
  };
}

function describeBreakage(error: unknown, status: number | null, state: SocketState | null): Breakage {
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  const text = error instanceof Error ? error.message : String(error);
  const message = code === "" || text.includes(code) ? text : `${text} (${code})`;
  if (code === "UND_ERR_CONNECT_TIMEOUT") return { kind: "timeout", stage: "connect", message };
  const unanswered = status === null && state !== null && state.socket.bytesRead === state.bytesRead;
  return { kind: "transport", message, resendable: unanswered && state.reused };
}

/**
 * Notes for each request which socket it was written to. undici tells it on a diagnostics channel, where a request is
 * recognised by its body: the very Buffer that was passed in.
 */
function watchSockets() {
  const channel = "undici:client:sendHeaders";
  const used = new WeakSet<object>();
  const states = new WeakMap<object, SocketState>();
  const listen = (message: unknown): void => {
    const { request: sent, socket } = message as { request?: { body?: unknown }; socket?: { bytesRead: number } };
    if (socket === undefined || !(sent?.body instanceof Buffer)) return;
    states.set(sent.body, { socket, reused: used.has(socket), bytesRead: socket.bytesRead });
    used.add(socket);
  };
  subscribe(channel, listen);
  return {
    stateOf: (body: Buffer): SocketState | null => states.get(body) ?? null,
    close: () => unsubscribe(channel, listen),
  };
}

function sentHeaders(init: RequestInit["headers"], key: string | null): Record<string, string> {
  const sent: Record<string, string> = {};
  new Headers(init).forEach((value, name) => {
    const isKey = keyHeaders.has(name);
    if (isKey ? key !== null && value.endsWith(key) : allowedHeaders.test(name)) sent[name] = value;
  });
  return sent;
}

function receivedHeaders(raw: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(raw)) {
    if (value !== undefined) headers[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  }
  return headers;
}

/** For the SDK: the body is decoded and whole, whatever these say. */
function plainHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { "content-encoding": _coding, "content-length": _length, "transfer-encoding": _transfer, ...plain } = headers;
  return plain;
}

function isEventStream(headers: Readonly<Record<string, string>>): boolean {
  return headers["content-type"]?.includes("event-stream") === true;
}

/** No coding is asked for; some proxies compress nevertheless. */
function decode(body: Buffer, coding: string | undefined): Buffer {
  const bounded = { maxOutputLength: largestBody };
  const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
    gzip: (bytes) => gunzipSync(bytes, bounded),
    br: (bytes) => brotliDecompressSync(bytes, bounded),
    deflate: (bytes) => inflateSync(bytes, bounded),
  };
  const decoder = coding === undefined ? undefined : decoders[coding.trim().toLowerCase()];
  if (decoder === undefined || body.length === 0) return body;
  try {
    return decoder(body);
  } catch {
    // A cut or mislabelled body, or one that swells beyond all bounds: the bytes as they came say more than none.
    return body;
  }
}
