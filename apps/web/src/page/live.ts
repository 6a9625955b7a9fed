import { isStale, readAgainAfterMs, reconnectDelayMs, type Stale, staleAfter } from "@hallumaze/display";
import { createParser } from "eventsource-parser";

import { queries, requestHeaders } from "./api.ts";

/** Whether the page follows the service. `refused` asks for a token. */
export type LiveState = "connecting" | "live" | "away" | "refused";

/** The service sends a comment each 15 s: without one for so long the connection is dead. */
const silenceMs = 40_000;
/** Changes within so long are read again together. */
const gatherMs = 400;

/**
 * Follows the service's events until the signal, connecting again by itself; what an event makes stale is read again.
 *
 * Not the browser's EventSource: it cannot send the token.
 */
export async function followService(signal: AbortSignal, tell: (state: LiveState) => void): Promise<void> {
  let failures = 0;
  let lastId: string | null = null;
  const gathered = gatherStale(signal);
  while (!signal.aborted) {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), silenceMs);
    try {
      const response = await fetch("./api/events", {
        headers: {
          ...requestHeaders(),
          accept: "text/event-stream",
          ...(lastId === null ? {} : { "last-event-id": lastId }),
        },
        cache: "no-store",
        signal: AbortSignal.any([signal, silence.signal]),
      });
      if (response.status === 401 || response.status === 403) {
        tell("refused");
        return;
      }
      if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`);
      tell("live");
      // After an absence anything may have changed, whatever the service still knows.
      if (failures > 0) gathered.add({ kind: "all" });
      failures = 0;
      const parser = createParser({
        onEvent: ({ id, event, data }) => {
          if (id !== undefined) lastId = id;
          const stale = staleAfter({ event: event ?? "message", data });
          if (stale !== null) gathered.add(stale);
        },
      });
      const text = new TextDecoder();
      for (const reader = response.body.getReader(); ; ) {
        const { done, value } = await reader.read();
        if (done) break;
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), silenceMs);
        parser.feed(text.decode(value, { stream: true }));
      }
    } catch {
      // Away, cut or silent: the same way back.
    } finally {
      clearTimeout(timer);
    }
    if (signal.aborted) return;
    tell("away");
    await pause(reconnectDelayMs(failures++, Math.random()), signal);
  }
}

/**
 * Gathers what became stale and reads it again, each answer only as often as it is worth: what is worked out from a whole
 * sweep is not asked for at each of its trials.
 */
function gatherStale(signal: AbortSignal) {
  const due = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | null = null;
  const refresh = () => {
    timer = null;
    if (signal.aborted) return;
    let waitMs = Number.POSITIVE_INFINITY;
    for (const path of due) {
      const readAt = queries.getQueryState([path])?.dataUpdatedAt ?? 0;
      const leftMs = readAgainAfterMs(path) - (Date.now() - readAt);
      if (leftMs > 0) waitMs = Math.min(waitMs, leftMs);
      else {
        due.delete(path);
        // What is being read is not asked for twice at once.
        void queries.invalidateQueries({ queryKey: [path], exact: true }, { cancelRefetch: false });
      }
    }
    if (due.size > 0) timer = setTimeout(refresh, Math.max(gatherMs, waitMs));
  };
  return {
    add: (stale: Stale) => {
      for (const { queryKey } of queries.getQueryCache().getAll()) {
        const [path] = queryKey;
        if (typeof path === "string" && isStale(stale, path)) due.add(path);
      }
      timer ??= setTimeout(refresh, gatherMs);
    },
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
