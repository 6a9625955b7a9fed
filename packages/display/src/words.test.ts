import { expect, it } from "vitest";

import { fill, type WordKey, wordOr, words } from "./words.ts";

const keys = Object.keys(words.en) as WordKey[];
const places = (sentence: string) => [...sentence.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).toSorted();

it("both languages have the same keys", () => {
  expect(Object.keys(words.ko).toSorted()).toEqual(Object.keys(words.en).toSorted());
});

it("a sentence has the same places in both languages", () => {
  expect(keys.filter((key) => places(words.en[key]).join() !== places(words.ko[key]).join())).toEqual([]);
});

it("a sentence is empty in both languages or in none", () => {
  expect(keys.filter((key) => (words.en[key] === "") !== (words.ko[key] === ""))).toEqual([]);
});

it("a sentence in Korean has Korean letters, but for names and signs", () => {
  const named =
    /^(?:app\.name|board\.levels|betterSign\..*|profile\.\w+|compare\.difference|exchanges\.number|trial\.figures|mark\.(?:illegal|onRoute)|judge\.quadraticKappa|label\.l[12]|replay\.perSecond|walk\.kept)$/;
  expect(keys.filter((key) => !named.test(key) && !/[가-힣]/.test(words.ko[key]))).toEqual([]);
});

it("places are filled, and one without a value stays to be seen", () => {
  expect(fill("{n} of {of}", { n: 3 })).toBe("3 of {of}");
});

it("a member of a set that this page does not know shows by the service's own word", () => {
  expect([wordOr("ko", "state", "done"), wordOr("ko", "state", "toString"), wordOr("en", "x", "new")]).toEqual([
    "완료",
    "toString",
    "new",
  ]);
});
