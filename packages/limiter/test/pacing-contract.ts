import type { LimiterPort } from "@hallumaze/engine";
import { describe, expect, it } from "vitest";

import type { LimiterSettings } from "../src/index.ts";
import { newLane, request, reserveAsTold } from "./limiter-under-test.ts";

/** What holds over time: rate, order and shares. Minutes are of two to six seconds here. */
export function describePacing(open: (settings?: Partial<LimiterSettings>) => Promise<LimiterPort>): void {
  describe("over time", () => {
    it("waiters of two processes that come back as told use the rate up and never exceed it", async () => {
      const limiters = [await open({ minuteMs: 6_000 }), await open({ minuteMs: 6_000 })];
      const lane = newLane();
      await limiters[0]?.configure(lane, { rpm: 300 });
      const startMs = performance.now();
      await Promise.all(
        limiters.flatMap((limiter) => Array.from({ length: 50 }, () => reserveAsTold(limiter, lane, request()))),
      );
      const tookMs = performance.now() - startMs;
      // One at once, and a burst of 6.6 that only a late waiter can use.
      expect(tookMs).toBeGreaterThan((100 - 6.6) * 20.2);
      expect(tookMs).toBeLessThan(100 * 20.2 * 1.25);
      expect((await limiters[0]?.use([lane]))?.[0]).toMatchObject({ granted: 100, binding: "rpm" });
    });

    it("a waiter that never comes back holds nobody up", async () => {
      const limiter = await open({ minuteMs: 20_000 });
      const lane = newLane();
      await limiter.configure(lane, { rpm: 20 });
      const answers = await Promise.all(Array.from({ length: 6 }, () => limiter.reserve(lane, request())));
      expect(answers.filter(({ kind }) => kind === "wait")).toHaveLength(5);
      const startMs = performance.now();
      await reserveAsTold(limiter, lane, request());
      // One request refills in 1 s, and the five lost ones would have taken five times that; half of the way is told.
      expect(performance.now() - startMs).toBeLessThan(4_500);
    });

    it("a request as large as the whole burst is not passed for ever by small ones that always fit", async () => {
      const limiter = await open({ minuteMs: 6_000 });
      const lane = newLane();
      await limiter.configure(lane, { outputTpm: 6_000 });
      const large = request({ outputTokens: 300, tenant: "large" });
      const done = new AbortController();
      let passed = 0;
      const small = Array.from({ length: 10 }, async () => {
        while (!done.signal.aborted && passed < 100) {
          await reserveAsTold(limiter, lane, request({ outputTokens: 10, tenant: "small" }));
          passed += 1;
        }
      });
      await reserveAsTold(limiter, lane, large);
      done.abort();
      expect(passed).toBeLessThan(60);
      await Promise.all(small);
    });

    it("a tenant with two waiters gets its half beside one with thirty", async () => {
      const limiter = await open({ minuteMs: 12_000 });
      const lane = newLane();
      await limiter.configure(lane, { rpm: 120 });
      const order = await contend(limiter, lane, { many: { waiters: 30, weight: 1 }, few: { waiters: 2, weight: 1 } });
      // By turns of arrival it would get two or three.
      expect(order.filter((tenant) => tenant === "few").length).toBeGreaterThanOrEqual(10);
    });

    it("backlogged tenants share a lane by their weights", async () => {
      const limiter = await open({ minuteMs: 12_000 });
      const lane = newLane();
      await limiter.configure(lane, { rpm: 150 });
      const order = await contend(limiter, lane, {
        heavy: { waiters: 8, weight: 3 },
        light: { waiters: 8, weight: 1 },
      });
      const heavy = order.filter((tenant) => tenant === "heavy").length;
      expect(heavy).toBeGreaterThanOrEqual(25);
      expect(heavy).toBeLessThanOrEqual(35);
    });

    it("a tenant whose waiters were cancelled starts afresh", async () => {
      const limiter = await open({ minuteMs: 2_000 });
      const lane = newLane();
      await limiter.configure(lane, { rpm: 90 });
      await limiter.reserve(lane, request());
      const gone = Array.from({ length: 100 }, () => request({ tenant: "cancelled" }));
      for (const each of gone) await limiter.reserve(lane, each);
      for (const each of gone) await limiter.cancel(lane, each.id);
      const order = await contend(limiter, lane, {
        cancelled: { waiters: 4, weight: 1 },
        other: { waiters: 4, weight: 1 },
      });
      expect(order.filter((tenant) => tenant === "cancelled").length).toBeGreaterThanOrEqual(13);
    });
  });
}

/** Lets each tenant's waiters ask again and again until 40 requests were granted; the tenants in order of the grants. */
async function contend(
  limiter: LimiterPort,
  lane: string,
  tenants: Readonly<Record<string, { readonly waiters: number; readonly weight: number }>>,
): Promise<readonly string[]> {
  const order: string[] = [];
  await Promise.all(
    Object.entries(tenants).flatMap(([tenant, { waiters, weight }]) =>
      Array.from({ length: waiters }, async () => {
        while (order.length < 40) {
          const asked = request({ tenant, weight });
          await reserveAsTold(limiter, lane, asked);
          order.push(tenant);
          await limiter.settle(lane, asked.id, { inputTokens: null, outputTokens: null });
        }
      }),
    ),
  );
  return order.slice(0, 40);
}
