import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

import type { Clock } from "@hallumaze/foundation";

import type { SolverChoice } from "./answer-question.ts";
import { type BatchCounts, openBatchDesk } from "./batch-desk.ts";
import { handleControl } from "./control-api.ts";
import { type LimitTable, openLimits } from "./enforce-limits.ts";
import { MockProvidersError } from "./errors.ts";
import { answerRow, type Handling, handleRequest } from "./handle-request.ts";
import { type Counts, keepCounts, type LoggedRequest } from "./keep-counts.ts";
import { keepLog } from "./log-requests.ts";
import { playScript } from "./play-script.ts";
import { type BatchRule, latencySchema, limitsSchema, optionsSchema, type Rule } from "./script-schema.ts";

/** How a server is started; every part has a default. */
export interface MockProvidersOptions {
  /** 0, the default, takes a free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Seed of every draw. Default 0. */
  readonly seed?: number;
  /** Limits by `vendor/model` pattern; none where left out. */
  readonly limits?: LimitTable;
  /** The baseline agent that answers, for all models or by model pattern. */
  readonly solver?: SolverChoice;
  readonly script?: readonly Rule[];
  /** What becomes of batches; each ends whole at the first look, where left out. */
  readonly batches?: readonly BatchRule[];
  /** Time an answer takes, in real milliseconds. Default 0. */
  readonly latency?: { readonly baseMs?: number; readonly perTokenMs?: number };
  /** Keys that are accepted; any, where left out. */
  readonly keys?: readonly string[];
  /** Model patterns that exist; all, where left out. */
  readonly models?: readonly string[];
  /** Closes connections that have been idle for so long, without announcing it; never, where left out. */
  readonly idleCloseMs?: number;
  /** How many of the newest requests are kept whole. Default 2000. */
  readonly logLimit?: number;
  /** Time of the limits and counts. Waits of deliveries and latency are real time all the same. */
  readonly clock?: Clock;
}

/** Where each vendor's interface stands, in the form that the vendor's variable wants. */
export interface MockUrls {
  readonly rootUrl: string;
  readonly anthropicBaseUrl: string;
  readonly openaiBaseUrl: string;
  readonly googleBaseUrl: string;
  readonly deepseekBaseUrl: string;
  /** An OpenAI-compatible server that needs no key. */
  readonly compatibleBaseUrl: string;
}

/** A running server. */
export interface MockProviders extends AsyncDisposable {
  readonly urls: MockUrls;
  readonly port: number;
  /** Replaces the script; its counters begin anew. */
  readonly script: (rules: readonly Rule[]) => void;
  /** Replaces the script of batches; submissions are counted from 1 again. */
  readonly scriptBatches: (rules: readonly BatchRule[]) => void;
  /** All batches that were made, oldest first. */
  readonly batches: () => readonly BatchCounts[];
  /** Replaces all limits; buckets keep their level by share. */
  readonly setLimits: (limits: LimitTable) => void;
  readonly counts: () => Counts;
  /** The newest requests, oldest first; keys are replaced by a name of theirs unless asked for. */
  readonly requests: (options?: { readonly withKeys?: boolean }) => readonly LoggedRequest[];
  readonly resetCounts: () => void;
  /** Waits until the counts fulfil a condition; it is asked at each arrival and end of a request. */
  readonly until: (condition: (counts: Counts) => boolean, timeoutMs?: number) => Promise<Counts>;
  /** The variables that point every provider at this server, with keys that it accepts. */
  readonly environment: () => Readonly<Record<string, string>>;
  /** Ends every connection and the server. */
  readonly close: () => Promise<void>;
}

/** Starts a server that speaks the vendors' formats on one port of this machine. */
export async function startMockProviders(options: MockProvidersOptions = {}): Promise<MockProviders> {
  const clock = options.clock ?? Date.now;
  const seed = options.seed ?? 0;
  const limits = openLimits(limitsSchema.parse(options.limits ?? {}), clock);
  const counts = keepCounts(clock);
  const log = keepLog(options.logLimit ?? 2000);
  let player = playScript(options.script ?? [], seed);
  const desk = openBatchDesk({ clock, seed, answer: (question, number) => answerRow(handling, question, number) });
  desk.script(options.batches ?? []);
  const handling: Handling = {
    clock,
    seed,
    desk,
    solver: options.solver ?? null,
    keys: options.keys ?? null,
    models: options.models ?? null,
    latency: latencySchema.parse(options.latency ?? {}),
    limits,
    counts,
    log,
    player: () => player,
  };
  const listener = openListener(options.idleCloseMs ?? null, counts.connected);
  const { port, host } = await listen(listener.server, options.port ?? 0, options.host ?? "127.0.0.1");
  const urls = urlsOf(`http://${host.includes(":") ? `[${host}]` : host}:${port}`);
  const mock: MockProviders = {
    urls,
    port,
    script: (rules) => {
      player = playScript(rules, seed);
    },
    scriptBatches: desk.script,
    batches: desk.counts,
    setLimits: (next) => limits.set(limitsSchema.parse(next)),
    counts: counts.counts,
    requests: ({ withKeys = false } = {}) => log.list(withKeys),
    resetCounts: () => {
      counts.reset();
      log.clear();
    },
    until: (condition, timeoutMs = 10_000) => untilCounts(counts, condition, timeoutMs),
    environment: () => environmentOf(urls, options.keys?.[0] ?? "rehearsal-key"),
    close: listener.close,
    [Symbol.asyncDispose]: listener.close,
  };
  listener.onRequest((request, response, place) =>
    request.url?.startsWith("/_control/") === true
      ? handleControl(mock, request, response)
      : handleRequest(handling, request, response, place),
  );
  return mock;
}

