import { describe, expect, vi } from "vitest";

import { describeCrashes } from "./queue-crash-contract.ts";
import {
  createGate,
  createRecorder,
  done,
  empty,
  type Guarantee,
  type QueueUnderTest,
  stageQueue,
  trial,
  trials,
} from "./queue-stage.ts";

/** The guarantees of the queue port, checked on one back end. */
export function describeQueueContract(name: string, start: () => Promise<QueueUnderTest>): void {
  describe(name, () => {
    const guarantee = stageQueue(start);
    describe("delivery", () => describeDelivery(guarantee));
    describe("close and crash", () => describeCrashes(guarantee));
    describe("edges", () => describeEdges(guarantee));
  });
}

function describeDelivery(guarantee: Guarantee): void {
  guarantee("each delivery comes once and leaves the queue", async (on) => {
    const recorder = createRecorder();
    await on.queue.enqueue(on.lane, trials(60));
    await on.consume(5, async (delivery) => {
      recorder.note(delivery);
      return done;
    });
    await recorder.reach(60);
    await on.depthBecomes(empty);
    expect([...recorder.ids()].sort()).toEqual(
      trials(60)
        .map(({ trialId }) => `${trialId}/0`)
        .sort(),
    );
  });

  guarantee("one slot takes deliveries in the order they were enqueued", async (on) => {
    const recorder = createRecorder();
    await on.queue.enqueue(on.lane, trials(20));
    await on.consume(1, async (delivery) => {
      recorder.note(delivery);
      return done;
    });
    await recorder.reach(20);
    expect(recorder.ids()).toEqual(trials(20).map(({ trialId }) => `${trialId}/0`));
  });

  guarantee("a higher priority comes first, then the smaller turn, then the order of enqueuing", async (on) => {
    const recorder = createRecorder();
    await on.queue.enqueue(on.lane, [
      { ...trial("low"), priority: -3 },
      { ...trial("late"), turn: 40 },
      { ...trial("first"), turn: 5 },
      { ...trial("second"), turn: 4.5 },
      trial("plain"),
      { ...trial("beyond"), turn: 1e9 },
      { ...trial("high"), priority: 10, turn: 1e9 },
    ]);
    await on.consume(1, async (delivery) => {
      recorder.note(delivery);
      return delivery.trialId === "first" && recorder.seen.length === 3 ? { kind: "again", afterMs: 1 } : done;
    });
    await recorder.reach(8);
    await on.depthBecomes(empty);
    expect(recorder.ids().filter((id) => id !== "first/0")).toEqual(
      ["high", "plain", "second", "late", "beyond", "low"].map((id) => `${id}/0`),
    );
    expect(recorder.ids()[2]).toBe("first/0");
  });

  guarantee("no more than `concurrency` handlers run at once", async (on) => {
    let running = 0;
    let most = 0;
    const recorder = createRecorder();
    const gate = createGate();
    await on.queue.enqueue(on.lane, trials(12));
    await on.consume(3, async (delivery) => {
      running += 1;
      most = Math.max(most, running);
      recorder.note(delivery);
      await gate.opened;
      running -= 1;
      return done;
    });
    await recorder.reach(3);
    await on.depthBecomes({ waiting: 9, active: 3, delayed: 0 });
    gate.open();
    await recorder.reach(12);
    expect(most).toBe(3);
  });

  guarantee("a second enqueue of a waiting, delayed or running delivery is dropped", async (on) => {
    const recorder = createRecorder();
    const gate = createGate();
    await on.queue.enqueue(on.lane, [trial("a"), trial("a"), trial("later", 400)]);
    await on.queue.enqueue(on.lane, [trial("a"), trial("later", 400)]);
    await on.depthBecomes({ waiting: 1, active: 0, delayed: 1 });
    await on.consume(4, async (delivery) => {
      recorder.note(delivery);
      await gate.opened;
      return done;
    });
    await recorder.reach(1);
    await on.queue.enqueue(on.lane, [trial("a")]);
    await recorder.reach(2);
    gate.open();
    await on.depthBecomes(empty);
    expect(recorder.ids()).toEqual(["a/0", "later/0"]);
  });

  guarantee("what was handled can be enqueued again, and another generation is another delivery", async (on) => {
    const recorder = createRecorder();
    await on.consume(1, async (delivery) => {
      recorder.note(delivery);
      return done;
    });
    await on.queue.enqueue(on.lane, [trial("a")]);
    await recorder.reach(1);
    await on.depthBecomes(empty);
    await on.queue.enqueue(on.lane, [trial("a"), trial("a", 0, 1)]);
    await recorder.reach(3);
    expect(recorder.ids()).toEqual(["a/0", "a/0", "a/1"]);
  });

  guarantee("ids that look like numbers or hold colons, tildes and percent signs stay apart", async (on) => {
    const recorder = createRecorder();
    const ids = ["5", "0", "a:b", "a:b:c", "a~1", "a%3Ab", "a", "x".repeat(200)];
    await on.queue.enqueue(
      on.lane,
      ids.flatMap((id) => [trial(id, 0, 1), trial(id, 0, 11)]),
    );
    await on.consume(4, async (delivery) => {
      recorder.note(delivery);
      return done;
    });
    await recorder.reach(16);
    expect([...recorder.ids()].sort()).toEqual(ids.flatMap((id) => [`${id}/1`, `${id}/11`]).sort());
  });

  guarantee("a delay holds a delivery back, and no longer than a second more", async (on) => {
    const recorder = createRecorder();
    await on.consume(1, async (delivery) => {
      recorder.note(delivery);
      return done;
    });
    const startMs = performance.now();
    await on.queue.enqueue(on.lane, [trial("late", 600), trial("now")]);
    await recorder.reach(2);
    const [first, second] = recorder.seen;
    expect([first?.id, second?.id]).toEqual(["now/0", "late/0"]);
    expect((second?.atMs ?? 0) - startMs).toBeGreaterThan(590);
    expect((second?.atMs ?? 0) - startMs).toBeLessThan(1_700);
  });

  guarantee("an idle consumer takes a new delivery within a second", async (on) => {
    const recorder = createRecorder();
    await on.consume(1, async (delivery) => {
      recorder.note(delivery);
      return done;
    });
    await on.queue.enqueue(on.lane, [trial("warm-up")]);
    await recorder.reach(1);
    await on.depthBecomes(empty);
    const startMs = performance.now();
    await on.queue.enqueue(on.lane, [trial("a")]);
    await recorder.reach(2);
    expect((recorder.seen[1]?.atMs ?? 0) - startMs).toBeLessThan(1_000);
  });

  guarantee("`again` with a long wait frees the only slot at once", async (on) => {
    const recorder = createRecorder();
    await on.queue.enqueue(on.lane, [trial("limited"), trial("next")]);
    await on.consume(1, async (delivery) => {
      recorder.note(delivery);
      return delivery.trialId === "limited" ? { kind: "again", afterMs: 1_800_000 } : done;
    });
    await recorder.reach(2, 2_000);
    await on.depthBecomes({ waiting: 0, active: 0, delayed: 1 });
    expect(recorder.ids()).toEqual(["limited/0", "next/0"]);
  });

  guarantee("`again` can be said any number of times", async (on) => {
    const recorder = createRecorder();
    await on.queue.enqueue(on.lane, [trial("a")]);
    await on.consume(1, async (delivery) => {
      recorder.note(delivery);
      return recorder.seen.length < 30 ? { kind: "again", afterMs: 5 } : done;
    });
    await recorder.reach(30, 20_000);
    await on.depthBecomes(empty);
    expect(recorder.seen).toHaveLength(30);
  });

  guarantee("a handler that throws gets the delivery again, each time after a longer pause", async (on) => {
    const recorder = createRecorder();
    await on.queue.enqueue(on.lane, [trial("a")]);
    await on.consume(1, async (delivery) => {
      recorder.note(delivery);
      if (recorder.seen.length < 4) throw new Error("the store is away");
      return done;
    });
    await recorder.reach(4, 20_000);
    await on.depthBecomes(empty);
    const [a = 0, b = 0, c = 0, d = 0] = recorder.seen.map((each) => each.atMs);
    expect(b - a).toBeGreaterThan(290);
    expect(c - b).toBeGreaterThan(b - a - 50);
    expect(d - a).toBeGreaterThan(1_500);
    expect(on.errors.map((error) => error.code)).toContain("queue-handler");
  });

  guarantee("whatever a handler throws, the delivery comes again and the queue goes on", async (on) => {
    const hostile = [new Error("NUL \u0000 and half a pair \ud83d"), "text", undefined, new Error("x".repeat(100_000))];
    const recorder = createRecorder();
    await on.queue.enqueue(
      on.lane,
      hostile.map((_, index) => trial(`${index}`)),
    );
    await on.consume(4, async (delivery) => {
      const isFirst = !recorder.ids().includes(`${delivery.trialId}/0`);
      recorder.note(delivery);
      if (isFirst) return Promise.reject(hostile[Number(delivery.trialId)]);
      return done;
    });
    await recorder.reach(8, 20_000);
    await on.depthBecomes(empty);
    expect(recorder.seen).toHaveLength(8);
    for (const { message } of on.errors) {
      expect(message).not.toMatch(/[\p{Cc}\p{Cs}]/u);
      expect(message.length).toBeLessThan(1_000);
    }
  });

  guarantee("two consumers share the work, each delivery to one of them", async (on) => {
    const recorders = [createRecorder(), createRecorder()];
    const gate = createGate();
    await on.queue.enqueue(on.lane, trials(40));
    for (const recorder of recorders) {
      await on.consume(
        2,
        async (delivery) => {
          recorder.note(delivery);
          await gate.opened;
          return done;
        },
        await on.openPort(),
      );
    }
    await Promise.all(recorders.map((recorder) => recorder.reach(2)));
    gate.open();
    await on.depthBecomes(empty, 10_000);
    const ids = recorders.flatMap((recorder) => recorder.ids());
    expect(ids).toHaveLength(40);
    expect(new Set(ids).size).toBe(40);
  });

  guarantee("a lane that hangs does not hold up another", async (on) => {
    const other = `${on.lane}-other`;
    const recorder = createRecorder();
    await on.queue.enqueue(on.lane, [trial("hangs")]);
    await on.queue.enqueue(other, [trial("runs")]);
    await on.consume(1, () => new Promise(() => undefined));
    await on.queue.consume(other, 1, async (delivery) => {
      recorder.note(delivery);
      return done;
    });
    await recorder.reach(1, 3_000);
    expect(recorder.ids()).toEqual(["runs/0"]);
  });
}

