import type { LedgerVersions } from "@hallumaze/viewing";
import { OpenAPIHono } from "@hono/zod-openapi";
import { describe, expect, it, vi } from "vitest";

import type { ApiEnv } from "./guard-access.ts";
import { errorResponse } from "./problems.ts";
import { addEvents } from "./serve-events.ts";

/** Events over a ledger and a clock that a test moves. */
function openStage() {
  const app = new OpenAPIHono<ApiEnv>();
  app.onError((error) => errorResponse(error, () => undefined));
  const stop = new AbortController();
  const errors: unknown[] = [];
  let sleepers: { readonly ms: number; readonly wake: () => void }[] = [];
  let looks = 0;
  let sweeps: Readonly<Record<string, string>> = {};
  let isAway = false;
  const versions = async (): Promise<LedgerVersions> => {
    looks += 1;
    if (isAway) throw new Error("the database is away");
    return { sweeps: new Map(Object.entries(sweeps)), lanes: new Map() };
  };
  const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const end = (): void => reject(new Error("woken"));
      if (signal.aborted) return end();
      signal.addEventListener("abort", end, { once: true });
      sleepers.push({ ms, wake: resolve });
    });
  addEvents(
    app,
    { views: { versions }, sleep, onError: (error) => errors.push(error) },
    { version: "1", run: "run", lookMs: 1000, beatMs: 15_000 },
    { callMs: 1000, workMs: 1000 },
    stop.signal,
  );
  return {
    stop,
    errors,
    looks: () => looks,
    set: (next: Readonly<Record<string, string>>, away = false) => {
      sweeps = next;
      isAway = away;
    },
    /** Lets all waits of so many milliseconds be over, once there is one. */
    pass: async (ms: number) => {
      const due = await vi.waitUntil(() => {
        const found = sleepers.filter((one) => one.ms === ms);
        return found.length > 0 ? found : null;
      });
      sleepers = sleepers.filter((one) => one.ms !== ms);
      for (const { wake } of due) wake();
    },
    waits: (ms: number) => sleepers.filter((one) => one.ms === ms).length,
    listen: async () => {
      const response = await app.request("/api/events");
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      return {
        status: response.status,
        next: async () => (await reader?.read())?.value ?? null,
        end: async () => reader?.cancel(),
      };
    },
  };
}

describe("events", () => {
  it("cost one look at a time, however many listen", async () => {
    const stage = openStage();
    const many = [];
    for (let count = 0; count < 20; count += 1) many.push(await stage.listen());
    for (const { next } of many) expect(await next()).toContain("event: hello");
    const begun = stage.looks();
    expect(begun).toBeLessThanOrEqual(2);
    stage.set({ a: "1" });
    await stage.pass(1000);
    for (const { next } of many) expect(await next()).toContain('"name":"a"');
    expect(stage.looks()).toBe(begun + 1);
    stage.stop.abort();
  });

  it("cost no look once the last listener is gone", async () => {
    const stage = openStage();
    const listener = await stage.listen();
    await listener.next();
    await listener.end();
    await stage.pass(1000);
    await vi.waitUntil(() => stage.waits(1000) === 0);
    const looks = stage.looks();
    const again = await stage.listen();
    expect(await again.next()).toContain("event: hello");
    expect(stage.looks()).toBeGreaterThan(looks);
    stage.stop.abort();
  });

  it("outlast a database that is away, and tell then what came about", async () => {
    const stage = openStage();
    const { next } = await stage.listen();
    await next();
    stage.set({}, true);
    await stage.pass(1000);
    await vi.waitUntil(() => stage.errors.length === 1);
    stage.set({ late: "1" });
    await stage.pass(1000);
    expect(await next()).toContain('"name":"late"');
    stage.stop.abort();
  });

  it("show a sign of life each 15 s, and end with the service", async () => {
    const stage = openStage();
    const { next } = await stage.listen();
    await next();
    await stage.pass(15_000);
    expect(await next()).toBe(": still here\n\n");
    stage.stop.abort();
    expect(await next()).toBeNull();
    expect((await stage.listen()).status).toBe(503);
  });

  it("are refused beyond a hundred listeners", async () => {
    const stage = openStage();
    for (let count = 0; count < 100; count += 1) await (await stage.listen()).next();
    expect((await stage.listen()).status).toBe(503);
    stage.stop.abort();
  });
});
