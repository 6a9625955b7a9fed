import { expect, it } from "vitest";

import type { ReportRow } from "./report-row.ts";
import { missingRow, reportRow } from "./row.fixture.ts";
import { csvOf, trialCsv, trialJsonl, trialJsonLine } from "./trial-export.ts";

it("a line of JSON holds identity, condition, state, every profile's scores and usage", () => {
  const line = JSON.parse(trialJsonLine(reportRow({ readingJson: '{"flags":["capped"]}' })));
  expect(line).toMatchObject({
    cellId: "cell-1",
    sweep: "night",
    provider: "sim",
    model: "oracle",
    seed: 1001,
    size: 5,
    group: "A",
    mirage: true,
    language: "ko",
    confidence: true,
    repeat: 0,
    state: "done",
    outcome: "ok",
    tries: 1,
    judge: null,
    costUsd: null,
    usage: { inputTokens: 900, cachedTokens: null },
    finishedAt: "2026-03-22T14:30:22.000Z",
    reading: { flags: ["capped"] },
  });
  expect(Object.keys(line.scores)).toEqual(["seed", "published", "robust"]);
  expect(line.scores.published.ce).toBeNull();
});

it("a trial without an answer has no scores, not zeros", () => {
  expect(JSON.parse(trialJsonLine(missingRow()))).toMatchObject({
    state: "failed",
    outcome: "timeout",
    scores: {},
    usage: null,
  });
});

it("JSON Lines are one line a trial, whatever stands in a message", async () => {
  const text = await textOf(trialJsonl(pagesOf([[reportRow({ message: "a\nb\u2028c" })], [], [missingRow()]])));
  expect(text.endsWith("\n")).toBe(true);
  const lines = text.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).message)).toEqual(["a\nb\u2028c", null]);
});

it("CSV has one header, and an empty cell for what is unknown", async () => {
  const text = await textOf(trialCsv(pagesOf([[reportRow({ seedScores: { ce: null } })], [missingRow()]])));
  const [header, done, missing, ...rest] = text.split("\n").map((line) => line.split(","));
  const cell = (line: readonly string[] | undefined, column: string) => line?.[header?.indexOf(column) ?? -1];
  expect(header?.slice(0, 4)).toEqual(["cellId", "trialId", "sweep", "alias"]);
  expect(cell(done, "seed_mei")).toBe("0.9");
  expect(cell(done, "seed_ce")).toBe("");
  expect(cell(done, "mirage")).toBe("true");
  expect(cell(missing, "robust_mei")).toBe("");
  expect(cell(missing, "inputTokens")).toBe("");
  expect(rest).toEqual([[""]]);
});

it.each(["=1+1", "+1", "-1+2", "@SUM(A1)", "\t=1", "\r=1"])("a text %j is no formula in a spreadsheet", (text) => {
  expect(
    csvOf([[text]])
      .replace(/^"/, "")
      .startsWith(`'${text}`),
  ).toBe(true);
});

it("a negative number stays a number", () => {
  expect(csvOf([[-1, 0.25, null, false]])).toBe("-1,0.25,,false\n");
});

it("quotes, commas and line breaks keep a cell in one piece", () => {
  expect(csvOf([['say "no", then\nleave']])).toBe('"say ""no"", then\nleave"\n');
});

async function* pagesOf(pages: readonly (readonly ReportRow[])[]): AsyncGenerator<readonly ReportRow[]> {
  yield* pages;
}

async function textOf(parts: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const part of parts) text += part;
  return text;
}
