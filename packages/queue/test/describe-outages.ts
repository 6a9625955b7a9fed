import type { DeliveryResult, QueuePort } from "@hallumaze/engine";
import type { HalluMazeError } from "@hallumaze/foundation";
import { createFaultProxy, type FaultProxy } from "@hallumaze/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import { openQueue, type QueueTarget } from "../src/index.ts";
import { testLedger } from "./queue-process.ts";
import { shortSettings } from "./queue-under-test.ts";

/** A server that outages are tried on. */
export interface OutageServer {
  readonly url: string;
  readonly target: (url: string) => QueueTarget;
  readonly drop: () => Promise<void>;
}

const done: DeliveryResult = { kind: "done" };
const trial = (trialId: string, delayMs = 0) => ({ trialId, generation: 0, delayMs });

/** What must hold when the network between us and the server fails: checked through a proxy that takes it away. */
export function describeOutages(start: () => Promise<OutageServer>): void {
  describe("outages", () => {
    let server: OutageServer;
    let drop: (() => Promise<void>) | undefined;
    let proxy: FaultProxy;
    let direct: QueuePort;
    let proxied: QueuePort;
    let lane: string;
    let laneCount = 0;
    let seen: string[];
    let errors: HalluMazeError[];

    beforeAll(async () => {
      server = await start();
      drop = server.drop;
    });
    beforeEach(async () => {
      laneCount += 1;
      lane = `sim.outage-${laneCount}`;
      seen = [];
      errors = [];
      proxy = await createFaultProxy(server.url);
      const open = (url: string): Promise<QueuePort> =>
        openQueue(server.target(url), {
          ledger: testLedger,
          onError: (error) => errors.push(error),
          settings: shortSettings,
        });
      direct = await open(server.url);
      proxied = await open(proxy.through(server.url));
    });
    afterEach(async () => {
      await Promise.all([direct, proxied].map((port) => port?.close()));
      await proxy?.close();
    });
    // Undefined where the start failed, which is what the report should say.
    afterAll(() => drop?.());

    const consume = () =>
      proxied.consume(lane, 2, async (delivery) => {
        seen.push(delivery.trialId);
        return done;
      });
    const warmUp = async (): Promise<void> => {
      await consume();
      await direct.enqueue(lane, [trial("warm-up")]);
      await seesAll(1);
    };
    /** Resolves once as many trials were seen. */
    const seesAll = (count: number) =>
      vi.waitFor(() => expect(new Set(seen).size).toBe(count), { timeout: 30_000, interval: 20 });
    const isEmpty = () =>
      vi.waitFor(async () => expect(await direct.depth(lane)).toEqual({ waiting: 0, active: 0, delayed: 0 }), {
        timeout: 30_000,
        interval: 50,
      });
    /** Ends when the server has been away for this long, as a caller sees it. */
    const isAwayFor = async (durationMs: number): Promise<void> => {
      const startMs = performance.now();
      await vi.waitFor(
        async () => {
          await expect(proxied.ping(1_000)).rejects.toMatchObject({ code: "queue-unreachable", retry: true });
          expect(performance.now() - startMs).toBeGreaterThan(durationMs);
        },
        { timeout: durationMs + 10_000, interval: 100 },
      );
    };

    it("after an outage longer than the idle poll the consumer takes work again, delayed work included", async () => {
      await warmUp();
      await proxy.refuse();
      await direct.enqueue(lane, [trial("a"), trial("b"), trial("delayed", 1_500)]);
      await isAwayFor(4_000);
      await proxy.accept();
      await seesAll(4);
      await isEmpty();
      expect(new Set(seen)).toEqual(new Set(["warm-up", "a", "b", "delayed"]));
    }, 90_000);

    it("after a reset of every connection an idle consumer takes work again", async () => {
      await warmUp();
      proxy.reset();
      await direct.enqueue(lane, [trial("a")]);
      await seesAll(2);
      await isEmpty();
      expect(new Set(seen)).toEqual(new Set(["warm-up", "a"]));
    });

    it("when every connection hangs for good, the worker is rebuilt over new ones", async () => {
      await warmUp();
      proxy.swallow();
      await direct.enqueue(lane, [trial("a"), trial("b")]);
      await seesAll(3);
      await isEmpty();
      expect(new Set(seen)).toEqual(new Set(["warm-up", "a", "b"]));
    });

    it("a delivery whose handler ends while the server is away is settled in the end", async () => {
      let end: () => void = () => undefined;
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      await direct.enqueue(lane, [trial("a")]);
      await proxied.consume(lane, 1, async (delivery) => {
        seen.push(delivery.trialId);
        await ended;
        return done;
      });
      await seesAll(1);
      await proxy.refuse();
      end();
      await isAwayFor(1_000);
      await proxy.accept();
      await isEmpty();
      expect(new Set(seen)).toEqual(new Set(["a"]));
    });

    it("enqueue, depth and ping fail in a bounded time while the server is away, and work again after", async () => {
      await proxied.depth(lane);
      await proxy.refuse();
      const startMs = performance.now();
      const unreachable = { code: "queue-unreachable", retry: true };
      await Promise.all([
        expect(proxied.enqueue(lane, [trial("a")])).rejects.toMatchObject(unreachable),
        expect(proxied.depth(lane)).rejects.toMatchObject(unreachable),
        expect(proxied.ping(300)).rejects.toMatchObject(unreachable),
      ]);
      expect(performance.now() - startMs).toBeLessThan(8_000);
      await proxy.accept();
      await vi.waitFor(() => proxied.enqueue(lane, [trial("a")]), { timeout: 15_000, interval: 50 });
      expect(await direct.depth(lane)).toEqual({ waiting: 1, active: 0, delayed: 0 });
    });

    it("an outage is reported, and not a hundred times a second", async () => {
      await warmUp();
      await proxy.refuse();
      await isAwayFor(3_000);
      expect(errors.length).toBeGreaterThan(0);
      expect(errors.length).toBeLessThan(20);
    });

    it("a consumer closes in time while the server is away", async () => {
      await warmUp();
      await proxy.refuse();
      const startMs = performance.now();
      await proxied.close();
      expect(performance.now() - startMs).toBeLessThan(5_000);
    });

    it("opening against nothing fails by name, and no message holds the password", async () => {
      await proxy.refuse();
      const address = new URL(proxy.through(server.url));
      address.username = "somebody";
      address.password = "s3cret/&";
      const failure = await openQueue(server.target(address.href), {
        ledger: testLedger,
        onError: () => undefined,
        settings: shortSettings,
      }).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "queue-unreachable" });
      const shown = JSON.stringify(failure, Object.getOwnPropertyNames(failure));
      expect(shown).toContain(address.host);
      expect(shown).not.toMatch(/s3cret|somebody/);
    });
  });
}
