import { expect, it } from "vitest";

import { formatCount, formatDuration, formatMoment, formatNumber, formatShare, formatUsd, unknown } from "./format.ts";

it("what is not known is a dash, never 0", () => {
  expect([
    formatNumber(null, 2, "en"),
    formatCount(null, "ko"),
    formatShare(Number.NaN, "en"),
    formatUsd(null, "en"),
    formatDuration(null, "ko"),
    formatMoment(null, "en"),
    formatMoment("no moment", "en"),
  ]).toEqual(Array.from({ length: 7 }, () => unknown));
});

it("money below a dollar keeps two digits that count", () => {
  expect([0, 0.004_212, 0.31, 6.412_21, 1234.5].map((value) => formatUsd(value, "en"))).toEqual([
    "$0.00",
    "$0.0042",
    "$0.31",
    "$6.41",
    "$1,234.50",
  ]);
});

it("a duration has its two greatest units", () => {
  const ms = [12, 9500, 59_400, 61_000, 7_640_000, 3_600_000, 180_000_000];
  expect(ms.map((value) => formatDuration(value, "en"))).toEqual([
    "12 ms",
    "9.5 s",
    "59 s",
    "1 min 1 s",
    "2 h 7 min",
    "1 h",
    "2 d 2 h",
  ]);
  expect(formatDuration(7_640_000, "ko")).toBe("2 시간 7 분");
});