function describeEdges(guarantee: Guarantee): void {
  guarantee("depth counts a paused lane's deliveries as waiting, and says that it is paused", async (on) => {
    await on.queue.enqueue(on.lane, [trial("a"), trial("b"), trial("c", 60_000)]);
    await on.server.pause(on.lane);
    await on.depthBecomes({ waiting: 2, active: 0, delayed: 1 });
    await on.consume(1, async () => done);
    await vi.waitFor(() => expect(on.errors.map((error) => error.code)).toContain("queue-paused"), { timeout: 10_000 });
    expect(on.errors.map((error) => error.code)).not.toContain("queue-stuck");
  });

  guarantee("a payload of a newer version is refused and left in the queue", async (on) => {
    const recorder = createRecorder();
    await on.server.addForeign(on.lane, "newer~1", { trialId: "a", generation: 0, judge: "panel" });
    await on.server.addForeign(on.lane, "newer~2", "text");
    await on.queue.enqueue(on.lane, [trial("ours")]);
    await on.consume(1, async (delivery) => {
      recorder.note(delivery);
      return done;
    });
    await recorder.reach(1);
    await on.depthBecomes({ waiting: 0, active: 0, delayed: 2 });
    expect(recorder.ids()).toEqual(["ours/0"]);
    expect(on.errors.map((error) => error.code)).toContain("queue-payload");
  });

  guarantee("what no caller should send is refused by name", async (on) => {
    const refused = expect.objectContaining({ code: "queue-input" });
    await expect(on.queue.enqueue("a:b", [trial("a")])).rejects.toEqual(refused);
    await expect(on.queue.enqueue("", [trial("a")])).rejects.toEqual(refused);
    await expect(on.queue.enqueue(on.lane, [trial("a\u0000b")])).rejects.toEqual(refused);
    await expect(on.queue.enqueue(on.lane, [trial("")])).rejects.toEqual(refused);
    await expect(on.queue.enqueue(on.lane, [trial("a", 0, -1)])).rejects.toEqual(refused);
    await expect(on.queue.enqueue(on.lane, [trial("a", Number.NaN)])).rejects.toEqual(refused);
    await expect(on.consume(0, async () => done)).rejects.toEqual(refused);
    expect(await on.queue.depth(on.lane)).toEqual(empty);
  });

  guarantee(
    "a port that closes while a consumer starts leaves no worker behind, and the process goes on",
    async (on) => {
      const port = await on.openPort();
      const started = port
        .consume(on.lane, 1, async () => done)
        .then(
          () => "started",
          (error: unknown) => (error as { readonly code?: string }).code,
        );
      await port.close();
      expect(await started).toBe("queue-closed");
      // A worker left on closed connections would ask again and again without a pause: no timer would fire any more.
      for (let tick = 0; tick < 20; tick += 1) await new Promise((resolve) => void setTimeout(resolve, 10));
      await on.queue.enqueue(on.lane, [trial("a")]);
      await on.depthBecomes({ waiting: 1, active: 0, delayed: 0 });
    },
  );

  guarantee("a closed port refuses work, and closing twice is closing once", async (on) => {
    await on.queue.ping(1_000);
    await Promise.all([on.queue.close(), on.queue.close()]);
    const closed = expect.objectContaining({ code: "queue-closed" });
    await expect(on.queue.enqueue(on.lane, [trial("a")])).rejects.toEqual(closed);
    await expect(on.queue.depth(on.lane)).rejects.toEqual(closed);
    await expect(on.queue.ping(1_000)).rejects.toEqual(closed);
  });
}
