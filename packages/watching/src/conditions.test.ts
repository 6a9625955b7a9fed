import type { LaneUse } from "@hallumaze/engine";
import { describe, expect, it } from "vitest";

import { type AlertKind, findConditions } from "./conditions.ts";
import type { Figures, TrialGroup } from "./figures.ts";

const settings = { failureShare: 0.2, settleMs: 3000 };
const sweep = {
  sweep: "night",
  sweepId: "1",
  budgetUsd: 40,
  spentUsd: 39.99,
  reservedUsd: 0,
  paused: null,
  lastFinishedAtMs: 90_000,
};

function trials(state: TrialGroup["state"], count: number, outcome: string | null = null): TrialGroup {
  return { sweep: "night", sweepId: "1", alias: "m", lane: "l", state, outcome, count, oldestWaitingMs: null };
}

/** What stands, by kind, of one sweep and one lane. */
function standing(
  groups: readonly TrialGroup[],
  given: Partial<Figures["ledger"]> = {},
  parked: LaneUse["parked"] = null,
) {
  const use: LaneUse = {
    lane: "l",
    limits: {},
    effective: {},
    inFlight: 0,
    utilisation: null,
    binding: null,
    granted: 0,
    limited: 0,
    parked,
  };
  const ledger = { atMs: 100_000, sweeps: [sweep], trials: groups, judges: [], agreements: [], batches: [], ...given };
  const found = findConditions({ ledger, lanes: [{ lane: "l", role: "solve", use, depth: null }] }, settings);
  return new Map<AlertKind, boolean>(found.map(({ kind, stands }) => [kind, stands]));
}

describe("a sweep is done", () => {
  it("once every trial has ended and no judgement is open", () => {
    expect(standing([trials("done", 9), trials("failed", 1)]).get("done")).toBe(true);
    expect(standing([trials("done", 9), trials("queued", 1)]).get("done")).toBe(false);
    expect(standing([trials("done", 9), trials("blocked", 1, "auth")]).get("done")).toBe(false);
    const judges = [
      { ...sweep, lane: "judge.l", state: "queued" as const, outcome: null, count: 1, oldestWaitingMs: 1 },
    ];
    expect(standing([trials("done", 10)], { judges }).get("done")).toBe(false);
    expect(standing([]).get("done")).toBe(false);
  });

  it("and nothing is said while its judges may still be asked, or of one that ended long ago", () => {
    expect(standing([trials("done", 10)], { atMs: 92_000 }).has("done")).toBe(false);
    expect(standing([trials("done", 10)], { atMs: 90_000 + 3_600_000 }).has("done")).toBe(false);
  });
});

describe("a share of failures", () => {
  it.each([
    [2, 8, true],
    [1, 9, false],
    [5, 4, false],
  ])("of %i beside %i done is told of: %s", (failed, done, told) => {
    expect(standing([trials("failed", failed, "auth"), trials("done", done)]).get("failing")).toBe(told);
  });
});

it("a budget is reached where it blocks a trial", () => {
  expect(standing([trials("blocked", 1, "budget_blocked")]).get("budget")).toBe(true);
  expect(standing([trials("blocked", 1, "auth")]).get("budget")).toBe(false);
});

describe("a parked lane", () => {
  it("is told of with its outcome and none of the vendor's words", () => {
    const parked = { reason: "auth: Incorrect API key sk-secret", sinceMs: 7, resumesAtMs: null };
    expect(standing([], {}, parked).get("parked")).toBe(true);
    const use = { lane: "l", parked } as LaneUse;
    const ledger = { atMs: 0, sweeps: [], trials: [], judges: [], agreements: [], batches: [] };
    const found = findConditions({ ledger, lanes: [{ lane: "l", role: "solve", use, depth: null }] }, settings);
    expect(found).toMatchObject([{ marker: "7", facts: { lane: "l", outcome: "auth", resumesAtMs: null } }]);
    expect(JSON.stringify(found)).not.toContain("sk-secret");
  });

  it("is not lowered by a limiter that does not answer", () => {
    const ledger = { atMs: 0, sweeps: [], trials: [], judges: [], agreements: [], batches: [] };
    expect(findConditions({ ledger, lanes: [{ lane: "l", role: "solve", use: null, depth: null }] }, settings)).toEqual(
      [],
    );
  });
});
