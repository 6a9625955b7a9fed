import { readFileSync } from "node:fs";

import { generateMaze } from "@hallumaze/maze";
import { describe, expect, it } from "vitest";

import type { ImportedScores } from "./imported-trial.ts";
import { type ImportRequest, parseImport, problemText } from "./parse-import.ts";

const publishedCsv = readFileSync(new URL("../../metrics/src/published-trials-5x5.csv", import.meta.url), "utf8");
const templates = new URL("../../../examples/imports/", import.meta.url);

describe("published trials", () => {
  it("the public CSV is 30 rows of profile published, with every number as it stands there", () => {
    const { file, rows } = ready(publishedCsv);
    expect(file).toMatchObject({ kind: "published", format: "csv", skipped: [], warnings: [] });
    expect(rows).toHaveLength(30);
    expect(rows[0]).toMatchObject({
      position: 1,
      provider: null,
      model: "glm-4.7",
      size: 5,
      seed: 1001,
      n: 1,
      mirage: null,
      latencyMs: 9450,
      scores: {
        published: { sr: 0, mei: 0.842, ce: 0.85, brs: 0.6667, score: 0.5993, hc: 1, bt: 2, lt: 1, hrr: 1, fhr: null },
      },
    });
    expect(Object.keys(rows[0]?.scores ?? {})).toEqual(["published"]);
  });

  it("the same trials as a JSON list, or in an object around it, are the same rows", () => {
    const [head = "", ...lines] = publishedCsv.trim().split("\n");
    const list = lines.map((line) =>
      Object.fromEntries(line.split(",").map((cell, at) => [head.split(",")[at], at === 0 ? cell : Number(cell)])),
    );
    const scores = ready(publishedCsv).rows.map((row) => row.scores);
    expect(ready(JSON.stringify(list)).rows.map((row) => row.scores)).toEqual(scores);
    expect(ready(JSON.stringify({ trials: list })).rows.map((row) => row.scores)).toEqual(scores);
  });

  it("what a row does not tell is null and never 0", () => {
    const { rows } = ready('[{"model":"m","size":7,"seed":1,"sr":false,"mei":0.5,"ce":null}]');
    expect(rows[0]?.scores.published).toEqual({ ...unknown, sr: 0, mei: 0.5 });
    expect(rows[0]).toMatchObject({ latencyMs: null, outcome: null, group: null, language: null });
  });

  it.each(["", "None", "NaN", "null", "-"])("an empty cell written as %j is not told", (cell) => {
    expect(ready(`model,size,seed,sr,mei,ce\nm,5,1,1,0.9,${cell}\n`).rows[0]?.scores.published?.ce).toBeNull();
  });

  it("a row with an error keeps its place and has no scores, whatever zeros stand in it", () => {
    const { rows, file } = ready('[{"model":"m","size":7,"seed":1,"sr":0,"mei":0,"error":"timeout"}]');
    expect(rows[0]).toMatchObject({ outcome: "error", scores: { published: unknown } });
    expect(file.warnings).toEqual(["row 1: an error stands there: the rows are kept without scores"]);
  });

  it("names the model of rows that name none", () => {
    expect(refused("size,seed,sr,mei\n5,1,1,0.9\n")).toEqual(["line 2, record 1: model: is missing; or give --model"]);
    expect(ready("size,seed,sr,mei\n5,1,1,0.9\n", { model: "glm" }).rows[0]?.model).toBe("glm");
  });

  it("says where numbers do not follow from each other, or the maze is not ours", () => {
    const changed = publishedCsv.replace(",0.5993,", ",0.9,").replace(",13,3\n", ",14,3\n");
    expect(ready(changed).file.warnings).toEqual([
      "row 1: hallumaze_score is not 0.5 mei + 0.3 (1 - ce) + 0.2 brs",
      "row 1: solution_length or dead_ends are not those of our maze of this size and seed",
    ]);
  });
});

