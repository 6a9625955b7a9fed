import { describe, expect, it } from "vitest";

import { ink, sequentialColors, seriesColors, seriesDashes, seriesShapes } from "./palette.ts";

type Triple = readonly [number, number, number];

/** Full deuteranopia and protanopia on linear RGB. SOURCE: Machado, Oliveira & Fernandes (2009), severity 1.0. */
const blindness = {
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
} as const;

describe("series are told apart", () => {
  it.each(["deuteranopia", "protanopia"] as const)(
    "by colour under %s: no two are nearer than 15 in CIELAB",
    (kind) => {
      const seen = seriesColors.map((color) => labOf(through(blindness[kind], linear(color))));
      expect(Math.min(...pairs(seen).map(([a, b]) => distance(a, b)))).toBeGreaterThan(15);
    },
  );

  it("by lightness alone for the first four: printed grey they differ by 10 of 100 and more", () => {
    const greys = seriesColors.slice(0, 4).map((color) => labOf(linear(color))[0]);
    expect(Math.min(...pairs(greys).map(([a, b]) => Math.abs(a - b)))).toBeGreaterThan(10);
  });

  it("by shape and by dash for every pair of seven, whatever the colour", () => {
    const series = seriesColors.map((_, at) => [seriesShapes[at], JSON.stringify(seriesDashes[at])]);
    for (const [a, b] of pairs(series)) {
      expect(a[0]).not.toBe(b[0]);
      expect(a[1]).not.toBe(b[1]);
    }
  });

  it("from white paper: contrast of 2 and more, as lines and points need it", () => {
    for (const color of seriesColors) expect(1.05 / (luminance(linear(color)) + 0.05), color).toBeGreaterThan(2);
  });
});

it("the sequential scale darkens step by step, also in grey, and carries dark letters to its end", () => {
  const greys = sequentialColors.map((color) => labOf(linear(color))[0]);
  const steps = greys.slice(1).map((grey, at) => (greys[at] ?? 0) - grey);
  expect(Math.min(...steps)).toBeGreaterThan(6);
  const [darkest, letters] = [sequentialColors.at(-1) ?? "", ink].map((color) => luminance(linear(color)) + 0.05);
  expect((darkest ?? 0) / (letters ?? 1)).toBeGreaterThan(4.5);
});

function pairs<Item>(items: readonly Item[]): (readonly [Item, Item])[] {
  return items.flatMap((a, at) => items.slice(at + 1).map((b) => [a, b] as const));
}

function linear(color: string): Triple {
  const part = (at: number): number => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [part(1), part(3), part(5)];
}

function through(matrix: readonly Triple[], color: Triple): Triple {
  const [red, green, blue] = matrix.map((row) => {
    const mixed = row[0] * color[0] + row[1] * color[1] + row[2] * color[2];
    return Math.min(1, Math.max(0, mixed));
  });
  return [red ?? 0, green ?? 0, blue ?? 0];
}

function luminance([red, green, blue]: Triple): number {
  return 0.2126729 * red + 0.7151522 * green + 0.072175 * blue;
}

/** CIELAB under D65. SOURCE: CIE 15. */
function labOf(color: Triple): Triple {
  const [red, green, blue] = color;
  const bend = (value: number): number => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116);
  const x = bend((0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047);
  const y = bend(luminance(color));
  const z = bend((0.0193339 * red + 0.119192 * green + 0.9503041 * blue) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function distance(a: Triple, b: Triple): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}
