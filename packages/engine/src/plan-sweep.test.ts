import { expandCells, parseSpec, type SweepSpec } from "@hallumaze/sweep";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { CellGroup, ConditionTokens, Interval, ReplyHistory, ReplyRecord } from "./estimate-cells.ts";
import { type EstimatePorts, estimateSweep, noPorts, type PlanEstimate } from "./estimate-sweep.ts";
import type { LaneLimits } from "./ports/limiter.ts";
import { comparePlan, planSweep } from "./plan-sweep.ts";

const specOf = (changes: Readonly<Record<string, unknown>> = {}): SweepSpec =>
  parseSpec(
    JSON.stringify({
      name: "estimate",
      models: ["openai/gpt-4o"],
      seeds: ["1..100"],
      sizes: [5],
      languages: ["ko"],
      retries: { tries: 1 },
      ...changes,
    }),
    { fileName: "spec.json", solvers: new Map([["oracle", {}]]) },
  ).spec;

const price = { input: "2", cached: "1", cacheWrite: "2.5", output: "10", upToInputTokens: null };
const portsOf = (changes: Partial<EstimatePorts> = {}): EstimatePorts => ({
  ...noPorts,
  priceOf: () => price,
  ...changes,
});
/** Prompts of 1,000 tokens; the shortest log 500. */
const tokens: ConditionTokens = { promptTokens: 1000, logTokens: 500, longestLog: 500 };

/** Plans a spec on an empty ledger, with those round figures in the place of measured mazes. */
async function estimated(spec: SweepSpec, ports: EstimatePorts = portsOf()): Promise<PlanEstimate> {
  const groups = new Map<string, CellGroup>();
  for (const { alias, plan } of expandCells(spec, { rehearsal: false })) {
    const key = [alias, plan.size, plan.group, plan.mirage, plan.confidence].join();
    groups.set(key, { alias, plan, cells: (groups.get(key)?.cells ?? 0) + 1 });
  }
  return estimateSweep(spec, [...groups.values()], () => tokens, { rehearsal: false }, ports);
}

const record = (changes: Partial<ReplyRecord> = {}): ReplyRecord => ({
  size: 5,
  language: "ko",
  maxTokens: 2500,
  n: 100,
  outputTokensMean: 800,
  outputTokensSd: 100,
  inputTokensMean: 1200,
  httpMsMean: 9000,
  ...changes,
});
const historyOf =
  (...records: readonly ReplyRecord[]): ReplyHistory =>
  async () =>
    records;
const width = ({ low, high }: Interval): number => high - low;

describe("the estimate of a sweep", () => {
  it("guesses a reply between the shortest log and the token limit, and prices it exactly", async () => {
    const { requests, inputTokens, outputTokens, costUsd } = await estimated(specOf());
    expect(requests).toEqual({ low: 100, expected: 100, high: 100 });
    expect(inputTokens).toEqual({ low: 70_000, expected: 100_000, high: 140_000 });
    expect(outputTokens).toEqual({ low: 50_000, expected: 75_000, high: 250_000 });
    // 70,000 × 1 + 50,000 × 10; 100,000 × 2 + 75,000 × 10; 140,000 × 2.5 + 250,000 × 10, a million.
    expect(costUsd).toEqual({ low: 0.57, expected: 0.95, high: 2.85 });
  });

  it("expects more of a model that thinks: the geometric mean of the shortest log and the limit", async () => {
    const spec = specOf({ maxTokens: 50_000 });
    const { outputTokens } = await estimated(spec, portsOf({ thinks: () => true }));
    expect(outputTokens).toEqual({ low: 50_000, expected: 500_000, high: 5_000_000 });
  });

  it("adds a few per cent of tries where a second one is allowed", async () => {
    const { requests } = await estimated(specOf({ retries: { tries: 4 } }));
    expect(requests).toEqual({ low: 100, expected: 103, high: 110 });
  });

  it("rests on the ledger's replies where there are some: the interval is narrower, and says how many", async () => {
    const spec = specOf();
    const guess = await estimated(spec);
    const known = await estimated(spec, portsOf({ history: historyOf(record()) }));
    // 800 ± 2 × 100 × (1/10 + 1/10), a cell.
    expect(known.outputTokens).toEqual({ low: 76_000, expected: 80_000, high: 84_000 });
    expect(known.inputTokens).toEqual({ low: 108_000, expected: 120_000, high: 132_000 });
    expect(width(known.hours)).toBeLessThan(width(guess.hours));
    expect([guess.models[0]?.basedOnReplies, known.models[0]?.basedOnReplies]).toEqual([0, 100]);
  });

  it("keeps a known interval within nothing and the token limit", async () => {
    const wild = record({ n: 5, outputTokensMean: 2400, outputTokensSd: 9000 });
    const { outputTokens } = await estimated(specOf(), portsOf({ history: historyOf(wild) }));
    expect(outputTokens).toEqual({ low: 0, expected: 240_000, high: 250_000 });
  });

  it.each([
    ["another size", record({ size: 7 })],
    ["another language", record({ language: "en" })],
    ["another token limit", record({ maxTokens: 16_000 })],
    ["too few", record({ n: 4 })],
  ])("does not take replies of %s for like ones", async (_, other) => {
    const { models } = await estimated(specOf(), portsOf({ history: historyOf(other) }));
    expect(models[0]?.basedOnReplies).toBe(0);
  });
});

