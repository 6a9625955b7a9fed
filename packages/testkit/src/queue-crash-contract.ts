import type { DeliveryResult } from "@hallumaze/engine";
import { expect, vi } from "vitest";

import { createGate, createRecorder, done, empty, type Guarantee, trial, trials } from "./queue-stage.ts";

/** What the queue port promises when consumers close, processes die and servers lose their data. */
export function describeCrashes(guarantee: Guarantee): void {
  guarantee("close lets handlers end and takes nothing new", async (on) => {
    const recorder = createRecorder();
    const gate = createGate();
    const aborted: boolean[] = [];
    await on.queue.enqueue(on.lane, trials(10));
    const consumer = await on.consume(2, async (delivery, signal) => {
      recorder.note(delivery);
      await gate.opened;
      aborted.push(signal.aborted);
      return done;
    });
    await recorder.reach(2);
    const closed = consumer.close(10_000);
    gate.open();
    await closed;
    expect(aborted).toEqual([false, false]);
    expect(recorder.seen).toHaveLength(2);
    await on.depthBecomes({ waiting: 8, active: 0, delayed: 0 });
  });

  guarantee("close aborts at its deadline, and the delivery comes back at once for another", async (on) => {
    const recorder = createRecorder();
    await on.queue.enqueue(on.lane, [trial("slow")]);
    const consumer = await on.consume(1, async (delivery, signal) => {
      recorder.note(delivery);
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      return done;
    });
    await recorder.reach(1);
    const startMs = performance.now();
    await consumer.close(200);
    expect(performance.now() - startMs).toBeLessThan(1_500);
    await on.depthBecomes({ waiting: 1, active: 0, delayed: 0 }, 500);
    await on.consume(1, async (delivery) => {
      recorder.note(delivery);
      return done;
    });
    await recorder.reach(2, 1_500);
    await on.depthBecomes(empty);
  });

  guarantee("close ends in time beside a handler that heeds no signal, and its delivery comes again", async (on) => {
    const recorder = createRecorder();
    await on.queue.enqueue(on.lane, [trial("deaf")]);
    const consumer = await on.consume(1, async (delivery) => {
      recorder.note(delivery);
      return new Promise<DeliveryResult>(() => undefined);
    });
    await recorder.reach(1);
    const startMs = performance.now();
    await consumer.close(100);
    expect(performance.now() - startMs).toBeLessThan(3_000);
    await on.consume(1, async (delivery) => {
      recorder.note(delivery);
      return done;
    });
    await recorder.reach(2, 8_000);
    await on.depthBecomes(empty);
  });

  guarantee("a handler that runs for three times the lock keeps its delivery to itself", async (on) => {
    const recorder = createRecorder();
    const startMs = performance.now();
    await on.queue.enqueue(on.lane, [trial("long")]);
    for (const port of [on.queue, await on.openPort()]) {
      await on.consume(
        1,
        async (delivery) => {
          recorder.note(delivery);
          await vi.waitFor(() => expect(performance.now() - startMs).toBeGreaterThan(6_000), { timeout: 7_000 });
          return done;
        },
        port,
      );
    }
    await on.depthBecomes({ waiting: 0, active: 1, delayed: 0 });
    await on.depthBecomes(empty, 10_000);
    expect(recorder.ids()).toEqual(["long/0"]);
  });

  guarantee("after kill -9 of a process another finishes its delivery within the lock and two looks", async (on) => {
    const recorder = createRecorder();
    await on.queue.enqueue(on.lane, [trial("orphan")]);
    const process = await on.server.consumeInProcess(on.lane);
    await process.underWay;
    await on.consume(1, async (delivery) => {
      recorder.note(delivery);
      return done;
    });
    await process.kill();
    const startMs = performance.now();
    await recorder.reach(1, 10_000);
    // Lock 2 s + 2 × 500 ms, and a second for a busy machine.
    expect(performance.now() - startMs).toBeLessThan(4_000);
    await on.depthBecomes(empty);
  });

  guarantee("a delivery survives the crash of many workers in a row", async (on) => {
    const recorder = createRecorder();
    await on.queue.enqueue(on.lane, [trial("unlucky")]);
    for (let crash = 0; crash < 3; crash += 1) {
      const process = await on.server.consumeInProcess(on.lane);
      await process.underWay;
      await process.kill();
    }
    await on.consume(1, async (delivery) => {
      recorder.note(delivery);
      return done;
    });
    await recorder.reach(1, 10_000);
    await on.depthBecomes(empty);
  });

  guarantee("after an enqueue cut off by kill -9, the same enqueue adds what is missing and no more", async (on) => {
    const process = await on.server.enqueueInProcess(on.lane, 20_000);
    await process.underWay;
    await process.kill();
    await on.queue.enqueue(on.lane, trials(20_000));
    await on.depthBecomes({ waiting: 20_000, active: 0, delayed: 0 });
  });

  guarantee("when the server loses all, a running consumer takes what is enqueued again", async (on) => {
    const recorder = createRecorder();
    const gate = createGate();
    await on.queue.enqueue(on.lane, trials(10));
    await on.consume(2, async (delivery) => {
      recorder.note(delivery);
      await gate.opened;
      return done;
    });
    await recorder.reach(2);
    await on.server.wipe();
    gate.open();
    await on.queue.enqueue(on.lane, trials(10));
    await recorder.reach(12, 20_000);
    expect(new Set(recorder.ids()).size).toBe(10);
    await on.depthBecomes(empty);
  });
}
