import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { parseSpec } from "./parse-spec.ts";
import { SpecError } from "./spec-error.ts";
import { readSpecText } from "./spec-text.ts";

function problemsOf(text: string, format: "yaml" | "json" = "yaml"): readonly (readonly [number | null, string])[] {
  return readSpecText(text, format).problems.map(({ place, message }) => [place?.line ?? null, message]);
}

describe("readSpecText", () => {
  it("reads anchors and aliases, and finds a value under an alias at its anchor", () => {
    const { value, problems, locate } = readSpecText("a: &x\n  - 1\n  - { b: 2 }\nc: *x\n", "yaml");
    expect(problems).toEqual([]);
    expect(value).toEqual({ a: [1, { b: 2 }], c: [1, { b: 2 }] });
    expect(locate(["c", 1, "b"], false)).toEqual({ line: 3, column: 10 });
    expect(locate(["c", 1, "missing"], false)).toEqual({ line: 3, column: 5 });
    expect(locate(["c"], true)).toEqual({ line: 4, column: 1 });
  });

  it("reads JSON indented by tabs, and a byte order mark before it", () => {
    expect(readSpecText('\uFEFF{\n\t"a": [1,\n\t\t2]\n}', "json")).toMatchObject({
      value: { a: [1, 2] },
      problems: [],
    });
  });

  it.each([
    ["a tab", "a:\n\tb: 1\n", 2, "a tab indents this line"],
    ["an open list", "a: [1, 2\nb: 3\n", 2, "not valid YAML"],
    ["an open quote", 'a: 1\nb: "x\n', 3, "not valid YAML"],
    ["two keys on a line", "a: 1\nb: c: d\n", 2, "a second `key:` on one line"],
    ["a duplicate key", "a: 1\nb: 2\na: 3\n", 3, "this key stands twice"],
    ["a duplicate key inside", "a:\n  b: 2\n  b: 3\n", 3, "this key stands twice"],
    ["a second document", "a: 1\n---\nb: 2\n", 2, "a second one begins here"],
    ["a tag", "a: 1\nb: !!js/function 'x'\n", 2, "tags (!name) have no meaning"],
    ["an alias of nothing", "a: 1\nb: *x\n", 2, "no anchor"],
    ["an alias of itself", "a: &x\n  b: *x\n", 2, "no anchor"],
    ["a key that is a list", "a: 1\n? [b]\n: 2\n", 2, "a key must be plain text"],
    ["a key that sets prototypes", "a: 1\n__proto__: {}\n", 2, "unknown key"],
  ])("tells the line of %s", (_, text, line, message) => {
    const problems = problemsOf(text);
    expect(problems[0]?.[0]).toBe(line);
    expect(problems[0]?.[1]).toContain(message);
  });

  it.each([
    ["nothing", "", "the file is empty"],
    ["blanks", " \n\n", "the file is empty"],
    ["comments", "# one\n# two\n", "only comments"],
    ["bytes of another encoding", "name: caf\uFFFD\n", "not UTF-8"],
    ["a NUL", "name: \u0000\n", "not UTF-8"],
    ["5 MB", `name: x\n${"# filler\n".repeat(555_556)}`, "too large: 5.0 million characters, at most 1.0 million"],
  ])("refuses %s", (_, text, message) => {
    expect(problemsOf(text)).toHaveLength(1);
    expect(problemsOf(text)[0]?.[1]).toContain(message);
  });

  it.each([
    ["a bare key", '{\n"a": 1,\nb: 2}', 3],
    ["an empty value", '{\n"a": }', 2],
    ["single quotes", '{\n"a": 1,\n"b": \'x\'}', 3],
  ])("tells the line of %s in JSON", (_, text, line) => {
    expect(problemsOf(text, "json")).toEqual([[line, expect.stringContaining("not valid JSON")]]);
  });

  it.each([
    ["nested lists", "[".repeat(999_999)],
    ["nested maps", "{a: ".repeat(200_000)],
    ["nested block lists", "- ".repeat(400_000)],
    ["nested explicit keys", "? ".repeat(400_000)],
    ["nested indentation", Array.from({ length: 1200 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n")],
    ["closing brackets", "}".repeat(900_000)],
    ["documents", "a: 1\n---\n".repeat(100_000)],
    ["scalars in a row", "'a' ".repeat(100_000)],
    ["distinct keys", Array.from({ length: 80_000 }, (_, index) => `a${index}: 1`).join("\n")],
    ["equal keys", "a: 1\n".repeat(80_000)],
    [
      "a billion laughs",
      Array.from({ length: 30 }, (_, level) =>
        level === 0 ? "a0: &a0 [x, x]" : `a${level}: &a${level} [*a${level - 1}, *a${level - 1}, *a${level - 1}]`,
      ).join("\n"),
    ],
    ["aliases of a long list", `a: &a [${"1,".repeat(50_000)}]\nb: [${"*a,".repeat(50_000)}]`],
    ["overlapping seeds", `name: x\nmodels: [sim/a]\nsizes: [5]\nseeds: [${'"0..999999",'.repeat(60_000)}]`],
    ["seeds out of range", `name: x\nmodels: [sim/a]\nsizes: [5]\nseeds: [${"-1,".repeat(100_000)}]`],
    ["an endless word", `name: ${"a1".repeat(400_000)}`],
    ["an endless key", `${"a".repeat(900)}: 1\n`.repeat(900)],
  ])(
    "answers a flood of %s soon, with a problem",
    (_, text) => {
      expect(() => parseSpec(text, { fileName: "sweep.yaml" })).toThrow(SpecError);
    },
    20_000,
  );

  it("throws nothing but SpecError, whatever the text (property)", () => {
    const pieces = fc.constantFrom(
      "a",
      ": ",
      "- ",
      "\n",
      "  ",
      "[",
      "]",
      "{",
      "}",
      ",",
      "&a ",
      "*a",
      '"',
      "'",
      "|",
      ">",
    );
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(pieces, { maxLength: 60 }).map((list) => list.join("")),
    );
    fc.assert(
      fc.property(text, fc.constantFrom("x.yaml", "x.json"), (source, fileName) => {
        expect(() => parseSpec(source, { fileName })).toThrow(SpecError);
      }),
      { seed: 2002, numRuns: 1000 },
    );
  }, 20_000);
});
