import type { LimiterPort } from "@hallumaze/engine";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";

import type { LimiterSettings } from "../src/index.ts";
import { describePacing } from "./pacing-contract.ts";
import { type LimiterUnderTest, newLane, request, reserveAsTold } from "./limiter-under-test.ts";

const zero = { inputTokens: 0, outputTokens: 0 };

/** What must hold on every server; each test has lanes of its own, and all share one server. */
export function describeLimiterContract(name: string, start: () => Promise<LimiterUnderTest>): void {
  describe(name, () => {
    let server: LimiterUnderTest;
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server.drop());
    const open = async (settings: Partial<LimiterSettings> = {}): Promise<LimiterPort> => {
      const limiter = await server.open(settings);
      onTestFinished(() => limiter.close());
      return limiter;
    };
    describeReservations(open);
    describeStops(open, () => server.forget());
    describePacing(open);
  });
}

type Open = (settings?: Partial<LimiterSettings>) => Promise<LimiterPort>;

function describeReservations(open: Open): void {
  it("a lane without limits grants everything, and is untouched by another lane's limits", async () => {
    const limiter = await open();
    const [free, tight] = [newLane(), newLane()];
    await limiter.configure(tight, { rpm: 1 });
    await reserveAsTold(limiter, tight, request(), 1);
    for (let i = 0; i < 20; i += 1) expect(await limiter.reserve(free, request())).toEqual({ kind: "granted" });
    expect(await limiter.reserve(tight, request())).toMatchObject({ kind: "wait", binding: "rpm" });
  });

  it("a refused request tells when to come back and what binds: the time until one request has refilled", async () => {
    const limiter = await open();
    const lane = newLane();
    await limiter.configure(lane, { rpm: 6 });
    expect(await limiter.reserve(lane, request())).toEqual({ kind: "granted" });
    const answer = await limiter.reserve(lane, request());
    expect(answer).toMatchObject({ kind: "wait", binding: "rpm" });
    // 10 s a request, of which half is told: limits may change, and then somebody should be awake.
    expect(answer.kind === "wait" && answer.afterMs).toBeGreaterThan(4_000);
    expect(answer.kind === "wait" && answer.afterMs).toBeLessThan(5_100);
  });

  it("of 60 simultaneous requests from three processes exactly as many start as there are slots", async () => {
    const limiters = [await open(), await open(), await open()];
    const lane = newLane();
    await limiters[0]?.configure(lane, { concurrency: 5 });
    const answers = await Promise.all(
      limiters.flatMap((limiter) => Array.from({ length: 20 }, () => limiter.reserve(lane, request()))),
    );
    expect(answers.filter(({ kind }) => kind === "granted")).toHaveLength(5);
    expect(answers.filter((answer) => answer.kind === "wait" && answer.binding === "concurrency")).toHaveLength(55);
  });

  it("of 60 simultaneous requests from three processes no more start than the tokens allow", async () => {
    const limiters = [await open(), await open(), await open()];
    const lane = newLane();
    // A new lane holds a third of its burst: 667 tokens.
    await limiters[0]?.configure(lane, { tpm: 100_000 });
    const asked = { inputTokens: 300, outputTokens: 0 };
    const answers = await Promise.all(
      limiters.flatMap((limiter) => Array.from({ length: 20 }, () => limiter.reserve(lane, request(asked)))),
    );
    const granted = answers.filter(({ kind }) => kind === "granted").length;
    expect(granted).toBeGreaterThanOrEqual(2);
    // What refills while a slow machine answers sixty requests: 1,650 tokens a second.
    expect(granted).toBeLessThanOrEqual(20);
  });

  it("reserving an id twice charges and occupies once", async () => {
    const limiter = await open();
    const lane = newLane();
    await limiter.configure(lane, { rpm: 1_000, concurrency: 2 });
    const same = request();
    for (let i = 0; i < 5; i += 1) expect(await limiter.reserve(lane, same)).toEqual({ kind: "granted" });
    expect(await limiter.use([lane])).toMatchObject([{ inFlight: 1, granted: 1 }]);
  });

  it("all dimensions are checked before any is charged", async () => {
    const limiter = await open();
    const lane = newLane();
    await limiter.configure(lane, { rpm: 60_000_000, inputTpm: 600, outputTpm: 60_000 });
    expect(await limiter.reserve(lane, request({ inputTokens: 4 }))).toEqual({ kind: "granted" });
    const refused = request({ inputTokens: 600, outputTokens: 400 });
    expect(await limiter.reserve(lane, refused)).toMatchObject({ kind: "wait", binding: "inputTpm" });
    await limiter.cancel(lane, refused.id);
    // The output bucket still holds what it began with.
    expect(await limiter.reserve(lane, request({ inputTokens: 0, outputTokens: 350 }))).toEqual({ kind: "granted" });
    expect(await limiter.use([lane])).toMatchObject([{ inFlight: 2 }]);
  });

  it("a request larger than a minute's limit is never granted, and says what to do", async () => {
    const limiter = await open();
    const lane = newLane();
    await limiter.configure(lane, { outputTpm: 8_000 });
    expect(await limiter.reserve(lane, request({ outputTokens: 8_001 }))).toEqual({
      kind: "never",
      binding: "outputTpm",
      message: expect.stringMatching(/8001 tokens of outputTpm.* 8000 a minute.*maxTokens/),
    });
    expect(await limiter.reserve(lane, request({ outputTokens: 8_000 }))).toMatchObject({ kind: "wait" });
  });

  it("a request larger than the burst is granted on a full bucket and leaves a debt of its size", async () => {
    const limiter = await open({ minuteMs: 2_000 });
    const lane = newLane();
    await limiter.configure(lane, { outputTpm: 1_000 });
    await reserveAsTold(limiter, lane, request({ outputTokens: 500 }));
    const answer = await limiter.reserve(lane, request({ outputTokens: 10 }));
    // 480 tokens of debt at 0.495 a millisecond, half of it told.
    expect(answer).toMatchObject({ kind: "wait", binding: "outputTpm" });
    expect(answer.kind === "wait" && answer.afterMs).toBeGreaterThan(300);
  });

  it("refunds never bank more than a burst", async () => {
    const limiter = await open({ minuteMs: 20_000 });
    const lane = newLane();
    await limiter.configure(lane, { tpm: 10_000 });
    const held = Array.from({ length: 10 }, () => request({ inputTokens: 60, outputTokens: 0 }));
    for (const each of held) await reserveAsTold(limiter, lane, each);
    for (const each of held) await limiter.settle(lane, each.id, zero);
    const fullMs = performance.now() + 500;
    await vi.waitFor(() => expect(performance.now()).toBeGreaterThan(fullMs), { timeout: 2_000 });
    const asked = Array.from({ length: 8 }, () => request({ inputTokens: 100, outputTokens: 0 }));
    const answers = await Promise.all(asked.map((each) => limiter.reserve(lane, each)));
    // The burst is 200; 600 came back, and a slow machine's refill may add one.
    const granted = answers.filter(({ kind }) => kind === "granted").length;
    expect(granted).toBeGreaterThanOrEqual(2);
    expect(granted).toBeLessThanOrEqual(4);
  });

  it("a refund comes back over the mean time that requests take", async () => {
    const limiter = await open({ minuteMs: 600_000 });
    const lane = newLane();
    await limiter.configure(lane, { tpm: 10_000 });
    const [first, second] = [
      request({ inputTokens: 30, outputTokens: 0 }),
      request({ inputTokens: 30, outputTokens: 0 }),
    ];
    expect(await limiter.reserve(lane, first)).toEqual({ kind: "granted" });
    expect(await limiter.reserve(lane, second)).toEqual({ kind: "granted" });
    const startMs = performance.now();
    await vi.waitFor(() => expect(performance.now() - startMs).toBeGreaterThan(400), { timeout: 2_000 });
    await limiter.settle(lane, first.id, zero);
    await limiter.settle(lane, second.id, zero);
    const asked = request({ inputTokens: 55, outputTokens: 0 });
    const atOnce = await limiter.reserve(lane, asked);
    expect(atOnce).toMatchObject({ kind: "wait", binding: "tpm" });
    await vi.waitFor(async () => expect(await limiter.reserve(lane, asked)).toEqual({ kind: "granted" }), {
      timeout: 5_000,
      interval: 100,
    });
    // By refill alone 55 tokens would take three seconds.
    expect(performance.now() - startMs).toBeLessThan(3_000);
  });

  it("an overshoot becomes debt, and settling twice counts once", async () => {
    const limiter = await open();
    const lane = newLane();
    await limiter.configure(lane, { outputTpm: 60_000 });
    const first = request({ outputTokens: 100 });
    await limiter.reserve(lane, first);
    await limiter.settle(lane, first.id, { inputTokens: 100, outputTokens: 10_500 });
    const debt = await limiter.reserve(lane, request({ outputTokens: 100 }));
    expect(debt.kind === "wait" && debt.afterMs).toBeGreaterThan(4_000);
    for (let i = 0; i < 3; i += 1) {
      await limiter.settle(lane, first.id, { inputTokens: 100, outputTokens: 10_500 });
      await limiter.settle(lane, "unknown", { inputTokens: 5, outputTokens: 50_000 });
    }
    const later = await limiter.reserve(lane, request({ outputTokens: 100 }));
    expect(later.kind === "wait" && later.afterMs).toBeLessThan(5_300);
  });

  it("unknown usage leaves the estimate charged and frees the slot", async () => {
    const limiter = await open();
    const lane = newLane();
    await limiter.configure(lane, { tpm: 10_000, concurrency: 1 });
    const only = request({ inputTokens: 200, outputTokens: 100 });
    await reserveAsTold(limiter, lane, request({ inputTokens: 100, outputTokens: 0, id: only.id }));
    await limiter.settle(lane, only.id, { inputTokens: null, outputTokens: null });
    expect(await limiter.reserve(lane, only)).toMatchObject({ kind: "wait", binding: "tpm" });
    expect(await limiter.use([lane])).toMatchObject([{ inFlight: 0, granted: 1 }]);
  });

  it("what was cancelled is given back whole, once", async () => {
    const limiter = await open();
    const lane = newLane();
    await limiter.configure(lane, { rpm: 2, concurrency: 1 });
    const first = request();
    await limiter.reserve(lane, first);
    await limiter.cancel(lane, first.id);
    await limiter.cancel(lane, first.id);
    expect(await limiter.use([lane])).toMatchObject([{ inFlight: 0, granted: 0 }]);
    expect(await limiter.reserve(lane, request())).toEqual({ kind: "granted" });
    expect(await limiter.reserve(lane, request())).toMatchObject({ kind: "wait" });
  });

  it("a slot that nobody renews is free again when its lease ends; a renewed one is not", async () => {
    const limiter = await open({ leaseMs: 400 });
    const lane = newLane();
    await limiter.configure(lane, { concurrency: 2 });
    const [kept, lost] = [request(), request()];
    await limiter.reserve(lane, kept);
    await limiter.reserve(lane, lost);
    await vi.waitFor(
      async () => {
        await limiter.renew(lane, [kept.id, "unknown"]);
        expect(await limiter.use([lane])).toMatchObject([{ inFlight: 1, granted: 2 }]);
      },
      { timeout: 5_000, interval: 50 },
    );
    expect(await limiter.reserve(lane, request())).toEqual({ kind: "granted" });
    expect((await limiter.use([lane]))[0]?.inFlight).toBe(2);
  });
}

