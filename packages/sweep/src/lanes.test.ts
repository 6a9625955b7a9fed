import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { laneName } from "./lanes.ts";

const plain = (model: string): string => laneName({ provider: "openai", model, baseUrl: null, laneOverride: null });

describe("laneName", () => {
  it("keeps a safe name as it is", () => {
    expect(plain("gpt-4o_mini.1")).toBe("openai.gpt-4o_mini.1");
  });

  it("makes slashes and colons safe, with a hash that keeps two such models apart", () => {
    expect(plain("llama3.1:70b")).toMatch(/^openai\.llama3\.1-70b-[0-9a-f]{12}$/);
    expect(plain("a/b")).not.toBe(plain("a:b"));
  });

  it("gives a server of one's own a lane of its own", () => {
    const lane = (baseUrl: string | null): string =>
      laneName({ provider: "openai", model: "m", baseUrl, laneOverride: null });
    expect(new Set([lane(null), lane("http://a/v1"), lane("http://b/v1")]).size).toBe(3);
  });

  it("keeps a model whose name imitates another's hashed lane apart", () => {
    expect(plain(plain("a/b").slice("openai.".length))).not.toBe(plain("a/b"));
  });

  it("is safe for a queue name and distinct for distinct models (property)", () => {
    const name = fc.string({
      unit: fc.constantFrom("a", "-", "/", ":", ".", "_", "0", "한"),
      minLength: 1,
      maxLength: 90,
    });
    fc.assert(
      fc.property(name, name, (a, b) => {
        expect(plain(a)).toMatch(/^[A-Za-z0-9_.-]{1,100}$/);
        expect(plain(a) === plain(b)).toBe(a === b);
      }),
      { seed: 1001, numRuns: 500 },
    );
  });
});