describe("Ariadne's turns", () => {
  const spec = (changes: Readonly<Record<string, unknown>>) => specOf({ ...changes });

  it("none at least, one for half of the cells, every hint for every cell at most; each repeats what was said", async () => {
    const { requests, inputTokens, outputTokens } = await estimated(spec({ groups: ["C"], ariadne: { hints: 2 } }));
    expect(requests).toEqual({ low: 100, expected: 150, high: 300 });
    expect(outputTokens).toEqual({ low: 50_000, expected: 112_500, high: 750_000 });
    expect(inputTokens).toEqual({
      low: 70_000,
      // 1,000, and for half of the cells 1,000 + a reply of 750 + a hint of 120.
      expected: 193_500,
      // 1,400 thrice, one reply of 2,500 and its hint before the second turn, two before the third.
      high: 100 * (3 * 1400 + 3 * 2620),
    });
  });

  it("counts group A's neutral turn where B is run and the shadow is on", async () => {
    const requestsOfA = async (changes: Readonly<Record<string, unknown>>) =>
      (await estimated(spec({ exclude: [{ group: ["B", "C"] }], ...changes }))).requests.high;
    expect(await requestsOfA({ groups: ["A", "B"] })).toBe(200);
    expect(await requestsOfA({ groups: ["A", "C"] })).toBe(100);
    expect(await requestsOfA({ groups: ["A", "B"], ariadne: { shadow: false } })).toBe(100);
  });
});

describe("hours and the limit that binds", () => {
  // 100 requests of 1,000 and 750 tokens expected; 100 replies of 15 s over 16 slots: 94 s.
  const bound = async (limits: LaneLimits, changes: Partial<EstimatePorts> = {}) =>
    (await estimated(specOf({ limits: { "openai/gpt-4o": limits } }), portsOf(changes))).lanes[0];

  it.each<[keyof LaneLimits, LaneLimits, number]>([
    ["rpm", { rpm: 10 }, 100 / 10],
    ["inputTpm", { inputTpm: 5000, outputTpm: 5000 }, 100_000 / 5000],
    ["outputTpm", { inputTpm: 50_000, outputTpm: 5000 }, 75_000 / 5000],
    ["tpm", { tpm: 5000, rpm: 500 }, 175_000 / 5000],
  ])(
    "%s binds: used to 97 of 100 in the expected case, and the last reply waited for",
    async (dimension, limits, minutes) => {
      const lane = await bound(limits);
      expect(lane?.limit).toBe(dimension);
      expect(lane?.hours.expected).toBeCloseTo(minutes / 0.97 / 60 + 15 / 3600, 9);
    },
  );

  it("concurrency: of the vendor, or the slots of the process", async () => {
    const narrow = await bound({ concurrency: 2 });
    expect(narrow).toMatchObject({ limit: "concurrency" });
    expect(narrow?.hours.expected).toBeCloseTo((100 * 15) / 2 / 3600 + 15 / 3600, 9);
    const slots = await bound({ concurrency: 2000 }, { slots: 4 });
    expect(slots).toMatchObject({ limit: "concurrency" });
    expect(slots?.hours.expected).toBeCloseTo((100 * 15) / 4 / 3600 + 15 / 3600, 9);
  });

  it("the provider's limits hold where the spec names none", async () => {
    const lane = await bound({ outputTpm: 5_000_000 }, { limitsOf: () => ({ rpm: 1, outputTpm: 1 }) });
    expect(lane).toMatchObject({ limit: "rpm", limits: { rpm: 1, outputTpm: 5_000_000 } });
  });

  it("models of one lane wait for one another, lanes do not", async () => {
    const models = ["one", "two"].map((as) => ({ model: "openai/gpt-4o", as, temperature: as === "one" ? 0 : 1 }));
    const limits = { "openai/gpt-4o": { rpm: 1 } };
    const shared = await estimated(specOf({ models, limits }));
    expect(shared.lanes).toHaveLength(1);
    expect(shared.hours.low).toBeCloseTo(200 / 60 + 5 / 3600, 9);
    const apart = await estimated(
      specOf({
        models: ["openai/gpt-4o", "openai/gpt-4.1"],
        limits: { "openai/gpt-4o": { rpm: 1 }, "openai/gpt-4.1": { rpm: 2 } },
      }),
    );
    expect(apart.hours.low).toBeCloseTo(100 / 60 + 5 / 3600, 9);
  });

  it("a sweep of baselines costs nothing and nothing limits it", async () => {
    const { costUsd, lanes, unpriced, models } = await estimated(
      specOf({ models: ["sim/oracle"], retries: { tries: 4 } }),
      noPorts,
    );
    expect(costUsd).toEqual({ low: 0, expected: 0, high: 0 });
    expect(unpriced).toEqual([]);
    expect(models[0]?.requests).toEqual({ low: 100, expected: 100, high: 100 });
    expect(lanes[0]).toMatchObject({ limit: "none", limits: {} });
  });
});

