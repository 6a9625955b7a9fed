import type { DeliveryResult, QueuePort } from "@hallumaze/engine";
import type { HalluMazeError } from "@hallumaze/foundation";
import { createFaultProxy, type FaultProxy } from "@hallumaze/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import { openQueue, type QueueTarget } from "../src/index.ts";
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
    let proxy: FaultProxy;
    let direct: QueuePort;
    let proxied: QueuePort;
    let lane: string;
    let laneCount = 0;
    let seen: string[];
    let errors: HalluMazeError[];

    beforeAll(async () => {
      server = await start();
    });
    beforeEach(async () => {
      laneCount += 1;
      lane = `sim.outage-${laneCount}`;
      seen = [];
      errors = [];
      proxy = await createFaultProxy(server.url);
      const open = (url: string): Promise<QueuePort> =>
        openQueue(server.target(url), { onError: (error) => errors.push(error), settings: shortSettings });
      direct = await open(server.url);
      proxied = await open(proxy.through(server.url));
    });
    afterEach(async () => {
      await Promise.all([direct.close(), proxied.close()]);
      await proxy.close();
    });
    afterAll(() => server.drop());

    const consume = () =>
      proxied.consume(lane, 2, async (delivery) => {
        seen.push(delivery.trialId);
        return done;
      });
    const warmUp = async (): Promise<void> => {
      await consume();
      await direct.enqueue(lane, [trial("warm-up")]);
      await sees(["warm-up"], 10_000);
    };
    const sees = (ids: readonly string[], timeout = 30_000) =>
      vi.waitFor(() => expect(new Set(seen)).toEqual(new Set(ids)), { timeout, interval: 20 });
    const isEmpty = (timeout = 30_000) =>
      vi.waitFor(async () => expect(await direct.depth(lane)).toEqual({ waiting: 0, active: 0, delayed: 0 }), {
        timeout,
        interval: 50,
      });
    /** Ends when the ping through the proxy has failed `times` times: an outage of known length without a sleep. */
    const failedPings = async (times: number): Promise<void> => {
      for (let failed = 0; failed < times; failed += 1) {
        await expect(proxied.ping(1_000)).rejects.toMatchObject({ code: "queue-unreachable", retry: true });
      }
    };

    it("after an outage longer than the idle poll the consumer takes work again, delayed work included", async () => {
      await warmUp();
      await proxy.refuse();
      await direct.enqueue(lane, [trial("a"), trial("b"), trial("delayed", 1_500)]);
      await failedPings(4);
      await proxy.accept();
      await sees(["warm-up", "a", "b", "delayed"]);
      await isEmpty();
    }, 90_000);

    it("after a reset of every connection an idle consumer takes work again", async () => {
      await warmUp();
      proxy.reset();
      await direct.enqueue(lane, [trial("a")]);
      await sees(["warm-up", "a"]);
      await isEmpty();
    });

    it("when every connection hangs for good, the worker is rebuilt over new ones", async () => {
      await warmUp();
      proxy.swallow();
      await direct.enqueue(lane, [trial("a"), trial("b")]);
      await sees(["warm-up", "a", "b"]);
      await isEmpty();
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
      await sees(["a"]);
      await proxy.refuse();
      end();
      await failedPings(1);
      await proxy.accept();
      await isEmpty();
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
      await failedPings(3);
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
      const failure = openQueue(server.target(address.href), { onError: () => undefined, settings: shortSettings });
      await expect(failure).rejects.toMatchObject({ code: "queue-unreachable" });
      await failure.catch((error: unknown) => {
        const shown = JSON.stringify(error, Object.getOwnPropertyNames(error));
        expect(shown).toContain(address.host);
        expect(shown).not.toMatch(/s3cret|somebody/);
      });
    });
  });
}
