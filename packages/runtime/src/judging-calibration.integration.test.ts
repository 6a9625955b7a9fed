import { readFile } from "node:fs/promises";

import { type GoldSet, parseGoldSet, promptHash, rubricVersion } from "@hallumaze/judge";
import { calibrateJudge, type CalibrationOutcome, type CalibrationWish } from "@hallumaze/judging";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  answerOf,
  byRule,
  failed,
  type JudgeStage,
  judgedSeed,
  openJudgeStage,
  verdictOn,
} from "../test/judge-stage.ts";
import { createGate } from "../test/worker-stage.ts";
import { judgeModel } from "./judge-catalog.ts";

let stage: JudgeStage;
let example: GoldSet;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  stage = await openJudgeStage(undefined, (close) => void closers.push(close));
  stage.judging({ concurrency: 8 });
  const file = new URL("../../../examples/gold/maze-levels.jsonl", import.meta.url);
  example = parseGoldSet(await readFile(file, "utf8"));
});
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

/** What asks `provider/model` about a gold set's test half, in a lane of its own. */
function wish(
  name: string,
  goldSet: GoldSet,
  more: Partial<CalibrationWish> = {},
  params: object = {},
): CalibrationWish {
  const [provider = "", model = ""] = name.split("/");
  const judge = { ...judgeModel({ provider: provider as "sim", model }, Date.now()), params: { ...params } };
  const lane = `judge.${provider}.${model}`;
  return { judge, lane, promptVersion: "llm-judge-v1", goldSet, split: "test", repeats: 1, generation: 0, ...more };
}

async function run(
  asked: CalibrationWish,
  signal = new AbortController().signal,
): Promise<CalibrationOutcome & { readonly kind: "calibrated" }> {
  const outcome = await calibrateJudge({ store: stage.ledger, queue: stage.queue }, asked, signal);
  if (outcome.kind !== "calibrated") throw new Error(JSON.stringify(outcome));
  return outcome;
}

const key = (judgeModelName: string) => ({
  judgeModel: judgeModelName,
  promptHash: promptHash("llm-judge-v1"),
  rubricVersion,
});

/** A gold set of {@link answerOf}'s answers, one of each of these levels. */
function goldOf(levels: readonly (1 | 2 | 3)[], response = (index: number) => answerOf(index + 1)): GoldSet {
  const lines = levels.map((level, index) =>
    JSON.stringify({
      scenario: { prompt: `Leave the maze ${index}.`, expectedL3: "Retreats for a reason." },
      response: response(index),
      labels: [{ rater: "Kim", level }],
      split: "test",
    }),
  );
  return parseGoldSet(lines.join("\n"));
}

