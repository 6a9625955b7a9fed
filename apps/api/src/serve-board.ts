import { createBullBoard } from "@bull-board/api";
import type { BaseAdapter } from "@bull-board/api/baseAdapter";
import { HonoAdapter } from "@bull-board/hono";
import { serveStatic } from "@hono/node-server/serve-static";
import type { OpenAPIHono } from "@hono/zod-openapi";

import { within } from "./bounded-calls.ts";
import { type ApiEnv, boardPath } from "./guard-access.ts";
import { ProblemError } from "./problems.ts";

/** The queues to show at this moment; read-only. */
export type BoardLanes = () => Promise<readonly BaseAdapter[]>;

/** Longest time to find out which lanes there are. */
const lanesMs = 8000;

/** The page's styles stand in it; all else comes from this server, and nothing goes elsewhere. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * Adds the board of the queues under its path: the page of @bull-board, to be looked at only. The caller's guard asks for the
 * token before it.
 */
export function addBoard(app: OpenAPIHono<ApiEnv>, lanes: BoardLanes, report: (error: unknown) => void): void {
  const adapter = new HonoAdapter(serveStatic).setBasePath(boardPath);
  const board = createBullBoard({
    queues: [],
    serverAdapter: adapter,
    options: {
      uiConfig: {
        boardTitle: "HalluMaze queues",
        hideDocsLink: true,
        // A vendor's words about the server, and a list of clients that a Redis may refuse, are nobody's business here.
        hideRedisDetails: true,
        showWorkers: false,
      },
    },
  });
  adapter.setErrorHandler((error) => {
    report(error);
    throw new ProblemError("unavailable", { detail: "The queue does not answer.", retryAfterSeconds: 5 });
  });
  const pages = adapter.registerPlugin();
  pages.onError((error) => {
    throw error;
  });
  app.use(`${boardPath}/*`, async (c, next) => {
    if (c.req.method !== "GET") {
      throw new ProblemError("method-not-allowed", {
        detail: "The board only shows; steer with the hallumaze command.",
      });
    }
    await next();
    if (c.res.headers.get("content-type")?.startsWith("text/html")) {
      c.res = new Response(withoutForeignLinks(await c.res.text()), c.res);
    }
    c.header("content-security-policy", contentSecurityPolicy);
  });
  app.get(`${boardPath}/`, (c) => c.redirect(boardPath));
  app.use(`${boardPath}/api/*`, async (c, next) => {
    board.replaceQueues(await within(lanesMs, lanes()));
    await next();
    c.header("cache-control", "no-store");
  });
  app.route(boardPath, pages);
}

/** The page without what it would fetch from other servers: its fonts. */
function withoutForeignLinks(html: string): string {
  return html.replaceAll(/<link\b[^>]*\bhref="(?:https?:)?\/\/[^>]*>/gi, "");
}