describe("batches", () => {
  it("take the hours that their vendor promises, whatever the lane's limits for live calls", async () => {
    const limitsOf = () => ({ rpm: 1 });
    const spec = specOf({ models: ["anthropic/claude-haiku-4-5"], mode: "batch" });
    const { lanes, hours } = await estimated(spec, portsOf({ limitsOf }));
    expect(lanes[0]).toMatchObject({ limit: "batch", hours: { low: 0.1, expected: 1, high: 24 } });
    expect(hours).toEqual({ low: 0.1, expected: 1, high: 24 });
  });
});

describe("money", () => {
  const two = { models: ["openai/gpt-4o", "openai/gpt-4.1"] };

  it("a model without a price has an unknown cost, and the sum names it", async () => {
    const { costUsd, unpriced, models } = await estimated(
      specOf(two),
      portsOf({ priceOf: ({ model }) => (model === "gpt-4o" ? price : null) }),
    );
    expect(models.map((model) => model.costUsd?.expected ?? null)).toEqual([0.95, null]);
    expect(costUsd?.expected).toBe(0.95);
    expect(unpriced).toEqual(["openai/gpt-4.1"]);
  });

  it("where no model has a price the sum is unknown, not zero", async () => {
    expect(await estimated(specOf(two), portsOf({ priceOf: () => null }))).toMatchObject({ costUsd: null });
  });

  it("prices a judge in batches at their tariff, and expects of it the time of a batch", async () => {
    const spec = (mode: string) => specOf({ judge: { models: [{ model: "anthropic/claude-haiku-4-5", mode }] } });
    const half = { ...price, input: "1", cached: "0.5", cacheWrite: "1.25", output: "5" };
    const ports = portsOf({ priceOf: ({ mode }) => (mode === "batch" ? half : price) });
    const [live, batched] = [await estimated(spec("live"), ports), await estimated(spec("batch"), ports)];
    const [, asked] = batched.models;
    expect(asked).toMatchObject({ limit: "batch", lane: "judge.batch.anthropic.claude-haiku-4-5" });
    expect(asked?.requests).toEqual(live.models[1]?.requests);
    // Their batch begins when the answers are there.
    expect(batched.hours.expected).toBeGreaterThanOrEqual(asked?.hours.expected ?? Number.NaN);
    expect(batched.hours.expected).toBeGreaterThan(live.hours.expected);
    expect(asked?.costUsd?.expected).toBeCloseTo((live.models[1]?.costUsd?.expected ?? Number.NaN) / 2, 9);
  });

  it("sums are exact: a tenth and two tenths of a dollar are three tenths", async () => {
    // 400 replies of 250 tokens, which is the limit and less than the shortest log.
    const prices: Readonly<Record<string, string>> = { "gpt-4o": "1", "gpt-4.1": "2" };
    const free = { input: "0", cached: null, cacheWrite: null, upToInputTokens: null };
    const { costUsd } = await estimated(
      specOf({ ...two, seeds: ["1..400"], maxTokens: 250 }),
      portsOf({ priceOf: ({ model }) => ({ ...free, output: prices[model] ?? "0" }) }),
    );
    expect(costUsd).toEqual({ low: 0.3, expected: 0.3, high: 0.3 });
  });

  it("input past what a price is for has an unknown cost", async () => {
    const priceOf = () => ({ ...price, upToInputTokens: 1399 });
    expect(await estimated(specOf(), portsOf({ priceOf }))).toMatchObject({ costUsd: null });
  });

  it("a budget is held against what was spent and what is to come", async () => {
    const budgetOf = async (budgetUsd: number, spentUsd = 0) => {
      const spec = specOf({ budgetUsd });
      return (await estimated(spec, portsOf({ spentUsd }))).budget;
    };
    expect(await budgetOf(2.85)).toMatchObject({ expectedExceeds: false, highExceeds: false });
    expect(await budgetOf(0.95)).toMatchObject({ expectedExceeds: false, highExceeds: true });
    expect(await budgetOf(0.94)).toMatchObject({ expectedExceeds: true, highExceeds: true });
    expect(await budgetOf(0.95, 0.01)).toMatchObject({ expectedExceeds: true, highExceeds: true });
  });
});

