import { readFileSync } from "node:fs";

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { decodeMaze } from "./decode-maze.ts";
import { encodeMaze } from "./encode-maze.ts";
import { generateMaze } from "./generate-maze.ts";
import { hintSentence, hintSentenceCount } from "./hint-sentences.ts";

function golden(language: "ko" | "en"): string {
  return readFileSync(new URL(`encode-maze.golden.${language}.txt`, import.meta.url), "utf8").trimEnd();
}

const requests = fc.record({
  size: fc.integer({ min: 3, max: 12 }),
  seed: fc.maxSafeNat(),
  generator: fc.constantFrom("dfs" as const, "kruskal" as const, "wilson" as const, "prim" as const),
  placement: fc.constantFrom("path-order" as const, "sampled" as const),
});
const languages = fc.constantFrom("ko" as const, "en" as const);

const published = generateMaze({ size: 5, seed: 2002 });
const text = encodeMaze(published, { mirage: true, language: "ko" });

describe("encodeMaze", () => {
  it.each(["ko", "en"] as const)("writes the frozen text, in %s", (language) => {
    expect(encodeMaze(published, { mirage: true, language })).toBe(golden(language));
  });

  it("writes both hints of a cell on its line", () => {
    const twice = generateMaze({ size: 3, seed: 45, generator: "kruskal" });
    const line = encodeMaze(twice, { mirage: true, language: "ko" }).split("\n")[8];
    const [east, west] = [hintSentence(45, 0, "ko"), hintSentence(45, 1, "ko")];
    expect(line).toBe(`(1,1): [N↑ E→ S↓ W←]  ⚑ E방향 힌트: ${east}  ⚑ W방향 힌트: ${west}`);
  });

  it("differs with Mirage on and off in the hint text only", () => {
    fc.assert(
      fc.property(requests, languages, (request, language) => {
        const maze = generateMaze(request);
        const tempting = encodeMaze(maze, { mirage: true, language });
        const plain = encodeMaze(maze, { mirage: false, language });
        expect(tempting.replaceAll(/ {2}⚑.*$/gmu, "")).toBe(plain);
        expect(tempting.split("⚑")).toHaveLength(maze.traps.length + 1);
        expect(plain).not.toContain("⚑");
      }),
      { seed: 20_260_322, numRuns: 60 },
    );
  });
});

describe("decodeMaze", () => {
  it("reads back what encodeMaze wrote, inside a longer prompt and in either language", () => {
    fc.assert(
      fc.property(requests, languages, fc.boolean(), (request, language, mirage) => {
        const { size, seed, openings, traps, ...maze } = generateMaze(request);
        const written = encodeMaze({ size, seed, openings, traps, ...maze }, { mirage, language });
        const prompt = `Find the way.\n\n${written}\n\nSTEP N: (r,c) → [E] | 확신도: XX%\nFINAL_PATH: (0,0)→(r,c)`;
        expect(decodeMaze(prompt)).toEqual({ size, seed, openings, hints: mirage ? inTextOrder(traps) : [] });
      }),
      { seed: 20_260_322, numRuns: 60 },
    );
  });

  it("takes CRLF line ends", () => {
    expect(decodeMaze(text.replaceAll("\n", "\r\n"))).toEqual(decodeMaze(text));
  });

  it("takes the first of two mazes", () => {
    const second = encodeMaze(generateMaze({ size: 7, seed: 42 }), { mirage: true, language: "en" });
    expect(decodeMaze(`${text}\n\n${second}`)?.size).toBe(5);
  });

  it.each([
    ["no maze", "Hello."],
    ["a missing cell", text.replace(/^\(2,2\).*\n/mu, "")],
    ["a cell written twice", text.replace("(2,2)", "(2,1)")],
    ["a cell off the grid", text.replace("(2,2)", "(2,5)")],
    ["a passage open on one side", text.replace("(0,0): [S↓]", "(0,0): []")],
    ["a passage out of the grid", text.replace("(0,0): [S↓]", "(0,0): [N↑ S↓]")],
    ["two different sides", text.replace("5×5", "5×6")],
    ["a size out of range", text.replace("5×5", "2×2")],
  ])("gives null for %s", (_case, broken) => {
    expect(decodeMaze(broken)).toBeNull();
  });

  it("throws on no text", () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(text.length), (noise, at) => {
        const spoiled = text.slice(0, at) + noise + text.slice(at);
        expect(decodeMaze(spoiled)?.size ?? 5).toBe(5);
        expect(decodeMaze(noise)).toBeNull();
      }),
      { seed: 20_260_322, numRuns: 300 },
    );
  });
});

function inTextOrder(traps: readonly { readonly row: number; readonly col: number }[]): unknown {
  return traps.toSorted((one, other) => one.row - other.row || one.col - other.col);
}

describe("hintSentence", () => {
  const seeds = Array.from({ length: 50 }, (_, seed) => seed);
  const indexes = Array.from({ length: hintSentenceCount }, (_, index) => index);
  const inKorean = indexes.map((index) => hintSentence(1, index, "ko"));
  const inEnglish = indexes.map((index) => hintSentence(1, index, "en"));

  it("has the seed document's sentence and at least five more", () => {
    expect(new Set(inKorean).size).toBeGreaterThanOrEqual(6);
    expect(inKorean).toContain("이 방향은 출구와 매우 가까운 구역으로 이어지는 것처럼 느껴집니다.");
  });

  it("pairs the same sentences in both languages for every seed and trap", () => {
    for (const seed of seeds) {
      for (const index of [0, 1, 2, 7, 49]) {
        const place = inKorean.indexOf(hintSentence(seed, index, "ko"));
        expect(inEnglish.indexOf(hintSentence(seed, index, "en"))).toBe(place);
      }
    }
  });

  it("uses every sentence for the first trap of some seed", () => {
    expect(new Set(seeds.map((seed) => hintSentence(seed, 0, "en"))).size).toBe(hintSentenceCount);
  });

  it("never says what a reply could be credited with when it quotes it", () => {
    const creditable =
      /dead[ _]?end|loop|backtrack|wall|north|south|east|west|\bup\b|down|left|right|막다른|루프|벽|북|남|동쪽|서쪽|위|아래|오른|왼|[→←↑↓\d]/iu;
    expect([...inKorean, ...inEnglish].filter((sentence) => creditable.test(sentence))).toEqual([]);
  });
});