/** Starts a server from options that stand in a file or come from a command line; names every problem at once. */
export async function mockProvidersFromOptions(options: unknown): Promise<MockProviders> {
  const parsed = optionsSchema.safeParse(options);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "options"}: ${message}`);
    throw new MockProvidersError("bad_options", `The options do not fit: ${problems.join("; ")}`);
  }
  const known = Object.entries(parsed.data).filter(([, value]) => value !== undefined);
  return startMockProviders(Object.fromEntries(known) as MockProvidersOptions);
}

type Place = Parameters<typeof handleRequest>[3];
type OnRequest = (request: IncomingMessage, response: ServerResponse, place: Place) => Promise<void>;

/** A server that numbers connections and requests and ends waits when either side goes. */
function openListener(idleCloseMs: number | null, connected: () => void) {
  const connections = new WeakMap<Socket, { readonly number: number; idleTimer: NodeJS.Timeout | null }>();
  const running = new Set<AbortController>();
  // Not the counts' own: those start anew, and a number stands for one connection as long as the server runs.
  let connectionCount = 0;
  let requestCount = 0;
  let handle: OnRequest | null = null;
  const server = createServer((request, response) => {
    const connection = connections.get(request.socket);
    if (connection?.idleTimer) clearTimeout(connection.idleTimer);
    const controller = new AbortController();
    running.add(controller);
    response.once("close", () => {
      running.delete(controller);
      controller.abort("client_gone");
      if (connection === undefined || idleCloseMs === null) return;
      connection.idleTimer = setTimeout(() => request.socket.destroy(), idleCloseMs).unref();
    });
    const place = { number: (requestCount += 1), connection: connection?.number ?? 0, signal: controller.signal };
    handle?.(request, response, place).catch((error: unknown) => {
      if (controller.signal.aborted || response.headersSent) return void request.socket.destroy();
      response.writeHead(500, { "content-type": "text/plain" }).end(`mock-providers failed: ${String(error)}`);
    });
  });
  // Idle connections are closed by the timer above alone: Node's own limit would be announced to the client.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  server.on("connection", (socket) => {
    connected();
    connections.set(socket, { number: (connectionCount += 1), idleTimer: null });
    socket.on("error", () => socket.destroy());
  });
  return {
    server,
    onRequest: (next: OnRequest): void => {
      handle = next;
    },
    close: async (): Promise<void> => {
      for (const controller of running) controller.abort("server_closed");
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<{ port: number; host: string }> {
  return new Promise((resolve, reject) => {
    const refuse = (error: Error): void =>
      reject(
        new MockProvidersError("cannot_listen", `Cannot listen on ${host}:${port}: ${error.message}`, { cause: error }),
      );
    server.once("error", refuse);
    server.listen(port, host, () => {
      server.off("error", refuse);
      resolve({ port: (server.address() as AddressInfo).port, host: host === "0.0.0.0" ? "127.0.0.1" : host });
    });
  });
}

function urlsOf(rootUrl: string): MockUrls {
  return {
    rootUrl,
    anthropicBaseUrl: `${rootUrl}/anthropic`,
    openaiBaseUrl: `${rootUrl}/openai/v1`,
    googleBaseUrl: `${rootUrl}/google`,
    deepseekBaseUrl: `${rootUrl}/deepseek/v1`,
    compatibleBaseUrl: `${rootUrl}/compatible/v1`,
  };
}

function environmentOf(urls: MockUrls, key: string): Readonly<Record<string, string>> {
  return {
    ANTHROPIC_BASE_URL: urls.anthropicBaseUrl,
    OPENAI_BASE_URL: urls.openaiBaseUrl,
    GOOGLE_BASE_URL: urls.googleBaseUrl,
    DEEPSEEK_BASE_URL: urls.deepseekBaseUrl,
    ANTHROPIC_API_KEY: key,
    OPENAI_API_KEY: key,
    GOOGLE_API_KEY: key,
    DEEPSEEK_API_KEY: key,
  };
}

function untilCounts(
  counts: ReturnType<typeof keepCounts>,
  condition: (counts: Counts) => boolean,
  timeoutMs: number,
): Promise<Counts> {
  return new Promise((resolve, reject) => {
    const stop = counts.watch(() => check());
    const timer = setTimeout(() => {
      stop();
      reject(new MockProvidersError("not_reached", `The counts did not get there within ${timeoutMs} ms.`));
    }, timeoutMs);
    const check = (): void => {
      const now = counts.counts();
      if (!condition(now)) return;
      clearTimeout(timer);
      stop();
      resolve(now);
    };
    check();
  });
}
