// Nights of mode auto on a simulated clock: the real plan, gathering, driving, turning and landing on the real ledger, with
// a vendor, a limiter and a queue that live in simulated time. What `plan` says is held against what comes of it.
import { createRandom, type Random } from "@hallumaze/foundation";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { type Morning, type Night, openNights, type ThroughNights } from "../test/simulated-night.ts";
import type { VendorHabits } from "../test/simulated-vendor.ts";

const model = "anthropic/claude-haiku-4-5-20251001";
const series = "c";
const nights = 21;

function pick<Value>(random: Random, values: readonly [Value, ...Value[]]): Value {
  return values[random.below(values.length)] ?? values[0];
}

/** How the vendors behave, a kind a night: hours of a batch, and what goes wrong. */
const kinds = {
  fast: { batchHours: 0.2 },
  slow: { batchHours: 6 },
  never: { batchHours: null },
  expires: { batchHours: 60 },
  refused: { batchHours: 1, refuses: "early" },
  "refused late": { batchHours: 1, refuses: "late" },
  lost: { batchHours: 0.5, losesAnswer: true },
} as const satisfies Record<string, Partial<VendorHabits>>;

interface KindOfNight extends Night {
  readonly kind: keyof typeof kinds;
  /** The first of its family finds no like replies in the ledger. */
  readonly isFirst: boolean;
}

/** Nights come in families of three with one way of answering: the later ones know like replies. */
function nightOf(number: number): KindOfNight {
  const family = Math.floor(number / 3);
  const random = createRandom(`${series} night ${number}`);
  const ofFamily = createRandom(`${series} family ${family}`);
  const names = Object.keys(kinds) as (keyof typeof kinds)[];
  const kind = names[number % names.length] ?? "fast";
  const maxTokens = pick(ofFamily, [1500, 2500]);
  const answers = {
    // No shorter than the log of the shortest way.
    replyTokens: pick(ofFamily, [750, 1000, 1400]),
    replySpread: pick(ofFamily, [0, 0.2, 0.5]),
    inputFactor: pick(ofFamily, [0.8, 1, 1.3]),
    tokensPerSecond: pick(ofFamily, [30, 60, 90]),
  };
  const limits = pick(random, [
    { rpm: 2, inputTpm: 1e6, outputTpm: 1e6 },
    { rpm: 50, inputTpm: 30_000, outputTpm: 8000 },
    { rpm: 4000, inputTpm: 1e7, outputTpm: 1e7, concurrency: 1 },
    { rpm: 4000, inputTpm: 1e7, outputTpm: 1e7, concurrency: 100 },
  ]);
  // Another model on the same lane and limits: none, one with its own deadline, one that is live from the start.
  const beside = pick(random, ["none", "auto", "live"] as const);
  const deadlineHours = pick(random, [0.1, 0.4, 1, 2, 8, 30]);
  const second = { model, as: "second", temperature: 0.5, lane: "shared" };
  return {
    kind,
    isFirst: number % 3 === 0,
    name: `night ${number} ${kind}`,
    spec: {
      models: [{ model, as: "first", lane: "shared" }, ...(beside === "none" ? [] : [{ ...second, mode: beside }])],
      seeds: [`1..${pick(random, [6, 20, 45])}`],
      sizes: [5],
      maxTokens,
      limits: { shared: limits },
    },
    deadlineHours,
    ownDeadlineHours: beside === "auto" ? { second: deadlineHours * pick(random, [0.5, 1, 2]) } : {},
    slots: pick(random, [2, 16]),
    habits: {
      refuses: null,
      losesAnswer: false,
      ...kinds[kind],
      ...answers,
      errorShare: 0.03,
      missingShare: 0.003,
      cancelMs: pick(random, [1000, 120_000, 600_000]),
      rowsOfBatch: pick(random, [7, 25, 1000]),
      liveErrorShare: pick(random, [0, 0.02, 0.05]),
    },
    random,
  };
}

describe("mode auto through simulated nights", () => {
  const lived: (Morning & { readonly night: KindOfNight })[] = [];
  const closers: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    let through: ThroughNights | null = null;
    for (let number = 0; number < nights; number += 1) {
      const night = nightOf(number);
      // A ledger a family: nothing else is known of its replies.
      if (through === null || night.isFirst) through = await openNights((close) => closers.push(close));
      lived.push({ ...(await through(night)), night });
    }
  }, 900_000);
  afterAll(async () => {
    for (const close of closers.toReversed()) await close();
  });

  it("meets every deadline of which plan said that it can be met, whatever the vendor does", () => {
    const broken = lived.flatMap(({ night, auto, late }) =>
      (auto?.models ?? [])
        .filter(({ alias, risk }) => (risk === "meets" || risk === "live") && late[alias] !== 0)
        .map(({ alias, risk }) => `${night.name}: ${alias}, ${risk}, ${late[alias]} late`),
    );
    expect(broken).toEqual([]);
  });

  it("misses none without having said so: every risk occurs, and trials are late where plan told it", () => {
    const told = lived.flatMap(({ auto, late }) => auto?.models.map(({ alias, risk }) => [risk, late[alias]]) ?? []);
    expect(new Set(told.map(([risk]) => risk))).toEqual(new Set(["meets", "live", "tight", "misses"]));
    expect(told.filter(([risk, late]) => risk === "misses" && late !== 0).length).toBeGreaterThan(0);
  });

  it("spends what plan said, within its interval", () => {
    const beyond = lived
      .filter(({ costUsd, spentUsd }) => costUsd === null || spentUsd < costUsd.low || spentUsd > costUsd.high)
      .map(({ night, costUsd, spentUsd }) => `${night.name}: ${spentUsd} in ${JSON.stringify(costUsd)}`);
    expect(beyond).toEqual([]);
  });

  it("answers every trial once, and holds no money back", () => {
    for (const { states, repeats, lateDuplicates, reservedUsd } of lived) {
      expect(Object.keys(states)).toEqual(["done"]);
      expect({ repeats, lateDuplicates, reservedUsd }).toEqual({ repeats: 0, lateDuplicates: 0, reservedUsd: 0 });
    }
  });

  it("asks live only what batches did not bring in time", () => {
    const inTime = lived.filter(
      ({ night, hoursToTurn }) => ["fast", "lost"].includes(night.kind) && (hoursToTurn ?? 0) > 1.5,
    );
    expect(inTime.length).toBeGreaterThan(1);
    for (const { liveReplies, batchReplies } of inTime) {
      // Errored and missing rows alone.
      expect(liveReplies / (liveReplies + batchReplies)).toBeLessThan(0.25);
    }
    const never = lived.filter(({ night, auto }) => night.kind === "never" && auto?.risk === "meets");
    expect(never.length).toBeGreaterThan(0);
    for (const { batchReplies } of never) expect(batchReplies).toBe(0);
  });
});
