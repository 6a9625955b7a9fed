import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as the server saw it. */
export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
  /** 0-based number of its connection. */
  readonly connection: number;
}

/** Answers the request of that 0-based number. */
export type Answer = (response: ServerResponse, request: SeenRequest, number: number, raw: IncomingMessage) => void;

/** A server on loopback that answers as told and notes what it was asked. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /** Resolves when the server has closed its side of every connection. */
  readonly allClosed: () => Promise<void>;
}

/** Starts a server whose every answer is written out by the test. */
export async function startScriptedServer(
  answer: Answer,
  options: { readonly keepAliveTimeoutMs?: number } = {},
): Promise<ScriptedServer> {
  const seen: SeenRequest[] = [];
  const sockets = new Map<object, number>();
  const closed: Promise<void>[] = [];
  const server = createServer((raw, response) => {
    const chunks: Buffer[] = [];
    raw.on("data", (chunk: Buffer) => chunks.push(chunk));
    raw.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Record<string, unknown>;
      const request = { path: raw.url ?? "", headers: raw.headers, body, connection: sockets.get(raw.socket) ?? -1 };
      seen.push(request);
      answer(response, request, seen.length - 1, raw);
    });
  });
  // Node adds a second of grace of its own to this timeout and announces it; neither is wanted here.
  server.keepAliveTimeout = options.keepAliveTimeoutMs ?? 60_000;
  server.on("connection", (socket) => {
    sockets.set(socket, sockets.size);
    closed.push(new Promise((resolve) => socket.once("close", () => resolve())));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    allClosed: async () => {
      await Promise.all(closed);
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** An answer of one status, body (text, or an object as JSON) and headers. */
export function say(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => {
    const text = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(text);
  };
}

/** A streamed answer; without `isOpen` the connection ends after the last piece. */
export function stream(pieces: readonly string[]): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(pieces.join(""));
  };
}

/** The answers one after the other; the last one repeats. */
export function inTurn(...answers: readonly Answer[]): Answer {
  return (response, request, number, raw) =>
    answers[Math.min(number, answers.length - 1)]?.(response, request, number, raw);
}
