import { setMaxListeners } from "node:events";

import { helloEvent, laneEvent, sweepEvent } from "@hallumaze/contract";
import { createChangeLog, type PageEvent, type ViewPort } from "@hallumaze/viewing";
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { streamSSE } from "hono/streaming";

import { within } from "./bounded-calls.ts";
import type { ApiEnv } from "./guard-access.ts";
import type { Bounds } from "./page-ports.ts";
import { ProblemError } from "./problems.ts";

/** What the events need. */
export interface EventPorts {
  readonly views: Pick<ViewPort, "versions">;
  /** Waits; rejects when the signal fires. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** How events are sent. */
export interface EventSettings {
  readonly version: string;
  /** Tells this run of the program from every other. */
  readonly run: string;
  /** Between two looks at the ledger while somebody listens; 1 s unless told. */
  readonly lookMs?: number;
  /** Between two comments on a silent connection; 15 s unless told. */
  readonly beatMs?: number;
}

const anyEvent = z.union([helloEvent, sweepEvent, laneEvent]);

/** Listeners at once; more are refused. */
const listenersMax = 100;
/** Events that wait for a listener that does not read. One that falls behind is cut off, and comes back for what it missed. */
const waitingMax = 200;

interface Listener {
  readonly push: (events: readonly PageEvent[]) => void;
}

/**
 * Adds `GET /api/events`: what changes, as server-sent events. However many listen, the ledger is looked at once a second,
 * and not at all where nobody listens. All connections end when `stop` fires.
 */
export function addEvents(
  app: OpenAPIHono<ApiEnv>,
  ports: EventPorts,
  settings: EventSettings,
  bounds: Bounds,
  stop: AbortSignal,
): void {
  const { lookMs = 1000, beatMs = 15_000 } = settings;
  const log = createChangeLog(settings);
  const listeners = new Set<Listener>();
  // Each connection waits for it: that is no leak.
  setMaxListeners(0, stop);
  let isLooking = false;

  const look = async (): Promise<void> => {
    const events = log.see(await within(bounds.callMs, ports.views.versions()));
    if (events.length > 0) for (const { push } of listeners) push(events);
  };
  const keepLooking = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      while (listeners.size > 0 && !stop.aborted) {
        // A database that is away for a while ends no connection: the next look tells what came about.
        await look().catch(ports.onError);
        await ports.sleep(lookMs, stop).catch(() => undefined);
      }
    } finally {
      isLooking = false;
    }
  };

  app.openAPIRegistry.registerPath({
    method: "get",
    path: "/api/events",
    summary: "Changes of sweeps and lanes, as server-sent events: hello, sweep, lane",
    security: [{ bearer: [] }],
    responses: { 200: { description: "Events without end", content: { "text/event-stream": { schema: anyEvent } } } },
  });
  app.get("/api/events", async (c) => {
    if (listeners.size >= listenersMax || stop.aborted) {
      throw new ProblemError("unavailable", { detail: "Too many listen already.", retryAfterSeconds: 10 });
    }
    const lastId = c.req.header("last-event-id")?.slice(0, 100) ?? null;
    // Before the welcome: what changed while nobody listened is then among what was missed.
    if (!isLooking) await look();
    c.header("cache-control", "no-store");
    // A proxy that gathers answers would hold events back.
    c.header("x-accel-buffering", "no");
    return streamSSE(c, async (stream) => {
      const ended = new AbortController();
      const end = (): void => ended.abort();
      stream.onAbort(end);
      stop.addEventListener("abort", end, { once: true });
      const waiting: PageEvent[] = [...log.welcome(lastId)];
      let wake = (): void => undefined;
      const listener: Listener = {
        push: (events) => {
          if (waiting.length + events.length > waitingMax) end();
          else waiting.push(...events);
          wake();
        },
      };
      listeners.add(listener);
      void keepLooking();
      try {
        while (!ended.signal.aborted) {
          for (const { id, event, data } of waiting.splice(0)) {
            await stream.writeSSE({ id, event, data: JSON.stringify(data) });
          }
          if (waiting.length > 0) continue;
          const isSilent = await silence(ports.sleep, beatMs, ended.signal, (call) => {
            wake = call;
          });
          if (isSilent && !ended.signal.aborted) await stream.write(": still here\n\n");
        }
      } finally {
        listeners.delete(listener);
        stop.removeEventListener("abort", end);
      }
    });
  });
}

/** Waits until it is woken (false), or so long (true). */
async function silence(
  sleep: EventPorts["sleep"],
  beatMs: number,
  ended: AbortSignal,
  onWake: (wake: () => void) => void,
): Promise<boolean> {
  const woken = new AbortController();
  onWake(() => woken.abort());
  try {
    await sleep(beatMs, AbortSignal.any([ended, woken.signal]));
    return true;
  } catch {
    return false;
  }
}
