import { expect, it } from "vitest";

import { isStale, readAgainAfterMs, reconnectDelayMs, staleAfter } from "./live-updates.ts";

const sweepChanged = staleAfter({ event: "sweep", data: '{"name":"night 1","version":"7","gone":false}' });

it("a changed sweep makes the list, itself and all below it stale, and no other sweep", () => {
  const paths = [
    "/api/sweeps",
    "/api/sweeps/night%201",
    "/api/sweeps/night%201/grid?metric=state",
    "/api/sweeps/night%2010",
  ];
  expect(paths.map((path) => sweepChanged !== null && isStale(sweepChanged, path))).toEqual([true, true, true, false]);
});

it("a hello that asks for it makes everything stale, another nothing", () => {
  expect(staleAfter({ event: "hello", data: '{"version":"1","refresh":true}' })).toEqual({ kind: "all" });
  expect(staleAfter({ event: "hello", data: '{"version":"1","refresh":false}' })).toBeNull();
});

it("an event that is unknown or cannot be read changes nothing", () => {
  expect([staleAfter({ event: "sweep", data: "{" }), staleAfter({ event: "x", data: "{}" })]).toEqual([null, null]);
});

it("waits between tries double to ten seconds, with a quarter of chance either way", () => {
  expect([0, 1, 4, 99].map((failures) => reconnectDelayMs(failures, 0.5))).toEqual([500, 1000, 8000, 10_000]);
  expect([reconnectDelayMs(0, 0), reconnectDelayMs(0, 1)]).toEqual([375, 625]);
});

it("what is worked out from a whole sweep is read again less often than what is looked up", () => {
  const below = (part: string) => readAgainAfterMs(`/api/sweeps/night${part}`);
  expect(
    ["", "/grid?metric=state", "/leaderboard?profile=seed", "/compare?a=x", "/experiments/models"].map(below),
  ).toEqual([900, 3000, 15_000, 15_000, 60_000]);
});
