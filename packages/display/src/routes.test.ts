import fc from "fast-check";
import { expect, it } from "vitest";

import { readRoute, type Route, routeAddress } from "./routes.ts";

const routes: readonly Exclude<Route, { view: "unknown" }>[] = [
  { view: "sweeps" },
  { view: "sweep", name: "a/b 밤 ?#%", tab: "grid" },
  { view: "sweep", name: "overnight", tab: "lanes" },
  { view: "trial", id: "t1", beside: null, sweep: null },
  { view: "trial", id: "human-7", beside: "t2", sweep: "a&b=c" },
  { view: "judge" },
  { view: "label", set: "set one" },
  { view: "walk" },
];

it.each(routes)("the address of $view leads back to it", (route) => {
  expect(readRoute(routeAddress(route))).toEqual(route);
});

it("no address throws, whatever is typed", () => {
  fc.assert(
    fc.property(fc.string(), (typed) => {
      expect(readRoute(`#/${typed}`).view).not.toBe("");
    }),
  );
});

it("a tab or a view that does not exist is said to be unknown", () => {
  expect([readRoute("#/sweeps/x/nothing"), readRoute("#/nowhere"), readRoute("#/label")]).toEqual(
    Array.from({ length: 3 }, () => ({ view: "unknown" })),
  );
});
