import { expect, it } from "vitest";

import { createSweepCache } from "./keep-made.ts";

it("makes a sweep's value once a version, however many ask", async () => {
  let made = 0;
  const cache = createSweepCache<number>({ most: 2, freshMs: 0, now: () => 0 });
  const make = async () => ++made;
  expect(await Promise.all([cache.of("a", "1", make), cache.of("a", "1", make)])).toEqual([1, 1]);
  expect(await cache.of("a", "2", make)).toBe(2);
});

it("lets a young value stand for the next version, and no longer", async () => {
  let [made, nowMs] = [0, 0];
  const cache = createSweepCache<number>({ most: 2, freshMs: 100, now: () => nowMs });
  const make = async () => ++made;
  await cache.of("a", "1", make);
  nowMs = 99;
  expect(await cache.of("a", "2", make)).toBe(1);
  nowMs = 100;
  expect(await cache.of("a", "3", make)).toBe(2);
});

it("holds no more than so many, and lets the one asked for longest ago go", async () => {
  let made = 0;
  const cache = createSweepCache<number>({ most: 2, freshMs: 0, now: () => 0 });
  const make = async () => ++made;
  await cache.of("a", "1", make);
  await cache.of("b", "1", make);
  await cache.of("a", "1", make);
  await cache.of("c", "1", make);
  expect([await cache.of("a", "1", make), await cache.of("b", "1", make)]).toEqual([1, 4]);
});

it("does not keep a failure", async () => {
  const cache = createSweepCache<number>({ most: 2, freshMs: 1000, now: () => 0 });
  await expect(cache.of("a", "1", async () => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect(await cache.of("a", "1", async () => 7)).toBe(7);
});

it("gives up what it keeps no longer: what was replaced, and what had to go", async () => {
  const dropped: string[] = [];
  const settings = { most: 1, freshMs: 0, now: () => 0, drop: (value: string) => dropped.push(value) };
  const cache = createSweepCache<string>(settings);
  await cache.of("a", "1", async () => "a1");
  await cache.of("a", "2", async () => "a2");
  await cache.of("b", "1", async () => "b1");
  await expect.poll(() => dropped).toEqual(["a1", "a2"]);
});
