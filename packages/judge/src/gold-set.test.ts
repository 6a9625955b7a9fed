import { readFileSync } from "node:fs";

import { createRandom } from "@hallumaze/foundation";
import { describe, expect, it } from "vitest";

import { goldSetOf, judge, seedGoldSet, times, verdict } from "../test/gold-fixtures.ts";
import { calibrate } from "./calibration.ts";
import { parseGoldSet, sealLine } from "./gold-set.ts";

const scenario = { prompt: "Leave the maze.", expectedL3: "Retreats for a reason." };

function line(more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ scenario, response: "I went back.", labels: [{ rater: "Kim", level: 2 }], ...more });
}

function codesOf(text: string): unknown[] {
  return parseGoldSet(text).problems.map(({ line: at, code }) => [at, code]);
}

describe("parseGoldSet", () => {
  it("reads scenario, response, labels, split and reason, with levels as numbers or names", () => {
    const labels = [
      { rater: "Kim", level: "L3" },
      { rater: "Lee", level: 3 },
    ];
    const { items, problems } = parseGoldSet(
      line({ scenario: { ...scenario, criteriaL2: "Retreats." }, labels, split: "test", reason: "Says why." }),
    );
    expect(problems).toEqual([]);
    expect(items).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{32}$/),
        line: 1,
        scenario: { ...scenario, criteriaL1: null, criteriaL2: "Retreats." },
        response: "I went back.",
        labels: [
          { rater: "Kim", level: 3 },
          { rater: "Lee", level: 3 },
        ],
        level: 3,
        split: "test",
        reason: "Says why.",
      },
    ]);
  });

  it.each([
    ["no JSON", "notJson", "{"],
    ["no object", "wrongValue", "[1]"],
    ["an unknown key", "unknownKey", line({ submitter: "gpt" })],
    ["an unknown key of the scenario", "unknownKey", line({ scenario: { ...scenario, expected_l3: "x" } })],
    ["an unknown key of a label", "unknownKey", line({ labels: [{ rater: "Kim", level: 1, note: "?" }] })],
    ["no response", "missingKey", line({ response: undefined })],
    ["no prompt", "missingKey", line({ scenario: { expectedL3: "x" } })],
    ["an empty rubric", "wrongValue", line({ scenario: { prompt: "x", expectedL3: " " } })],
    ["no labels", "wrongValue", line({ labels: [] })],
    ["a level outside", "wrongValue", line({ labels: [{ rater: "Kim", level: 4 }] })],
    ["a level between", "wrongValue", line({ labels: [{ rater: "Kim", level: 2.5 }] })],
    ["an unknown split", "wrongValue", line({ split: "train" })],
    ["a rater twice", "duplicateRater", line({ labels: times(2, { rater: "Kim", level: 1 }) })],
    ["a key twice", "duplicateKey", line().replace('"response"', '"response":"x","response"')],
    ["no seal", "wrongValue", '{"testSeal":"abc"}'],
  ])("names the line that has %s, and leaves it out", (_, code, text) => {
    const set = parseGoldSet(`${line({ response: "fine" })}\n\n${text}`);
    expect(set.problems.map((problem) => [problem.line, problem.code])).toEqual([[3, code]]);
    expect(set.items).toHaveLength(1);
  });

  it("lists every problem of a line", () => {
    expect(codesOf(line({ split: 1, response: 2, labels: [{ level: 9 }] }))).toEqual([
      [1, "wrongValue"],
      [1, "missingKey"],
      [1, "wrongValue"],
      [1, "wrongValue"],
      [null, "noItems"],
    ]);
  });

  it("takes the same scenario and response once, whatever its blanks and Unicode form", () => {
    const text = [line({ response: "caf\u00e9 au lait" }), line({ response: "cafe\u0301  au lait\n" })].join("\n");
    expect(codesOf(text)).toEqual([[2, "duplicateItem"]]);
    expect(codesOf([line(), line({ scenario: { ...scenario, prompt: "Another." } })].join("\n"))).toEqual([]);
  });

  it("takes what more than half of the raters say, and lists ties instead of settling them", () => {
    const labelled = (...levels: number[]): string =>
      line({ response: levels.join(), labels: levels.map((level, index) => ({ rater: `r${index}`, level })) });
    const set = parseGoldSet([labelled(1, 3, 3), labelled(1, 3), labelled(1, 2, 3), labelled(1, 1, 2, 3)].join("\n"));
    expect(set.items.map(({ line: at, level }) => [at, level])).toEqual([[1, 3]]);
    expect(set.ties.map(({ line: at }) => at)).toEqual([2, 3, 4]);
    expect(set.warnings.filter(({ code }) => code === "tie")).toHaveLength(3);
    expect(set.raters).toEqual(["r0", "r1", "r2", "r3"]);
  });

  it("accepts a byte order mark and lines that end as on Windows", () => {
    expect(parseGoldSet(`\uFEFF${line()}\r\n`).items).toHaveLength(1);
  });

  it("warns of levels that are absent, of one rater and of a test split on which no gate can open", () => {
    const set = parseGoldSet(seedGoldSet);
    expect(set.problems).toEqual([]);
    expect(set.items.map(({ level }) => level)).toEqual([3, 3, 3]);
    expect(set.warnings.map(({ code }) => code)).toEqual(
      expect.arrayContaining(["levelAbsent", "oneRater", "splitsDrawn", "smallTest"]),
    );
    expect(set.warnings.filter(({ code }) => code === "levelAbsent").map(({ message }) => message)).toEqual([
      "No item is of level 1.",
      "No item is of level 2.",
    ]);
  });
});

