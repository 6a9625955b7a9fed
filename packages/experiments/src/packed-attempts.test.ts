import { classifyPatterns, type PatternAttempt } from "@hallumaze/metrics";
import { expect, it } from "vitest";

import { packAttempts, unpackAttempts } from "./packed-attempts.ts";

const attempts: readonly PatternAttempt[] = [
  { confidence: 0.9, correct: true, edge: "0,0E", repeats: false },
  { confidence: null, correct: true, edge: "0,1W", repeats: false },
  { confidence: 0, correct: true, edge: "0,0E", repeats: true },
  { confidence: 1, correct: false, edge: null, repeats: false },
  { confidence: 0.123456789, correct: true, edge: "0,1W", repeats: true },
];

it("packed attempts come back as they were, apart from the names of their edges", () => {
  const unpacked = unpackAttempts(packAttempts(attempts));
  const unnamed = (attempt: PatternAttempt): PatternAttempt => ({ ...attempt, edge: null });
  expect(unpacked.map(unnamed)).toEqual(attempts.map(unnamed));
  expect(unpacked.map(({ edge }) => edge)).toEqual(["1", "2", "1", null, "2"]);
  expect(classifyPatterns(unpacked)).toEqual(classifyPatterns(attempts));
  expect(unpackAttempts(packAttempts([]))).toEqual([]);
});