describe("planSweep", () => {
  const spec = specOf();
  const ledger = (answered: "inSweep" | "elsewhere", share: number) => ({
    findAnswered: async (_: string, ids: readonly string[]) => ({
      inSweep: [],
      elsewhere: [],
      known: [],
      [answered]: ids.slice(0, ids.length * share),
    }),
    findSweep: async () => null,
  });
  const options = { fresh: false, rehearsal: false };

  it("cells that are done or taken over cost nothing", async () => {
    const all = await planSweep(null, spec, options, portsOf());
    for (const where of ["inSweep", "elsewhere"] as const) {
      const half = await planSweep(ledger(where, 0.5), spec, options, portsOf());
      expect(half.estimate.requests.expected).toBe(50);
      expect(half.estimate.outputTokens.high).toBe(all.estimate.outputTokens.high / 2);
      const none = await planSweep(ledger(where, 1), spec, options, portsOf({ priceOf: () => null }));
      expect(none.estimate).toMatchObject({ costUsd: { high: 0 }, hours: { high: 0 }, unpriced: [] });
      expect(none.estimate.lanes[0]?.limit).toBe("none");
    }
  });

  it("answers that are there and not judged cost their verdicts, less those that have been asked", async () => {
    const judged = specOf({ judge: { models: [{ model: "anthropic/claude-haiku-4-5" }] } });
    const callsOf = async (store: ReturnType<typeof ledger> | null, ended = 0) =>
      (await planSweep(store, judged, { ...options, judged: ended }, portsOf())).estimate.models[1]?.requests;
    const whole = await callsOf(null);
    for (const where of ["inSweep", "elsewhere"] as const) {
      for (const share of [1, 0.5]) expect(await callsOf(ledger(where, share))).toEqual(whole);
      expect((await callsOf(ledger(where, 1), 50))?.expected).toBeCloseTo((whole?.expected ?? 0) / 2, 0);
      expect((await callsOf(ledger(where, 1), 100))?.high).toBeCloseTo(0, 12);
    }
  });

  it("bought again, cells of other sweeps cost what they do", async () => {
    const fresh = await planSweep(ledger("elsewhere", 1), spec, { ...options, fresh: true }, portsOf());
    expect(fresh.estimate.requests.expected).toBe(100);
  });

  it("warns where the log of a solution cannot fit", async () => {
    const { warnings } = await planSweep(null, specOf({ maxTokens: 100 }), options);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("maxTokens is 100");
  });

  it("low <= expected <= high, for every figure of any spec; and the estimate is plain JSON", async () => {
    const subset = (values: readonly unknown[]) => fc.subarray([...values], { minLength: 1 });
    const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
    const figure = fc.integer({ min: 1, max: 100_000 });
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          models: subset(["openai/gpt-4o", "anthropic/claude-sonnet-4-6", "sim/oracle"]),
          seeds: fc.integer({ min: 1, max: 30 }).map((last) => [`1..${last}`]),
          sizes: subset([3, 5, 9]),
          groups: subset(["A", "B", "C"]),
          languages: subset(["ko", "en"]),
          mirage: subset([true, false]),
          maxTokens: fc.integer({ min: 1, max: 20_000 }),
          ariadne: fc.record({ hints: fc.integer({ min: 1, max: 10 }), shadow: fc.boolean() }),
          retries: fc.record({ tries: fc.integer({ min: 1, max: 4 }) }),
        }),
        fc.record(
          { rpm: figure, inputTpm: figure, outputTpm: figure, tpm: figure, concurrency: figure },
          { requiredKeys: [] },
        ),
        fc.array(
          fc.record({
            size: fc.constantFrom(3, 5, 9),
            n: fc.integer({ min: 1, max: 50 }),
            outputTokensMean: fc.integer({ min: 0, max: 30_000 }),
            outputTokensSd: fc.option(fc.integer({ min: 0, max: 9000 })),
            inputTokensMean: fc.option(fc.integer({ min: 0, max: 9000 })),
            httpMsMean: fc.option(fc.integer({ min: 0, max: 90_000 })),
          }),
          { maxLength: 3 },
        ),
        optional(fc.boolean()),
        async (words, limits, records, thinks) => {
          const history = historyOf(
            ...records.map((each) => ({ ...each, language: "ko" as const, maxTokens: words.maxTokens })),
          );
          const ports = portsOf({ limitsOf: () => limits, history, thinks: () => thinks === true });
          const { estimate } = await planSweep(null, specOf(words), options, ports);
          const rows = [estimate, ...estimate.models, ...estimate.lanes].flatMap((row) =>
            Object.values(row).filter((value) => typeof value === "object" && value !== null && "expected" in value),
          ) as readonly Interval[];
          for (const { low, expected, high } of rows) {
            expect(low).toBeGreaterThanOrEqual(0);
            expect(expected).toBeGreaterThanOrEqual(low);
            expect(high).toBeGreaterThanOrEqual(expected);
          }
          expect(JSON.parse(JSON.stringify(estimate))).toEqual(estimate);
        },
      ),
      { numRuns: 60, seed: 20261130 },
    );
  });
});