describe("calibrateJudge", () => {
  it("measures the judge on the example set and keeps report and gate; a second run is a second look and asks nothing", async () => {
    const first = await run(wish("sim/judge", example));
    expect(first.report).toMatchObject({ n: 60, split: "test", lookCount: 1 });
    expect(first.costUsd).toBe(0);
    const asked = stage.judges.asked("judge").length;
    expect(asked).toBeGreaterThan(40);
    const kept = await stage.ledger.findCalibration(key("sim/judge"));
    expect(kept).toMatchObject({
      items: 60,
      agreed: first.report.agreement.count,
      open: first.gate.open,
      refusals: first.gate.refusals,
      goldSetId: example.id,
    });
    expect(JSON.parse(kept?.reportJson ?? "")).toEqual(JSON.parse(JSON.stringify(first.report)));
    const second = await run(wish("sim/judge", example));
    expect(stage.judges.asked("judge")).toHaveLength(asked);
    expect(second.report).toEqual({ ...first.report, lookCount: 2 });
    expect(await stage.ledger.countLooks(example.id)).toBe(2);
  });

  it("keeps a judge's other parameters apart: one that errs at 0.3 is asked anew, and the first's figures stay", async () => {
    const sound = await run(wish("sim/judge", example));
    const asked = stage.judges.asked("judge").length;
    const erring = await run(wish("sim/judge", example, {}, { errorRate: 0.3 }));
    expect(stage.judges.asked("judge").length).toBeGreaterThan(asked);
    expect(erring.report.n).toBe(60);
    expect(erring.report.confusion).not.toEqual(sound.report.confusion);
    expect(erring.gate.open).toBe(false);
    expect(erring.gate.codes).toContain("agreementBelow90");
    const again = await run(wish("sim/judge", example));
    expect(again.report).toEqual({ ...sound.report, lookCount: again.report.lookCount });
  });

  it("refuses the seed's own gold set, which has three items of one level, and says so", async () => {
    const names = ["NC-001", "CS-001", "MC-001"];
    const lines = names.map((name) =>
      JSON.stringify({
        scenario: { prompt: `Scenario ${name}`, expectedL3: "The principle is rebuilt in a new context." },
        response: answerOf(names.indexOf(name) + 1),
        labels: [{ rater: "EOS", level: "L3" }],
      }),
    );
    stage.judges.play("agrees", (request) => verdictOn(request, 3));
    const seed = parseGoldSet(lines.join("\n"));
    const { gate, report } = await run(wish("openai/agrees", seed, { split: "all" }));
    expect(report.agreement).toMatchObject({ count: 3, n: 3 });
    expect(gate.open).toBe(false);
    expect(gate.codes.filter((code) => code === "levelAbsent")).toHaveLength(2);
    expect(gate.codes).toContain("lowerBoundBelow90");
    expect(gate.refusals.join(" ")).toMatch(/No measured item is of level L1.*No measured item is of level L2/);
    expect(await stage.ledger.countLooks(seed.id)).toBe(1);
  });

  it("interrupted goes on where it stopped: every item is asked about once", async () => {
    const gold = goldOf([1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3]);
    const gate = createGate();
    stage.judges.play("slow", async (request, call) => {
      if (call > 5) await gate.opened;
      return verdictOn(request, 2);
    });
    const stop = new AbortController();
    const ports = { store: stage.ledger, queue: stage.queue };
    const outcome = await calibrateJudge(ports, wish("openai/slow", gold), stop.signal, (open, all) => {
      if (open < all) stop.abort();
    });
    expect(outcome).toEqual({ kind: "interrupted" });
    expect(await stage.ledger.findCalibration(key("openai/slow"))).toBeNull();
    gate.open();
    const { report } = await run(wish("openai/slow", gold));
    expect(report).toMatchObject({ n: 12, lookCount: 1 });
    expect(
      stage.judges
        .asked("slow")
        .map(judgedSeed)
        .toSorted((one, other) => one - other),
    ).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
  });

  it("measures the judge alone, without the second opinion that an unsure one calls for", async () => {
    const gold = goldOf([1, 2, 3], (index) => answerOf(index + 101));
    const seen = new Set<number>();
    stage.judges.play("wavering", (request) => {
      const seed = judgedSeed(request);
      const isSecond = seen.has(seed);
      seen.add(seed);
      return verdictOn(request, isSecond ? 3 : 1, { confidence: isSecond ? 0.9 : 0.3 });
    });
    const first = await run(wish("openai/wavering", gold));
    expect(first.report.agreement).toMatchObject({ count: 1, n: 3 });
    expect(
      await stage.sql(
        "SELECT round, state FROM judge_requests q CROSS JOIN LATERAL (SELECT q.plan_json::json->>'round' AS round) r WHERE lane = 'judge.openai.wavering' AND (round <> 'first' OR state <> 'done')",
      ),
    ).toEqual([]);
    expect(stage.judges.asked("wavering")).toHaveLength(3);
    const second = await run(wish("openai/wavering", gold));
    expect(second.report).toEqual({ ...first.report, lookCount: 2 });
  });

  it("waits for a judgement whose call failed at first", async () => {
    stage.judges.play("broken", (request, call, signal) =>
      call > 1 ? byRule(request, call, signal) : Promise.reject(new TypeError("a fault of the adapter")),
    );
    const gold = goldOf([1, 2, 3], (index) => answerOf(index + 201));
    const { report } = await run(wish("openai/broken", gold));
    expect(report).toMatchObject({ n: 3, lookCount: 1 });
    expect(stage.judges.asked("broken")).toHaveLength(4);
  });

  it("measures nothing where judgements are missing for good, and says why", async () => {
    stage.judges.play("misconfigured", () => failed("bad_request", "400: unknown parameter"));
    const gold = goldOf([1, 2, 3], (index) => answerOf(index + 301));
    const ports = { store: stage.ledger, queue: stage.queue };
    const outcome = await calibrateJudge(ports, wish("openai/misconfigured", gold), new AbortController().signal);
    expect(outcome).toEqual({ kind: "incomplete", missing: 3, firstMessage: "400: unknown parameter" });
    expect(await stage.ledger.findCalibration(key("openai/misconfigured"))).toBeNull();
  });
});