describe("the original program's output", () => {
  const run = {
    hallumaze_version: "1.1",
    maze: { size: 7, seed: 42813, solution_length: 18 },
    config: { use_mirage: true, use_confidence: false, ariadne_mode: "B" },
    results: [
      { provider: "anthropic", model: "claude", sr: 1.0, mei: 0.847, ce: 0.142, first_hallucination_step: 5 },
      { provider: "openai", model: "gpt", sr: null, mei: null, outcome: "timeout" },
    ],
  };

  it("gives a row a result, with the maze and the condition of its run", () => {
    const { file, rows } = ready(JSON.stringify(run));
    expect(file.kind).toBe("seed");
    expect(rows).toMatchObject([
      { position: 1, model: "claude", size: 7, seed: 42813, group: "B", mirage: true, confidence: false },
      { position: 2, model: "gpt", outcome: "timeout", scores: { published: unknown } },
    ]);
    expect(rows[0]?.scores.published).toEqual({ ...unknown, sr: 1, mei: 0.847, ce: 0.142, fhr: 5 });
    expect(JSON.parse(rows[1]?.recordJson ?? "")).toMatchObject({ maze: run.maze, result: run.results[1] });
  });

  it("a list of runs goes on counting, and a bad result is named by its run's line and its own place", () => {
    const runs = [run, { ...run, results: [{ model: "x", sr: 2, mei: 0.1 }] }];
    expect(ready(JSON.stringify([run, run])).rows.map(({ position }) => position)).toEqual([1, 2, 3, 4]);
    expect(refused(`[${runs.map((one) => JSON.stringify(one)).join(",\n")}]`)).toEqual([
      "line 2, record 2: results[0].sr: expected 0 or 1; got 2",
    ]);
  });
});

describe("people", () => {
  it("means of a group, as the original document writes them: n from the name, no deviation", () => {
    const human = { provider: "human", model: "undergraduate_group_n30", maze_size: 7, ariadne_group: "A" };
    const { file, rows } = ready(JSON.stringify({ ...human, sr: 0.73, mei: 0.61, hallucination_count: 2.1 }));
    expect(file.kind).toBe("humanAggregate");
    expect(rows).toMatchObject([{ n: 30, size: 7, seed: null, group: "A", deviations: null }]);
    expect(rows[0]?.scores).toEqual({ published: { ...unknown, sr: 0.73, mei: 0.61, hc: 2.1 } });
  });

  it("deviations stand beside their means, as columns or as objects", () => {
    const csv = ready("model,n,size,mei,mei_sd\nadults,12,5,0.7,0.2\n").rows[0];
    const json = ready('[{"model":"adults","n":12,"size":5,"mei":{"mean":0.7,"sd":0.2}}]').rows[0];
    expect(csv).toMatchObject({ n: 12, deviations: { ...unknown, mei: 0.2 } });
    expect(json).toMatchObject({ n: 12, deviations: { ...unknown, mei: 0.2 } });
  });

  it("a mean of nobody, or without any mean, is refused", () => {
    expect(refused('{"provider":"human","size":7,"mei":0.5}')).toEqual([
      "line 1, record 1: n: is missing: how many people the means are of",
    ]);
    expect(refused('{"provider":"human","size":7,"n":3}')[0]).toContain("holds no mean");
  });

  it("a person's log is read, walked and scored as a model's reply", () => {
    const maze = generateMaze({ size: 5, seed: 1001 });
    const attempts = maze.solution.slice(1).map((to, at) => ({ from: maze.solution[at] ?? to, to }));
    const log = attempts.map(({ from, to }, at) => `STEP ${at + 1}: (${from.join()}) → (${to.join()})`).join("\n");
    const path = `FINAL_PATH: ${maze.solution.map((cell) => `(${cell.join()})`).join("→")}`;
    const { file, rows } = ready(
      JSON.stringify([{ participant: "P1", size: 5, seed: 1001, mirage: true, log: `${log}\n${path}` }]),
    );
    expect(file.kind).toBe("humanLog");
    expect(rows[0]).toMatchObject({ provider: "human", model: "human", participant: "P1", outcome: "ok", n: 1 });
    expect(rows[0]?.scores.seed).toMatchObject({ sr: 1, hc: 0, mei: 0.9 });
    expect(rows[0]?.scores.robust?.sr).toBe(1);
    expect(rows[0]?.logText).toContain("FINAL_PATH");
    expect(rows[0]?.recordJson).not.toContain("FINAL_PATH");
  });

  it("a log that is no walk is a non-answer with SR 0, as a model's would be", () => {
    const { rows } = ready("participant,size,seed,mirage,log\nP1,5,1001,no,I gave up\n");
    expect(rows[0]).toMatchObject({ outcome: "parse_failed", mirage: false, scores: { seed: { sr: 0, mei: 0 } } });
  });

  it("a log in several lines of a CSV cell is one row, and later rows keep their line", () => {
    const csv = 'participant,size,seed,mirage,log\nP1,5,1001,no,"STEP 1: (0,0) → E\nSTEP 2: (0,1) → S"\nP2,5,x,no,a\n';
    expect(refused(csv)).toEqual(['line 4, record 2: seed: expected a whole number of 0 or more; got "x"']);
  });

  it.each(["human-means.csv", "human-means.json", "human-logs.csv", "human-logs.json"])(
    "the template %s can be imported as it is",
    (name) => {
      const { rows } = ready(readFileSync(new URL(name, templates), "utf8"));
      expect(rows.length).toBeGreaterThan(1);
    },
  );
});

