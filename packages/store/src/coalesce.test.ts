import { describe, expect, it } from "vitest";

import { coalesce, type CoalesceOptions } from "./coalesce.ts";

interface Item {
  readonly key: string;
  readonly size: number;
}

const item = (key: string, size = 1): Item => ({ key, size });

/** A coalescer whose batches are written down, and held until `open` where `isHeld`. */
function stage(changes: Partial<CoalesceOptions<Item, string>> = {}, isHeld = false) {
  const batches: string[][] = [];
  let open = (): void => undefined;
  const gate = isHeld ? new Promise<void>((resolve) => (open = resolve)) : Promise.resolve();
  const coalescer = coalesce<Item, string>({
    runBatch: async (items) => {
      batches.push(items.map(({ key }) => key));
      await gate;
      return items.map(({ key }) => `did ${key}`);
    },
    keyOf: ({ key }) => key,
    sizeOf: ({ size }) => size,
    maxItems: 3,
    maxSize: 10,
    maxInFlight: 1,
    isItemsFault: () => true,
    ...changes,
  });
  return { batches, coalescer, open: () => open() };
}

describe("coalesce", () => {
  it("makes one batch of the calls of one tick, and gives each its own result", async () => {
    const { batches, coalescer } = stage();
    const results = await Promise.all(["a", "b", "c"].map((key) => coalescer.call(item(key))));
    expect(results).toEqual(["did a", "did b", "did c"]);
    expect(batches).toEqual([["a", "b", "c"]]);
  });

  it("does not hold back a lone call", async () => {
    const { batches, coalescer } = stage();
    expect(await coalescer.call(item("a"))).toBe("did a");
    expect(await coalescer.call(item("b"))).toBe("did b");
    expect(batches).toEqual([["a"], ["b"]]);
  });

  it("gathers what comes while a batch is under way, up to the bounds", async () => {
    const { batches, coalescer, open } = stage({}, true);
    const first = coalescer.call(item("a"));
    await new Promise(setImmediate);
    const rest = ["b", "c", "d", "e"].map((key) => coalescer.call(item(key)));
    open();
    await Promise.all([first, ...rest]);
    expect(batches).toEqual([["a"], ["b", "c", "d"], ["e"]]);
  });

  it("bounds a batch by size, and lets one larger item go alone", async () => {
    const { batches, coalescer } = stage();
    await Promise.all([coalescer.call(item("a", 6)), coalescer.call(item("b", 6)), coalescer.call(item("huge", 99))]);
    expect(batches).toEqual([["a"], ["b"], ["huge"]]);
  });

  it("never has one key twice in a batch or under way, and keeps its calls in order", async () => {
    const { batches, coalescer, open } = stage({ maxInFlight: 2 }, true);
    const calls = ["a", "a", "b", "a"].map((key) => coalescer.call(item(key)));
    await new Promise(setImmediate);
    expect(batches).toEqual([["a", "b"]]);
    open();
    await Promise.all(calls);
    expect(batches).toEqual([["a", "b"], ["a"], ["a"]]);
  });

  it("fails one bad item of a batch and not its neighbours", async () => {
    const { batches, coalescer } = stage({
      runBatch: async (items) => {
        batches.push(items.map(({ key }) => key));
        if (items.some(({ key }) => key === "bad")) throw new Error("poisoned");
        return items.map(({ key }) => `did ${key}`);
      },
    });
    const results = await Promise.allSettled(["a", "bad", "c"].map((key) => coalescer.call(item(key))));
    expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(batches).toEqual([["a", "bad", "c"], ["a"], ["bad"], ["c"]]);
  });

  it("fails the whole batch, once, where the fault is not an item's", async () => {
    let runs = 0;
    const { coalescer } = stage({
      runBatch: async () => {
        runs += 1;
        throw new Error("no database");
      },
      isItemsFault: () => false,
    });
    const results = await Promise.allSettled(["a", "b"].map((key) => coalescer.call(item(key))));
    expect(results.map((result) => result.status)).toEqual(["rejected", "rejected"]);
    expect(runs).toBe(1);
  });

  it("drains: waits for what was called, and is done at once where nothing was", async () => {
    const { batches, coalescer } = stage();
    await coalescer.drain();
    const calls = ["a", "b", "c", "d"].map((key) => coalescer.call(item(key)));
    await coalescer.drain();
    expect(batches.flat()).toEqual(["a", "b", "c", "d"]);
    await Promise.all(calls);
  });
});
