import { EventEmitter } from "node:events";

import type { Client } from "pg";
import { describe, expect, it } from "vitest";

import { createListenHub } from "./listen-hub.ts";
import { notAtOnce } from "./not-at-once.ts";

/** A client that connects, and refuses every query without a round trip, as pg's does once it has ended. */
function endedClient(): Client {
  const client = Object.assign(new EventEmitter(), {
    connect: async () => undefined,
    end: async () => undefined,
    query: async () => {
      throw new Error("Client was closed and is not queryable");
    },
  });
  return client as unknown as Client;
}

/** Asks again at once after each failure, as BullMQ's fetch loop does; gives how often it was answered. */
async function askWithoutPause(ask: () => Promise<unknown>, isOver: () => boolean): Promise<number> {
  let answers = 0;
  while (!isOver() && answers < 100_000) {
    await ask().catch(() => undefined);
    answers += 1;
  }
  return answers;
}

/** True once a timer of the process has fired. */
function timerAfter(ms: number): () => boolean {
  let isOver = false;
  setTimeout(() => {
    isOver = true;
  }, ms);
  return () => isOver;
}

describe("a failure that comes without a round trip", () => {
  it("lets the timers of the process fire, however often a query of a lost connection is asked again", async () => {
    const hub = createListenHub(endedClient);
    const view = await hub.connect();
    expect(await askWithoutPause(() => view.query("LISTEN bullmq"), timerAfter(150))).toBeLessThan(20);
    await hub.close();
  });

  it("is the same failure, later; and an answer is not held back", async () => {
    await expect(notAtOnce(Promise.reject(new Error("ended")))).rejects.toThrow("ended");
    const answers = await askWithoutPause(
      () => notAtOnce(Promise.resolve(1)),
      () => false,
    );
    expect(answers).toBe(100_000);
  });
});
