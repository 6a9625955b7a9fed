import type { IncomingMessage, ServerResponse } from "node:http";

import { ZodError } from "zod";

import type { LimitTable } from "./enforce-limits.ts";
import type { BatchRule, Rule } from "./script-schema.ts";
import type { MockProviders } from "./start-mock-providers.ts";

const bodyLimitBytes = 4 * 1024 * 1024;

/**
 * Serves `/_control/*`, by which another process steers the server: GET `health`, `counts`, `requests`, `batches`,
 * `urls`; POST `script`, `batches`, `limits`, `reset`. Keys are never told here.
 */
export async function handleControl(
  server: MockProviders,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://rehearsal");
  const action = `${request.method ?? ""} ${url.pathname.slice("/_control/".length)}`;
  try {
    const body = request.method === "POST" ? await readJson(request) : null;
    const result = act(server, action, body);
    if (result === undefined) send(response, 404, { error: `No control action "${action}".` });
    else send(response, 200, result);
  } catch (error) {
    if (!(error instanceof ZodError || error instanceof SyntaxError)) throw error;
    send(response, 400, { error: error.message });
  }
}

function act(server: MockProviders, action: string, body: unknown): unknown {
  switch (action) {
    case "GET health":
      return { ok: true };
    case "GET urls":
      return server.urls;
    case "GET counts":
      return server.counts();
    case "GET requests":
      return server.requests();
    case "POST script":
      // The server checks both, whatever they are.
      server.script(body as readonly Rule[]);
      return { ok: true };
    case "GET batches":
      return server.batches();
    case "POST batches":
      server.scriptBatches(body as readonly BatchRule[]);
      return { ok: true };
    case "POST limits":
      server.setLimits(body as LimitTable);
      return { ok: true };
    case "POST reset":
      server.resetCounts();
      return { ok: true };
    default:
      return undefined;
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size > bodyLimitBytes) throw new SyntaxError(`The body is over ${bodyLimitBytes} bytes.`);
    chunks.push(bytes);
  }
  return chunks.length === 0 ? null : (JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown);
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
