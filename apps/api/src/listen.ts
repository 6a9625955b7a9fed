import { once } from "node:events";
import { IncomingMessage, Server } from "node:http";

import { createAdaptorServer } from "@hono/node-server";

import type { Api } from "./create-api.ts";

/** An API on a port. */
export interface Listening {
  readonly url: string;
  /** Takes no new connection, ends waiting calls with their poll address, and cuts what is left at the deadline. */
  readonly close: (deadlineMs: number) => Promise<void>;
}

/** Longest time for a client to send its request. */
const requestTimeoutMs = 60_000;

/** Puts an API on a host and port; port 0 takes a free one. Rejects where the port is taken. */
export async function listen(
  api: Api,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const server = createAdaptorServer({
    fetch: (request, { incoming }) => api.fetch(request, incoming instanceof IncomingMessage ? { incoming } : {}),
    // Its lighter Response would replace that of the whole process, clients of providers included.
    overrideGlobalObjects: false,
    hostname: host,
  });
  if (!(server instanceof Server)) throw new TypeError("a plain HTTP server was expected");
  server.requestTimeout = requestTimeoutMs;
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  const taken = address === null || typeof address === "string" ? port : address.port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}`,
    close: async (deadlineMs) => {
      const closed = once(server, "close");
      server.close();
      api.stop();
      // A connection turns idle when its last answer is out, and its client would keep it for seconds.
      const idle = setInterval(() => server.closeIdleConnections(), 20);
      const cut = setTimeout(() => server.closeAllConnections(), deadlineMs);
      await closed;
      clearInterval(idle);
      clearTimeout(cut);
    },
  };
}
