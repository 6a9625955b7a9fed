import { createRandom } from "@hallumaze/foundation";
import { describe, expect, it } from "vitest";

import { countCells, expandCells } from "./expand-cells.ts";
import { parseSeedConfig, specFromSeedOptions } from "./seed-command.ts";
import { SpecError } from "./spec-error.ts";

const models = ["sim/oracle"];
const tools = (): { random: ReturnType<typeof createRandom> } => ({ random: createRandom(1) });

describe("specFromSeedOptions", () => {
  it("has the seed's defaults: one 7×7 maze, group A, mirage and confidence on, 2500 tokens", () => {
    const [cell, ...others] = expandCells(specFromSeedOptions({ models }, tools()).spec, { rehearsal: false });
    expect(others).toEqual([]);
    expect(cell?.plan).toMatchObject({
      size: 7,
      group: "A",
      mirage: true,
      confidence: true,
      maxTokens: 2500,
      repeat: 0,
    });
  });

  it("repeats one maze with --seed, and draws new ones each run without", () => {
    const repeated = specFromSeedOptions({ models, runs: 5, seed: 42 }, tools()).spec;
    expect([repeated.seeds, repeated.repeats]).toEqual([[{ first: 42, last: 42 }], 5]);
    const random = createRandom(1);
    const first = specFromSeedOptions({ models, runs: 5 }, { random }).spec;
    const second = specFromSeedOptions({ models, runs: 5 }, { random }).spec;
    expect([countCells(first), first.repeats]).toEqual([5, 1]);
    expect(first.seeds).not.toEqual(second.seeds);
    expect(first.name).not.toBe(second.name);
  });

  it("takes 0 as a seed, and the same options name the same sweep", () => {
    const spec = specFromSeedOptions(
      { models, seed: 0, mirage: false, confidence: false, maxTokens: 50 },
      tools(),
    ).spec;
    expect(spec).toMatchObject({ seeds: [{ first: 0, last: 0 }], mirage: [false], confidence: [false] });
    expect(spec.name).toMatch(/^cli-[0-9a-f]{12}$/);
    expect(specFromSeedOptions({ models, seed: 3 }, tools()).spec.name).toBe(
      specFromSeedOptions({ models, seed: 3 }, tools()).spec.name,
    );
  });

  it.each([
    [{ size: 2 }, "--size"],
    [{ size: Number.NaN }, "--size"],
    [{ runs: 0 }, "--runs"],
    [{ runs: 1e9 }, "--runs"],
    [{ seed: -1 }, "--seed"],
    [{ group: "D" }, "--group"],
    [{ maxTokens: 0 }, "--max-tokens"],
  ])("names the option of %j", (options, path) => {
    const attempt = (): unknown => specFromSeedOptions({ models, ...options }, tools());
    expect(attempt).toThrow(SpecError);
    expect(attempt).toThrow(new RegExp(`^command line ${path}: `));
  });
});

describe("parseSeedConfig", () => {
  it("reads the seed's config.json, with the keys apart from the options", () => {
    const config = parseSeedConfig(
      JSON.stringify({
        maze: { size: 9, use_mirage: false, use_confidence: true, ariadne_mode: "A", max_tokens: 900 },
        providers: [
          { provider: "openai", api_key: " sk-test-0123456789 ", model: "gpt-4o" },
          { provider: "sim", model: "oracle" },
          { provider: "google", api_key: "" },
        ],
      }),
      "config.json",
    );
    expect(config.options).toEqual({ size: 9, mirage: false, confidence: true, group: "A", maxTokens: 900 });
    expect(config.providers).toEqual([
      { provider: "openai", model: "gpt-4o" },
      { provider: "sim", model: "oracle" },
      { provider: "google", model: null },
    ]);
    expect(config.keys).toEqual([{ provider: "openai", apiKey: "sk-test-0123456789" }]);
  });

  it("takes a file without settings", () => {
    expect(parseSeedConfig("{}", "config.json")).toEqual({ options: {}, providers: [], keys: [] });
  });

  it.each([
    ['{"maze": {"sise": 7}}', 'config.json:1:11 maze.sise: unknown key; did you mean "size"?'],
    ['{"maze": {"size": 1}}', "config.json:1:19 maze.size: must be at least 3, got 1"],
    ['{"providers": [{"provider": "openia"}]}', 'did you mean "openai"?'],
    ['{"maze": ', "config.json:1:10: not valid JSON"],
  ])("tells the place of a problem in %s", (text, message) => {
    expect(() => parseSeedConfig(text, "config.json")).toThrow(message);
  });

  it.each([
    '{"providers": [{"provider": "openai", "api_key": 987654321}]}',
    '{"providers": [{"api_key": "hunter2" "x"}]}',
  ])("never shows a key in a message: %s", (text) => {
    const attempt = (): unknown => parseSeedConfig(text, "config.json");
    expect(attempt).toThrow(SpecError);
    expect(attempt).not.toThrow(/987654321|hunter2/);
  });
});
