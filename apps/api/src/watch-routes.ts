import { healthView, type ReadyCheck, readyView, type ReadyView } from "@hallumaze/contract";
import { createRoute, type OpenAPIHono } from "@hono/zod-openapi";

import { within } from "./bounded-calls.ts";
import type { ApiEnv } from "./guard-access.ts";

/** What is watched of a process. */
export interface WatchPorts {
  /** Each part that has to work, by name. */
  readonly checks: Readonly<Record<string, ReadyCheck>>;
  /** Null: there is no `/metrics`. */
  readonly metrics: { readonly contentType: string; readonly expose: () => Promise<string> } | null;
  /** Is told of a check that threw. */
  readonly onError: (error: unknown) => void;
}

const healthRoute = createRoute({
  method: "get",
  path: "/healthz",
  summary: "The process runs",
  responses: { 200: { description: "Alive", content: { "application/json": { schema: healthView } } } },
});

const readyResponse = { description: "Each part", content: { "application/json": { schema: readyView } } };
const readyRoute = createRoute({
  method: "get",
  path: "/readyz",
  summary: "The process can do its work: database and queue answer, and its workers consume",
  responses: { 200: readyResponse, 503: readyResponse },
});

/** Longest time for one look at all figures; a scraper gives up after 10 s. */
const exposeMs = 8000;

/** Adds `/healthz`, `/readyz` and `/metrics`. A check is given `checkMs`. */
export function addWatch(app: OpenAPIHono<ApiEnv>, ports: WatchPorts, checkMs: number): void {
  app.openapi(healthRoute, (c) => c.json({ status: "ok" as const }, 200));
  app.openapi(readyRoute, async (c) => {
    const report = await checkAll(ports, checkMs);
    return c.json(report, report.status === "ready" ? 200 : 503);
  });
  const { metrics } = ports;
  if (metrics === null) return;
  app.get("/metrics", async (c) => {
    const text = await within(exposeMs, metrics.expose());
    return c.body(text, 200, { "content-type": metrics.contentType });
  });
}

async function checkAll({ checks, onError }: WatchPorts, checkMs: number): Promise<ReadyView> {
  const reasons = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        return [name, await within(checkMs, Promise.resolve(check()))] as const;
      } catch (error) {
        onError(error);
        return [name, `no answer within ${checkMs} ms, or an unexpected error; the log says which`] as const;
      }
    }),
  );
  const failed = reasons.filter((entry): entry is readonly [string, string] => entry[1] !== null);
  return {
    status: failed.length === 0 ? "ready" : "not-ready",
    checks: Object.fromEntries(reasons.map(([name, reason]) => [name, reason === null ? "ok" : "failed"])),
    reasons: Object.fromEntries(failed),
  };
}