describe("comparePlan", () => {
  const actual = { requests: 110, inputTokens: 100_000, outputTokens: 75_000, costUsd: 1.045, hours: null };
  const spec = specOf();

  it("tells each figure over what was expected, and whether the money stayed within its interval", async () => {
    const estimate = await estimated(spec);
    expect(comparePlan(estimate, actual)).toMatchObject({
      requestsRatio: 1.1,
      inputTokensRatio: 1,
      outputTokensRatio: 1,
      hoursRatio: null,
      judgedBy: "costUsd",
      actual: 1.045,
      within: true,
    });
    expect(comparePlan(estimate, actual).costRatio).toBeCloseTo(1.1, 12);
    expect(comparePlan(estimate, { ...actual, costUsd: 2.86 })).toMatchObject({ within: false });
    expect(comparePlan(estimate, { ...actual, costUsd: 0.56 })).toMatchObject({ within: false });
  });

  it("goes by the reply tokens where either side's money is unknown", async () => {
    const unpriced = await estimated(spec, portsOf({ priceOf: () => null }));
    expect(comparePlan(unpriced, actual)).toMatchObject({ costRatio: null, judgedBy: "outputTokens", within: true });
    const estimate = await estimated(spec);
    const over = { ...actual, costUsd: null, outputTokens: 250_001 };
    expect(comparePlan(estimate, over)).toMatchObject({ costRatio: null, judgedBy: "outputTokens", within: false });
  });

  it("nothing expected and nothing spent is as planned; something for nothing has no ratio", async () => {
    const free = await estimated(specOf({ models: ["sim/oracle"] }), noPorts);
    expect(comparePlan(free, { ...actual, costUsd: 0 })).toMatchObject({ costRatio: 1, within: true });
    expect(comparePlan(free, { ...actual, costUsd: 1 })).toMatchObject({ costRatio: null, within: false });
  });
});