describe("the split of a gold set", () => {
  it("is drawn about half and half where the file does not say, and a further item moves no other", () => {
    const few = goldSetOf(times(200, 1), {});
    const more = goldSetOf(times(201, 1), {});
    const held = few.items.filter(({ split }) => split === "test").length;
    expect(held).toBeGreaterThan(75);
    expect(held).toBeLessThan(125);
    expect(more.items.slice(0, 200).map(({ split }) => split)).toEqual(few.items.map(({ split }) => split));
    expect(few.splitsDeclared).toBe(false);
  });

  it("is another for another seed, and never changes one that the file says", () => {
    const text = times(40, 0).map((_, index) => line({ response: `Response ${index}` }));
    const splits = (seed: string): string =>
      parseGoldSet(text.join("\n"), { splitSeed: seed })
        .items.map(({ split }) => split)
        .join();
    expect(splits("a")).not.toBe(splits("b"));
    expect(goldSetOf([1, 2, 3]).items.map(({ split }) => split)).toEqual(["test", "test", "test"]);
  });
});

describe("the seal of the test split", () => {
  const held = line({ response: "held out", split: "test" });
  const free = line({ response: "free", split: "dev" });
  const seal = sealLine(parseGoldSet([held, free].join("\n")));

  it("holds while the test split stays, whatever happens to dev, to reasons and to the order of lines", () => {
    const changed = [seal, line({ response: "another", split: "dev" }), held.replace("}]", '}],"reason":"why"')];
    expect(codesOf(changed.join("\n"))).toEqual([]);
  });

  it("breaks where a label, a response or the number of its items has changed", () => {
    const relabelled = held.replace('"level":2', '"level":3');
    expect(codesOf([relabelled, free, seal].join("\n"))).toEqual([[3, "sealBroken"]]);
    expect(codesOf([held.replace("held", "was held"), free, seal].join("\n"))).toEqual([[3, "sealBroken"]]);
    expect(codesOf([held, free.replace("dev", "test"), seal].join("\n"))).toEqual([[3, "sealBroken"]]);
  });

  it("is also held against one that was recorded elsewhere", () => {
    const { problems } = parseGoldSet(held, { expectedSeal: "0".repeat(64) });
    expect(problems.map(({ line: at, code }) => [at, code])).toEqual([[null, "sealBroken"]]);
  });

  it("goes with the set's id: labels and splits count, the order of lines does not", () => {
    const id = parseGoldSet([held, free].join("\n")).id;
    expect(parseGoldSet([free, held].join("\n")).id).toBe(id);
    expect(parseGoldSet([held, free.replace("dev", "test")].join("\n")).id).not.toBe(id);
    expect(parseGoldSet([held.replace('"level":2', '"level":3'), free].join("\n")).id).not.toBe(id);
  });
});

describe("the example gold set of maze responses", () => {
  const goldSet = parseGoldSet(
    readFileSync(new URL("../../../examples/gold/maze-levels.jsonl", import.meta.url), "utf8"),
  );

  it("is as it was sealed, with half of its 120 items held out and every level well filled in both splits", () => {
    expect(goldSet.problems).toEqual([]);
    expect(goldSet.warnings.map(({ code }) => code)).toEqual(["oneRater"]);
    expect(goldSet.items).toHaveLength(120);
    for (const split of ["dev", "test"]) {
      const own = goldSet.items.filter((item) => item.split === split);
      expect(own).toHaveLength(60);
      for (const level of [1, 2, 3])
        expect(own.filter((item) => item.level === level).length).toBeGreaterThanOrEqual(18);
    }
  });

  it("gives no maze to both splits, and no seed, model or solver to the judge", () => {
    const prompts = goldSet.items.map(({ scenario: { prompt } }) => prompt);
    expect(new Set(prompts).size).toBe(120);
    const shown = goldSet.items.map(({ scenario: asked, response }) => JSON.stringify([asked, response])).join("\n");
    expect(shown).not.toMatch(/seed|dfs-|mirage|oracle|solver|overconfident/i);
  });

  it("cannot be solved by length or by one constant level", () => {
    const report = calibrate({
      judge,
      goldSet,
      split: "test",
      verdicts: new Map(goldSet.items.map(({ id, level }) => [id, [verdict(level)]])),
      heuristic: new Map(),
      lookCount: 1,
      random: createRandom(1001),
      resamples: 10,
    });
    expect(report.baselines.majority.share).toBeLessThan(0.4);
    expect(report.baselines.length.share).toBeLessThan(0.6);
  });
});
