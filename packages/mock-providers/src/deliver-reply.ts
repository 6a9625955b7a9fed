import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

import type { StreamEvent } from "./dialect.ts";
import type { RequestEnd } from "./keep-counts.ts";
import type { ParsedRule } from "./script-schema.ts";

/** A reply ready to be sent: a stream's events, or one text. */
export interface Outgoing {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly content: string | readonly StreamEvent[];
  /** Wait before the first byte and before each delta (for a text: all deltas at once). */
  readonly firstByteMs: number;
  readonly perDeltaMs: number;
  /** Wire text of the error event, where the delivery asks for one. */
  readonly errorEvent: string | null;
}

/** The wishes of a rule for the way a reply goes out. */
export type Delivery = NonNullable<ParsedRule["delivery"]>;

/**
 * Sends a reply, with the faults that its delivery asks for. `onEnd` is called once, just before the client can see the
 * end, so that whoever has seen it finds it counted; with `client_gone` or `server_closed` where the signal fires.
 * Never throws.
 */
export async function deliverReply(
  response: ServerResponse,
  outgoing: Outgoing,
  delivery: Delivery,
  signal: AbortSignal,
  onEnd: (end: RequestEnd) => void,
): Promise<void> {
  let hasEnded = false;
  const end = (how: RequestEnd): void => {
    if (!hasEnded) onEnd(how);
    hasEnded = true;
  };
  try {
    await send(response, outgoing, delivery, signal, end);
  } catch {
    // Nothing but an aborted wait or a write to a connection that has gone gets here.
    end(endBySignal(signal));
  }
}

/** Says who ended a request whose signal fired. */
function endBySignal(signal: AbortSignal): RequestEnd {
  return signal.reason === "server_closed" ? "server_closed" : "client_gone";
}

/** Waits, unless there is nothing to wait for; throws where the signal fires. */
export async function waitFor(spanMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (spanMs > 0) await sleep(spanMs, undefined, { signal });
}

async function send(
  response: ServerResponse,
  outgoing: Outgoing,
  delivery: Delivery,
  signal: AbortSignal,
  end: (how: RequestEnd) => void,
): Promise<void> {
  if (delivery.blackHole === true) {
    await untilAborted(signal);
    return end("black_hole");
  }
  await waitFor((delivery.headerDelayMs ?? 0) + outgoing.firstByteMs, signal);
  if (delivery.reset === "before_headers") return reset(response, end);
  const { content } = outgoing;
  const isStream = typeof content !== "string";
  const isPlain = !isStream && Object.keys(delivery).length === 0;
  response.writeHead(outgoing.status, {
    ...outgoing.headers,
    // Set by hand, or Node would announce its own idle limit.
    connection: delivery.closeConnection === true ? "close" : "keep-alive",
    ...(isPlain ? { "content-length": String(Buffer.byteLength(content)) } : {}),
  });
  if (!isPlain) response.flushHeaders();
  if (delivery.reset === "after_headers") {
    await write(response, isStream ? ": open\n\n" : "\n", undefined, signal);
    return reset(response, end);
  }
  await sendFiller(response, delivery, isStream, signal);
  await sendParts(response, outgoing, delivery, signal, end);
}

async function sendFiller(
  response: ServerResponse,
  { filler }: Delivery,
  isStream: boolean,
  signal: AbortSignal,
): Promise<void> {
  if (filler === undefined) return;
  const line = filler.line ?? (isStream ? ": keep-alive\n\n" : "\n");
  for (let sent = 0; sent < filler.lines; sent += 1) {
    await write(response, line, undefined, signal);
    await waitFor(filler.everyMs, signal);
  }
}

async function sendParts(
  response: ServerResponse,
  { content, status, perDeltaMs, errorEvent }: Outgoing,
  delivery: Delivery,
  signal: AbortSignal,
  end: (how: RequestEnd) => void,
): Promise<void> {
  const { parts, stallAt, cutAt, errorAt, resetAt } = planParts(content, delivery, errorEvent);
  const startedMs = performance.now();
  let dueMs = 0;
  for (let index = 0; index <= parts.length; index += 1) {
    if (index === stallAt) {
      if (delivery.stall?.forMs === undefined) {
        await untilAborted(signal);
        return end("stalled");
      }
      await waitFor(delivery.stall.forMs, signal);
    }
    if (index === resetAt) return reset(response, end);
    if (index === cutAt || index === errorAt) {
      end("cut");
      if (index === errorAt) await write(response, errorEvent ?? "", delivery.chunkBytes, signal);
      break;
    }
    const part = parts[index];
    if (part === undefined) continue;
    if (part.isDelta) {
      dueMs += perDeltaMs;
      // By the schedule, not by single waits: a timer cannot wait for less than a millisecond.
      const aheadMs = startedMs + dueMs - performance.now();
      if (aheadMs >= 1) await waitFor(aheadMs, signal);
    }
    // Counted before the last bytes leave; a fault behind them still has the last word.
    if (index === parts.length - 1 && Math.max(stallAt, cutAt, errorAt, resetAt) <= index) end(status);
    await write(response, part.wire, delivery.chunkBytes, signal);
  }
  end(status);
  response.end();
}

/** A text counts as two events, its halves, so that every fault in a stream has a likeness without one. */
function planParts(content: Outgoing["content"], delivery: Delivery, errorEvent: string | null) {
  const isStream = typeof content !== "string";
  const parts: readonly StreamEvent[] = isStream ? content : halves(content, delivery);
  // Behind the last piece of text come the finish frames: no fault lets one of them through.
  const lastPlace = Math.max(1, parts.findLastIndex(({ isDelta }) => isDelta) + 1);
  const place = (fault: { readonly afterEvents: number } | undefined): number =>
    fault === undefined ? -1 : isStream ? Math.min(fault.afterEvents, lastPlace) : 1;
  return {
    parts,
    stallAt: place(delivery.stall),
    cutAt: place(delivery.cut),
    errorAt: isStream && errorEvent !== null ? place(delivery.errorEvent) : -1,
    resetAt: delivery.reset === "in_body" ? Math.max(1, Math.floor(parts.length / 2)) : -1,
  };
}

function halves(text: string, { stall, cut, reset: resets }: Delivery): readonly StreamEvent[] {
  if (stall === undefined && cut === undefined && resets === undefined) return [{ wire: text, isDelta: false }];
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].map((wire) => ({ wire, isDelta: false }));
}

async function write(
  response: ServerResponse,
  text: string,
  chunkBytes: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  const bytes = Buffer.from(text, "utf8");
  const size = chunkBytes ?? bytes.length;
  for (let start = 0; start < bytes.length; start += size) {
    signal.throwIfAborted();
    const accepted = response.write(bytes.subarray(start, start + size));
    if (!accepted) await drained(response, signal);
    // Each chunk its own turn, or the kernel would join them.
    else if (chunkBytes !== undefined) await new Promise((resolve) => setImmediate(resolve));
  }
}

function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      response.off("drain", done);
      reject(new Error("The connection has gone."));
    };
    const done = (): void => {
      signal.removeEventListener("abort", stop);
      resolve();
    };
    response.once("drain", done);
    signal.addEventListener("abort", stop, { once: true });
  });
}

function reset(response: ServerResponse, end: (how: RequestEnd) => void): void {
  end("reset");
  const { socket } = response;
  // What was written goes out before the reset does.
  setImmediate(() => socket?.resetAndDestroy());
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
