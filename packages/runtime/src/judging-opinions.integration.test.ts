import { sweepLevels } from "@hallumaze/judging";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { failed, judgedSeed, type JudgeStage, openJudgeStage, type Part, verdictOn } from "../test/judge-stage.ts";
import { createGate } from "../test/worker-stage.ts";

let stage: JudgeStage;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  stage = await openJudgeStage(undefined, (close) => void closers.push(close));
  stage.work({});
  stage.judging();
});
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

describe("a judge that fails", () => {
  it("by an outage is bridged by the heuristic, visibly, until its own verdict comes: no state between is final", async () => {
    const outages = [
      failed("overloaded", "529 overloaded"),
      failed("timeout", "timeout(total)"),
      failed("transport", "ECONNRESET"),
    ];
    const back = createGate();
    const down = new Set<number>();
    stage.judges.play("down", async (request) => {
      const seed = judgedSeed(request);
      const outage = outages[seed - 1];
      if (outage !== undefined && !down.has(seed)) {
        down.add(seed);
        return outage;
      }
      await back.opened;
      return verdictOn(request, 3);
    });
    const models = [stage.candidate("bridged")];
    const sweep = await stage.sweep("outage", { judge: { models: ["openai/down"] }, models, seeds: ["1..3"] });
    await expect.poll(async () => (await stage.verdicts(sweep)).length, { timeout: 10_000 }).toBe(3);
    const bridges = await stage.verdicts(sweep);
    expect(bridges).toEqual(
      bridges.map((one) => ({
        ...one,
        scoredBy: "HEURISTIC",
        fallback: true,
        provisional: true,
        decidedBy: "heuristic",
      })),
    );
    const levels = async () => {
      const found: (number | null)[] = [];
      for await (const page of sweepLevels(stage.ledger, sweep.sweepId, { consensusBelow: 0.6, repeats: 1 })) {
        found.push(...page.map(([, { level }]) => level));
      }
      return found;
    };
    expect(await levels()).toEqual([]);
    expect((await stage.asked(sweep)).every(({ state }) => state === "queued" || state === "running")).toBe(true);
    back.open();
    const requests = await stage.settled(sweep, 3);
    expect(requests.map(({ state, outcome, tries }) => [state, outcome, tries])).toEqual(
      requests.map(() => ["done", "verdict", 2]),
    );
    for (const { history } of requests) {
      expect(history.slice(0, -1).filter((state) => !["planned", "queued", "running"].includes(state))).toEqual([]);
      expect(history.at(-1)).toBe("done");
    }
    expect(await levels()).toEqual([3, 3, 3]);
    const verdicts = await stage.verdicts(sweep);
    expect(verdicts.filter(({ decidedBy }) => decidedBy === "judge")).toHaveLength(3);
    expect(verdicts.filter(({ fallback }) => fallback)).toHaveLength(3);
  });

  it("by a refusal or its vendor's filter is replaced by a second judge, never by the heuristic", async () => {
    stage.judges.play("shy", (request) =>
      judgedSeed(request) === 1
        ? "I'm sorry, but I can't assist with evaluating this content."
        : failed("filtered", "400: content_filter"),
    );
    stage.judges.play("bold", (request) => verdictOn(request, 2));
    const models = [stage.candidate("delicate")];
    const judge = { models: ["openai/shy", "openai/bold"] };
    const sweep = await stage.sweep("refused", { judge, models, seeds: [1, 2] });
    await stage.settled(sweep, 4);
    const verdicts = await stage.verdicts(sweep);
    expect(verdicts.map(({ seed, round, level, scoredBy }) => [seed, round, level, scoredBy])).toEqual(
      [1, 2].flatMap((seed) => [
        [seed, "first", null, "LLM-JUDGE-v1"],
        [seed, "second", 2, "LLM-JUDGE-v1"],
      ]),
    );
    expect(
      verdicts.filter(({ round }) => round === "first").every(({ reason }) => reason?.startsWith("refused: ")),
    ).toBe(true);
    expect(verdicts.every(({ rawBody }) => (rawBody ?? "") !== "")).toBe(true);
    // Once for each result: a refusal is not argued with.
    expect(stage.judges.asked("shy")).toHaveLength(2);
  });

  it("by refusing everywhere leaves the result unscored with its reason", async () => {
    stage.judges.play("mute", () => failed("filtered", "400: content_filter"));
    const models = [stage.candidate("unspeakable")];
    const sweep = await stage.sweep("mute", { judge: { models: ["openai/mute"] }, models });
    await stage.settled(sweep, 2);
    for await (const page of sweepLevels(stage.ledger, sweep.sweepId, { consensusBelow: 0.6, repeats: 1 })) {
      expect(page.map(([, { level, unscoredReason }]) => [level, unscoredReason])).toEqual([[null, "refused"]]);
    }
    expect((await stage.verdicts(sweep)).filter(({ scoredBy }) => scoredBy === "HEURISTIC")).toEqual([]);
  });
});

