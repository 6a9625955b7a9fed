import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { extname, join, normalize } from "node:path";
import { text } from "node:stream/consumers";

import { findPage, pageHeaders } from "@hallumaze/web";

/** What was posted to a canned service. */
export interface Posted {
  readonly path: string;
  readonly body: unknown;
  readonly authorization: string | null;
}

/** A service that answers as it is told, with the real page in front. */
export interface CannedService extends AsyncDisposable {
  readonly url: string;
  /** What was posted, oldest first. */
  readonly posted: readonly Posted[];
  /** Replies by path and query, or by path alone; `POST /path` answers a post. May be changed while the page is open. */
  readonly replies: Map<string, unknown>;
  /** Sends an event to every page that listens. */
  readonly tell: (event: string, data: object) => void;
  /** How many pages listen now. */
  readonly listeners: () => number;
  /** Ends every connection and the server, as a service that is stopped. */
  readonly stop: () => Promise<void>;
  /** Starts again on the same port. */
  readonly start: () => Promise<void>;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

/**
 * Starts one on a free port of loopback. With a token, all that is asked under /api needs it; with a folder, its files stand
 * in the page's place, without headers, as on a site.
 */
export async function startCannedService(
  replies: Readonly<Record<string, unknown>>,
  options: { readonly token?: string; readonly folder?: string } = {},
): Promise<CannedService> {
  const folder = options.folder ?? (await findPage());
  const headers = options.folder === undefined ? pageHeaders : {};
  const posted: Posted[] = [];
  const kept = new Map(Object.entries(replies));
  const streams = new Set<ServerResponse>();
  let server: Server | null = null;
  let port = 0;
  let eventId = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://page.invalid");
    if (!url.pathname.startsWith("/api/")) return file(url.pathname, response);
    const authorization = request.headers.authorization ?? null;
    if (options.token !== undefined && authorization !== `Bearer ${options.token}`) {
      return json(response, 401, { title: "unauthorized", status: 401, code: "unauthorized" });
    }
    if (request.method === "POST") {
      posted.push({ path: url.pathname, body: JSON.parse(await text(request)), authorization });
      const reply = kept.get(`POST ${url.pathname}`);
      return reply === undefined ? json(response, 404, { title: "not found" }) : json(response, 200, reply);
    }
    if (url.pathname === "/api/events") {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
      response.write(`id: ${++eventId}\nevent: hello\ndata: {"version":"0","refresh":true}\n\n`);
      streams.add(response);
      response.on("close", () => streams.delete(response));
      return;
    }
    const reply = kept.get(`${url.pathname}${url.search}`) ?? kept.get(url.pathname);
    if (reply === undefined) json(response, 404, { title: `no reply for ${url.pathname}${url.search}` });
    else json(response, 200, reply);
  }

  async function file(path: string, response: ServerResponse): Promise<void> {
    const place = join(folder, normalize(path === "/" ? "/index.html" : path));
    try {
      const content = await readFile(place);
      response.writeHead(200, { ...headers, "content-type": types[extname(place)] ?? "application/octet-stream" });
      response.end(content);
    } catch {
      response.writeHead(404, headers).end();
    }
  }

  async function start(): Promise<void> {
    const fresh = createServer((request, response) => {
      answer(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
    });
    await new Promise<void>((resolve, reject) => {
      fresh.once("error", reject);
      fresh.listen(port, "127.0.0.1", resolve);
    });
    const address = fresh.address();
    port = typeof address === "object" && address !== null ? address.port : 0;
    server = fresh;
  }

  async function stop(): Promise<void> {
    const running = server;
    if (running === null) return;
    server = null;
    await new Promise<void>((resolve) => {
      running.close(() => resolve());
      running.closeAllConnections();
    });
  }

  await start();
  return {
    url: `http://127.0.0.1:${port}`,
    posted,
    replies: kept,
    tell: (event, data) => {
      for (const stream of streams) {
        stream.write(`id: ${++eventId}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      }
    },
    listeners: () => streams.size,
    stop,
    start,
    [Symbol.asyncDispose]: stop,
  };
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": status >= 400 ? "application/problem+json" : "application/json" });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}
