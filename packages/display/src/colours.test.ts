import { expect, it } from "vitest";

import {
  contrast,
  inkOn,
  luminance,
  stateColours,
  stateSigns,
  unknownColours,
  valueColour,
  valueColours,
} from "./colours.ts";

it.each(["light", "dark"] as const)("on %s, states differ in lightness or carry different signs", (theme) => {
  const states = Object.entries(stateColours[theme]);
  const alike = states.flatMap(([one, colour], at) =>
    states
      .slice(at + 1)
      .filter(
        ([other, another]) => contrast(colour, another) < 1.15 && (stateSigns[one] ?? "") === (stateSigns[other] ?? ""),
      )
      .map(([other]) => `${one} ${other}`),
  );
  expect(alike).toEqual([]);
});

it.each(["light", "dark"] as const)("on %s, a sign on a state's fill has a contrast of 4.5 or more", (theme) => {
  const weak = Object.entries(stateColours[theme]).filter(([, fill]) => contrast(inkOn(fill), fill) < 4.5);
  expect(weak).toEqual([]);
});

it("values grow lighter evenly, so that the scale reads in grey too", () => {
  const lights = valueColours.map(luminance);
  expect(lights).toEqual(lights.toSorted((one, other) => one - other));
});

it("a value outside the bounds takes the nearest end, and one that is not known the page's ground", () => {
  const bounds = { min: 0, max: 1 };
  expect(valueColour(-3, bounds, "light")).toBe(valueColours[0]);
  expect(valueColour(9, bounds, "light")).toBe(valueColours.at(-1));
  expect(valueColour(null, bounds, "dark")).toBe(unknownColours.dark);
});