describe("a judge that is unsure", () => {
  /** What the judges say of each seed: level and confidence of the first, then level of each further one. */
  const opinions: Readonly<Record<number, readonly (readonly [level: 1 | 2 | 3, confidence: number])[]>> = {
    1: [[2, 0.6]],
    2: [
      [2, 0.59],
      [2, 0.9],
    ],
    3: [
      [1, 0.3],
      [3, 0.9],
      [3, 0.9],
    ],
    4: [
      [1, 0.3],
      [2, 0.9],
      [3, 0.9],
    ],
  };
  const settledLevels = [
    [2, null, 0, 1],
    [2, null, 0, 2],
    [3, null, 2, 3],
    [null, "needs_human", null, 3],
  ];

  it("gets a second, then a third; the median of the levels stands with its spread, or a person has to look", async () => {
    const rounds = new Map<number, number>();
    const say: Part = (request) => {
      const seed = judgedSeed(request);
      const round = rounds.get(seed) ?? 0;
      rounds.set(seed, round + 1);
      const [level, confidence] = opinions[seed]?.[round] ?? [1, 0];
      return verdictOn(request, level, { confidence });
    };
    stage.judges.play("unsure", say);
    stage.judges.play("sure", say);
    const models = [stage.candidate("doubtful")];
    const judge = { models: ["openai/unsure", "google/sure"] };
    const sweep = await stage.sweep("unsure", { judge, models, seeds: ["1..4"] });
    const requests = await stage.settled(sweep, 9);
    expect(requests.map(({ seed, round, lane }) => `${seed} ${round} ${lane}`)).toEqual([
      "1 first judge.openai.unsure",
      "2 first judge.openai.unsure",
      "2 second judge.google.sure",
      "3 first judge.openai.unsure",
      "3 second judge.google.sure",
      "3 third judge.google.sure",
      "4 first judge.openai.unsure",
      "4 second judge.google.sure",
      "4 third judge.google.sure",
    ]);
    const found: unknown[] = [];
    for await (const page of sweepLevels(stage.ledger, sweep.sweepId, { consensusBelow: 0.6, repeats: 1 })) {
      found.push(...page.map(([, one]) => [one.level, one.unscoredReason, one.spread, one.verdicts]));
    }
    expect(found.map((one) => JSON.stringify(one)).toSorted()).toEqual(
      settledLevels.map((one) => JSON.stringify(one)).toSorted(),
    );
  });

  it("is followed by the second though its worker lost the ledger between the two, and is not asked again", async () => {
    stage.judges.play("interrupted", (request) => verdictOn(request, 2, { confidence: 0.2 }));
    stage.judges.play("follower", (request) => verdictOn(request, 2));
    const models = [stage.candidate("half-judged")];
    await stage.sql(
      "ALTER TABLE judge_requests ADD CONSTRAINT refused CHECK (lane <> 'judge.openai.follower') NOT VALID",
    );
    const judge = { models: ["openai/interrupted", "openai/follower"] };
    const sweep = await stage.sweep("half", { judge, models });
    await expect.poll(async () => (await stage.verdicts(sweep)).length, { timeout: 10_000 }).toBe(1);
    await stage.sql("ALTER TABLE judge_requests DROP CONSTRAINT refused");
    await stage.settled(sweep, 2);
    expect((await stage.verdicts(sweep)).map(({ round, level }) => [round, level])).toEqual([
      ["first", 2],
      ["second", 2],
    ]);
    expect(stage.judges.asked("interrupted")).toHaveLength(1);
  });
});
