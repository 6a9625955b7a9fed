import type { Interval, ModelEstimate, PlanEstimate } from "@hallumaze/engine";
import { describe, expect, it } from "vitest";

import { joinAuto } from "./join-auto.ts";

const hour = 3_600_000;
const bounds = (low: number, expected: number, high: number): Interval => ({ low, expected, high });

interface ModelWords {
  readonly alias: string;
  readonly lane: string;
  readonly costUsd: Interval | null;
  readonly hours: Interval;
}

/** An estimate of models that have a lane each, or share one whose hours are the longest of theirs. */
function estimate(models: readonly ModelWords[], budgetUsd: number | null = null): PlanEstimate {
  const tokens = bounds(1, 2, 3);
  const full = models.map((model): ModelEstimate => {
    const demand = { requests: tokens, inputTokens: tokens, outputTokens: tokens };
    return { ...model, ...demand, limit: "none", basedOnReplies: 0 };
  });
  const lanes = [...new Set(models.map(({ lane }) => lane))].map((lane) => {
    const own = models.filter((model) => model.lane === lane);
    const hours = own.map((model) => model.hours).reduce((a, b) => (a.high > b.high ? a : b));
    return { lane, aliases: own.map(({ alias }) => alias), limits: {}, hours, limit: "none" as const };
  });
  const costs = models.flatMap(({ costUsd }) => costUsd ?? []);
  const sum = (bound: keyof Interval): number => costs.reduce((total, cost) => total + cost[bound], 0);
  return {
    models: full,
    lanes,
    requests: tokens,
    inputTokens: tokens,
    outputTokens: tokens,
    costUsd: costs.length === 0 ? null : bounds(sum("low"), sum("expected"), sum("high")),
    unpriced: [],
    hours: bounds(0, 0, 0),
    budget: budgetUsd === null ? null : { usd: budgetUsd, spentUsd: 0, expectedExceeds: false, highExceeds: false },
  };
}

const inBatches = (alias: string, costUsd: Interval | null = bounds(1, 2, 4)): ModelWords => ({
  alias,
  lane: `batch.${alias}`,
  costUsd,
  hours: bounds(0.1, 1, 24),
});
const live = (alias: string, costUsd: Interval | null = bounds(2, 4, 8), lane = alias): ModelWords => ({
  alias,
  lane,
  costUsd,
  hours: bounds(0.5, 1, 2),
});
const auto = (alias: string, hoursLeft: number, liveLane = alias) => ({
  alias,
  liveLane,
  deadline: new Date(hoursLeft * hour).toISOString().replace(".000Z", "Z"),
});
const joinOne = (hoursLeft: number, budgetUsd: number | null = null) =>
  joinAuto(estimate([inBatches("m")], budgetUsd), estimate([live("m")], budgetUsd), {
    models: [auto("m", hoursLeft)],
    nowMs: 0,
  });

describe("a plan of mode auto", () => {
  it("shows both prices, and an interval from all in batches to all live", () => {
    const { estimate: joined, auto: told } = joinOne(10);
    expect(told).toMatchObject({ batchUsd: 2, liveUsd: 4, risk: "meets" });
    expect(joined.costUsd).toEqual(bounds(1, 2, 8));
    expect(joined.hours).toEqual(bounds(0.1, 1, 10));
    // Two hours of live calls at their slowest, a quarter more, and twenty minutes for a cancellation.
    expect(told?.models[0]?.turnsLiveAt).toBe("1970-01-01T07:10:00Z");
  });

  it("says that it is too soon for batches, that it is tight, or that it is missed, before a cent is spent", () => {
    const wholly = { costUsd: bounds(2, 4, 8), hours: bounds(0.5, 1, 2) };
    expect(joinOne(2.9)).toMatchObject({ auto: { risk: "meets" } });
    expect(joinOne(2.8)).toMatchObject({ auto: { risk: "live" }, estimate: wholly });
    expect(joinOne(2.4)).toMatchObject({ auto: { risk: "tight" }, estimate: wholly });
    expect(joinOne(0.9)).toMatchObject({ auto: { risk: "misses" }, estimate: wholly });
    expect(joinOne(-1)).toMatchObject({ auto: { risk: "misses" }, estimate: wholly });
  });

  it("goes by each model's own deadline, and tells the worst", () => {
    const models = ["early", "late"];
    const { estimate: joined, auto: told } = joinAuto(
      estimate([...models.map((alias) => inBatches(alias)), live("other")]),
      estimate([...models.map((alias) => live(alias)), live("other")]),
      { models: [auto("early", 2.4), auto("late", 10)], nowMs: 0 },
    );
    expect(told?.models.map(({ alias, risk }) => [alias, risk])).toEqual([
      ["early", "tight"],
      ["late", "meets"],
    ]);
    expect(told).toMatchObject({ risk: "tight", batchUsd: 4, liveUsd: 8 });
    // All live, between both, and the model that is live anyway.
    expect(joined.costUsd).toEqual(bounds(2 + 1 + 2, 4 + 2 + 4, 24));
    expect(joined.models.map(({ hours }) => hours.high)).toEqual([2, 10, 2]);
  });

  it("takes the time of the whole lane where models share it, and of the judge beside them", () => {
    const shared = { ...live("a", undefined, "shared"), hours: bounds(3, 5, 8) };
    const judge = { ...live("judge a"), lane: "judge.shared" };
    const { auto: told } = joinAuto(
      estimate([inBatches("a"), inBatches("b")]),
      estimate([shared, live("b", undefined, "shared"), judge]),
      { models: [auto("a", 10, "shared"), auto("b", 10, "shared")], nowMs: 0 },
    );
    expect(told?.models.map(({ liveHours }) => liveHours)).toEqual([bounds(3.5, 6, 10), bounds(3.5, 6, 10)]);
    expect(told?.risk).toBe("tight");
  });

  it("holds the budget against the dearer way too", () => {
    expect(joinOne(10, 7).estimate.budget).toMatchObject({ expectedExceeds: false, highExceeds: true });
    expect(joinOne(2.8, 3).estimate.budget).toMatchObject({ expectedExceeds: true, highExceeds: true });
  });

  it("does not make up a price that is not known, and says nothing where nothing is to run", () => {
    const unknown = joinAuto(estimate([inBatches("m", null)]), estimate([live("m", null)]), {
      models: [auto("m", 10)],
      nowMs: 0,
    });
    expect([unknown.estimate.costUsd, unknown.auto?.batchUsd, unknown.auto?.liveUsd]).toEqual([null, null, null]);
    const idle = estimate([inBatches("m")]);
    const none = { ...idle, models: idle.models.map((model) => ({ ...model, requests: bounds(0, 0, 0) })) };
    expect(joinAuto(none, idle, { models: [auto("m", 10)], nowMs: 0 })).toEqual({ estimate: none, auto: null });
  });
});