describe("bad files", () => {
  const csv = "model,size,seed,sr,mei\nm,5,1,1,0.9\nm,5,2,1,high\nm,200,3,5,0.2\nm,5\n";
  const sentences = [
    "line 5, record 4: has 2 cells, the header 5",
    'line 3, record 2: mei: expected a number from -0.1 to 1; got "high"',
    'line 4, record 3: size: expected a whole number from 3 to 101; got "200"',
    'line 4, record 3: sr: expected 0 or 1; got "5"',
  ];

  it("every bad row is named with line and field, and nothing is imported", () => {
    expect(refused(csv)).toEqual(sentences);
  });

  it("with skipBad the good rows are imported and the others listed; bad rows alone are refused", () => {
    const { file, rows } = ready(csv, { skipBad: true });
    expect(rows.map(({ seed }) => seed)).toEqual([1]);
    expect(file.skipped).toEqual(sentences);
    expect(parseImport(request("model,size,seed,sr,mei\nm,5,1,1,x\n", { skipBad: true })).kind).toBe("refused");
  });

  it("the line of a bad JSON record is the line where it begins", () => {
    const text =
      '[\n  {"model": "m", "size": 5, "seed": 1, "sr": 1, "mei": 0.9},\n  {"model": "m",\n   "size": 5, "seed": -1, "sr": 1, "mei": 0.9}\n]';
    expect(refused(text)).toEqual(["line 3, record 2: seed: expected a whole number of 0 or more; got -1"]);
  });

  it.each([
    ["", "the file is empty"],
    ["[]", "the list is empty"],
    ["a,b\n", "the file has a header only, and no row"],
    ['[\n{"mei": NaN}]', "line 2: is no JSON"],
    ["[1]", "record 1: is no object"],
    ["a,a\n1,2\n", "line 1: the column a stands twice"],
    ["a,b\n1,2\n", "its kind is not clear"],
    ['a,b\n1,"2\n', "line"],
  ])("%j is refused: %s", (text, words) => {
    expect(refused(text)[0]).toContain(words);
  });

  it("a key that stands twice in one object is refused with its path, or its record left out: which one is meant nobody knows", () => {
    const good = '{"model":"m","size":5,"seed":1,"sr":1,"mei":0.9}';
    const list = `[${good},\n{"model":"m","size":5,"seed":2,"sr":1,"mei":0.1,"mei":0.9},\n{"seed":3,"more":{"a":[{"b":1,"b":1}]}}]`;
    expect(refused(list)).toEqual([
      "line 2, record 2: mei: stands twice in its object: leave one out",
      "line 3, record 3: more.a.0.b: stands twice in its object: leave one out",
    ]);
    const left = parseImport({ ...request(list), skipBad: true });
    expect(left.kind === "ready" && left.rows.map(({ seed }) => seed)).toEqual([1]);
    expect(refused(`{"trials":[${good}],"trials":[]}`)).toEqual([
      "line 1: trials: stands twice in its object: leave one out",
    ]);
    expect(refused(`{"trials":[${good.replace("{", '{"sr":0,')}]}`)).toEqual([
      "line 1, record 1: sr: stands twice in its object: leave one out",
    ]);
  });

  it("bytes that are no UTF-8 are refused, and a byte order mark is not read as a name", () => {
    const result = parseImport({ ...request(""), bytes: new Uint8Array([0xff, 0xfe, 0x41]) });
    expect(result).toMatchObject({ kind: "refused", problems: [{ message: "is no UTF-8 text; save it as UTF-8" }] });
    expect(ready(`\uFEFF${publishedCsv}`).rows).toHaveLength(30);
  });

  it("semicolons and Windows line ends are read too", () => {
    const text = publishedCsv.replaceAll(",", ";").replaceAll("\n", "\r\n");
    expect(ready(text).rows.map(({ scores }) => scores)).toEqual(ready(publishedCsv).rows.map(({ scores }) => scores));
  });

  it.each([
    ["a list in a list and so on, unclosed", "[".repeat(100_000), "is no JSON"],
    ["the same, closed", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, "record 1: is no object"],
    [
      "a field that holds it",
      `[{"model":"m","size":5,"seed":1,"sr":1,"mei":1,"note":${"[".repeat(100_000)}${"]".repeat(100_000)}}, {"seed":1,"sr":1}]`,
      "record 1: has lists or objects in one another, more than 100 deep",
    ],
  ])("what nests without end is refused: %s", (_, text, words) => {
    expect(refused(text)[0]).toContain(words);
  });

  it("a field that stands twice under its two names is refused where they differ, and read where they do not", () => {
    const row = "5,1,1,0.9,0.8";
    expect(refused(`model,size,seed,sr,mei,score,maze_size,hallumaze_score\nm,${row},7,0.7\n`)).toEqual([
      'line 2, record 1: size: is "5", and "7" as maze_size: leave one out',
      'line 2, record 1: hallumaze_score: is "0.7", and "0.8" as score: leave one out',
    ]);
    expect(ready(`model,size,seed,sr,mei,score,maze_size\nm,${row},5.0\n`).rows[0]?.size).toBe(5);
    expect(ready(`model,size,seed,sr,mei,score,maze_size\nm,${row},\n`).rows[0]?.size).toBe(5);
  });

  it("a name is one line without control characters, whatever the file holds; its own words are kept", () => {
    const name = "two\nlines \u001b[31mred \u202eback\u0000";
    const [row] = ready(JSON.stringify([{ model: name, size: 5, seed: 1, sr: 1, mei: 1 }])).rows;
    expect(row?.model).toBe("two lines  [31mred  back");
    expect(JSON.parse(row?.recordJson ?? "")).toMatchObject({ model: name });
  });

  it("a name that is a list or an object is refused; columns named like parts of the language are kept", () => {
    expect(refused('[{"model":{"a":1},"size":5,"seed":1,"sr":1,"mei":1}]')[0]).toContain("model: expected a name");
    expect(refused('[{"model":["a","b"],"size":5,"seed":1,"sr":1,"mei":1}]')[0]).toContain("model: expected a name");
    const [row] = ready("model,size,seed,sr,mei,constructor,__proto__\nm,5,1,1,0.9,7,8\n").rows;
    expect(row?.recordJson).toContain('"constructor":"7","__proto__":"8"');
  });

  it("the kind that a person names is held to", () => {
    expect(refused(publishedCsv, { as: "seed" })[0]).toContain("other records than --as says");
    expect(refused('{"maze":{"size":5,"seed":1},"results":[]}', { as: "published" })[0]).toContain("other records");
    expect(refused('{"maze":{"size":5,"seed":1},"results":[]}')[0]).toContain("results: holds no result");
  });
});