function describeStops(open: Open, forget: () => Promise<void>): void {
  it("a cooldown stops the lane for its time, the longer one wins, and waiters are spread behind its end", async () => {
    const limiter = await open();
    const lane = newLane();
    await limiter.configure(lane, { rpm: 600 });
    await limiter.cool(lane, 30_000, false);
    await limiter.cool(lane, 1_000, false);
    const waits = [];
    for (let i = 0; i < 4; i += 1) {
      const answer = await limiter.reserve(lane, request());
      expect(answer).toMatchObject({ kind: "wait", binding: "cooldown" });
      waits.push(answer.kind === "wait" ? answer.afterMs : 0);
    }
    expect(waits[0]).toBeGreaterThan(28_000);
    expect((waits[3] ?? 0) - (waits[1] ?? 0)).toBeGreaterThan(0);
    expect(await limiter.use([lane])).toMatchObject([{ effective: { rpm: 600 }, limited: 0, binding: "cooldown" }]);
  });

  it("a parked lane starts nothing, says so once, and goes on when told or at its time", async () => {
    const [limiter, other] = [await open(), await open()];
    const lane = newLane();
    await limiter.configure(lane, { rpm: 600 });
    const first = await Promise.all([limiter.park(lane, "no credit", null), other.park(lane, "no credit", null)]);
    expect(first.filter((isNew) => isNew)).toHaveLength(1);
    expect(await other.reserve(lane, request())).toMatchObject({ kind: "wait", binding: "parked" });
    expect(await other.use([lane])).toMatchObject([{ parked: { reason: "no credit", resumesAtMs: null } }]);
    expect([await other.resume(lane), await limiter.resume(lane)]).toEqual([true, false]);
    expect(await limiter.reserve(lane, request())).toEqual({ kind: "granted" });

    expect(await limiter.park(lane, "daily quota", 300)).toBe(true);
    expect((await limiter.use([lane]))[0]?.parked?.resumesAtMs).toBeGreaterThan(0);
    await reserveAsTold(limiter, lane, request());
    expect(await limiter.use([lane])).toMatchObject([{ parked: null }]);
    expect(await limiter.resume(lane)).toBe(false);
  });

  it("headers lower a limit and restore it, never above what was configured, and add one that was not", async () => {
    const limiter = await open();
    const lane = newLane();
    await limiter.configure(lane, { rpm: 100 });
    const tell = (limit: number) =>
      limiter.learn(lane, {
        requests: { limit, remaining: null, resetMs: null },
        outputTokens: { limit: 8_000, remaining: 8_000, resetMs: 0 },
      });
    await tell(50);
    expect(await limiter.use([lane])).toMatchObject([
      { limits: { rpm: 100 }, effective: { rpm: 50, outputTpm: 8_000 } },
    ]);
    await tell(1_000);
    expect(await limiter.use([lane])).toMatchObject([{ effective: { rpm: 100, outputTpm: 8_000 } }]);
  });

  it("a low remaining count takes the burst away; where the bucket is drained, all of it", async () => {
    const limiter = await open();
    const lane = newLane();
    await limiter.configure(lane, { rpm: 60 });
    await limiter.learn(lane, { requests: { limit: 60, remaining: 0, resetMs: 60_000 } });
    expect(await limiter.reserve(lane, request())).toMatchObject({ kind: "wait", binding: "rpm" });
    const shallow = newLane();
    await limiter.configure(shallow, { rpm: 60 });
    await limiter.learn(shallow, { requests: { limit: 60, remaining: 0, resetMs: 500 } });
    expect(await limiter.reserve(shallow, request())).toEqual({ kind: "granted" });
  });

  it("where others drain the vendor's bucket, the lane follows the refill that the reset time implies, until told more", async () => {
    const limiter = await open();
    const lane = newLane();
    await limiter.configure(lane, { rpm: 1_000 });
    await limiter.learn(lane, { requests: { limit: 1_000, remaining: 1_000, resetMs: 0 } });
    // 850 missing and 85 s to go: 600 a minute are left to us.
    await limiter.learn(lane, { requests: { limit: 1_000, remaining: 150, resetMs: 85_000 } });
    expect((await limiter.use([lane]))[0]?.effective.rpm).toBeCloseTo(600, 6);
    await limiter.learn(lane, { requests: { limit: 1_000, remaining: 0, resetMs: 100_000 } });
    expect((await limiter.use([lane]))[0]?.effective.rpm).toBeCloseTo(540, 6);
    await limiter.learn(lane, { requests: { limit: 1_000, remaining: 400, resetMs: 60_000 } });
    expect((await limiter.use([lane]))[0]?.effective.rpm).toBe(1_000);
  });

  it("a common token header does not bind a lane that counts input and output apart", async () => {
    const limiter = await open();
    const lane = newLane();
    await limiter.configure(lane, { inputTpm: 30_000, outputTpm: 8_000 });
    await limiter.learn(lane, { tokens: { limit: 8_000, remaining: 8_000, resetMs: 0 } });
    expect((await limiter.use([lane]))[0]?.effective).toEqual({ inputTpm: 30_000, outputTpm: 8_000 });
  });

  it("429s of one moment shrink the limits once, and they are whole again within half a minute", async () => {
    const limiter = await open({ minuteMs: 4_000 });
    const lane = newLane();
    await limiter.configure(lane, { rpm: 6_000, concurrency: 9 });
    await Promise.all(Array.from({ length: 10 }, () => limiter.cool(lane, 0, true)));
    const [use] = await limiter.use([lane]);
    expect(use).toMatchObject({ limited: 10, effective: { concurrency: 9 } });
    expect(use?.effective.rpm).toBeGreaterThanOrEqual(5_099);
    expect(use?.effective.rpm).toBeLessThan(6_000);
    const startMs = performance.now();
    await vi.waitFor(async () => expect((await limiter.use([lane]))[0]?.effective.rpm).toBe(6_000), { timeout: 3_500 });
    expect(performance.now() - startMs).toBeLessThan(3_000);
  });

  it("a server that lost its memory goes on with what this process configured", async () => {
    const limiter = await open();
    const lane = newLane();
    await limiter.configure(lane, { rpm: 10 });
    await forget();
    expect(await limiter.reserve(lane, request())).toEqual({ kind: "granted" });
    expect(await limiter.reserve(lane, request())).toMatchObject({ kind: "wait", binding: "rpm" });
    expect(await limiter.use([lane])).toMatchObject([{ limits: { rpm: 10 } }]);
  });

  it("the last word of any process holds, and an absent limit binds no longer", async () => {
    const [limiter, other] = [await open(), await open()];
    const lane = newLane();
    await limiter.configure(lane, { rpm: 1, concurrency: 1 });
    await other.configure(lane, { rpm: 500 });
    expect((await limiter.use([lane]))[0]?.limits).toEqual({ rpm: 500 });
    await limiter.reserve(lane, request());
    expect(await limiter.reserve(lane, request())).toMatchObject({ kind: "wait", binding: "rpm" });
  });

  it.each([
    ["a negative limit", { rpm: -1 }],
    ["half a slot", { concurrency: 0.5 }],
    ["no number", { tpm: Number.NaN }],
  ])("%s is refused by name", async (_, limits) => {
    const limiter = await open();
    await expect(limiter.configure(newLane(), limits)).rejects.toMatchObject({ code: "limiter-input" });
  });

  it("after closing every call is refused", async () => {
    const limiter = await open();
    await limiter.close();
    await expect(limiter.reserve(newLane(), request())).rejects.toMatchObject({ code: "limiter-closed" });
  });
}