it("the same bytes and options are the same import; other bytes, kind or model another", () => {
  const keys = [
    ready(publishedCsv),
    ready(publishedCsv),
    ready(publishedCsv, { as: "published" }),
    ready(`${publishedCsv}\n`),
    ready(publishedCsv, { model: "other" }),
  ].map(({ file }) => file.contentKey);
  expect(new Set(keys).size).toBe(3);
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).toBe(keys[0]);
});

const unknown: ImportedScores = {
  sr: null,
  hc: null,
  fhr: null,
  bt: null,
  lt: null,
  hrr: null,
  mei: null,
  ce: null,
  brs: null,
  score: null,
};

function request(text: string, change: Partial<ImportRequest> = {}): ImportRequest {
  return { fileName: "file", bytes: new TextEncoder().encode(text), as: null, model: null, skipBad: false, ...change };
}

function ready(text: string, change: Partial<ImportRequest> = {}) {
  const result = parseImport(request(text, change));
  if (result.kind === "refused") throw new Error(result.problems.map(problemText).join("\n"));
  return result;
}

function refused(text: string, change: Partial<ImportRequest> = {}): readonly string[] {
  const result = parseImport(request(text, change));
  if (result.kind === "ready") throw new Error(`imported ${result.rows.length} rows`);
  return result.problems.map(problemText);
}
