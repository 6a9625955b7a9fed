import type { Rule } from "@hallumaze/mock-providers";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";

import {
  type FieldStage,
  modelNames,
  type ModelName,
  modelOf,
  openFieldStage,
  wideLimits,
} from "../test/field-stage.ts";

// Cases of field reports about waits, stopped lanes and limits, on every wire format that each can meet.

const first = { countBy: "model", nth: 1 } as const;
/** Milliseconds between the requests to a model, in their order. */
const gapsOf = (stage: FieldStage, alias: ModelName): readonly number[] => {
  const times = stage.mock
    .requests()
    .filter(({ model }) => model === modelOf(alias))
    .map(({ atMs }) => atMs);
  return times.slice(1).map((at, index) => at - (times[index] ?? 0));
};

/** Trials at once in a lane. */
const slots = 4;

describe("a lane that must wait", () => {
  let stage: FieldStage;
  const errors: string[] = [];
  beforeAll(async () => {
    stage = await openFieldStage();
    const quiet = () => undefined;
    const logger = {
      debug: quiet,
      info: quiet,
      warn: quiet,
      error: (line: object, text: string) => void errors.push(`${text} ${JSON.stringify(line)}`),
    };
    stage.workPaced({ logger: logger as never, concurrency: slots });
  });
  afterAll(() => stage.close());

  const far = "2099-01-01T00:00:00Z";
  const waits: readonly { is: string; rules: readonly Rule[]; models: readonly ModelName[]; atLeastMs: number }[] = [
    {
      is: "a wait in a header, twice (T1)",
      rules: [
        {
          countBy: "model",
          nth: { to: 2 },
          fail: { kind: "rate_limited", retryAfterMs: 1000, retryAfterForm: "seconds" },
        },
      ],
      models: modelNames,
      atLeastMs: 1000,
    },
    {
      is: "a wait in the body alone (T5)",
      rules: [{ ...first, fail: { kind: "rate_limited", retryAfterMs: 1200, retryAfterForm: "body" } }],
      models: ["google", "openai", "responses", "compatible"],
      atLeastMs: 1200,
    },
    {
      is: "no wait but the reset of the limit that is used up; another limit's is ignored (T8)",
      rules: [
        {
          ...first,
          fail: {
            kind: "rate_limited",
            retryAfterMs: 1000,
            retryAfterForm: "reset",
            dimension: "tokens",
            headers: { "anthropic-ratelimit-requests-reset": far, "x-ratelimit-reset-requests": "6m0s" },
          },
        },
      ],
      models: ["anthropic", "openai", "responses"],
      atLeastMs: 1000,
    },
  ];
  it.each(waits)("a 429 with $is: asked again no earlier, and answered", async ({ is, rules, models, atLeastMs }) => {
    stage.play(rules);
    const fates = await stage.fates(await stage.sweep(is.replace(/[^a-z ]/g, ""), { models, tries: 2 }));
    expect(fates.map(({ alias, outcome, tries }) => [alias, outcome, tries])).toEqual(
      models.toSorted().map((alias) => [alias, "ok", 1]),
    );
    for (const alias of models) {
      const gaps = gapsOf(stage, alias);
      expect(gaps).toHaveLength(fates.find((fate) => fate.alias === alias)?.exchanges.length === 3 ? 2 : 1);
      for (const gap of gaps) {
        expect(gap).toBeGreaterThanOrEqual(atLeastMs);
        expect(gap).toBeLessThan(atLeastMs + 8000);
      }
    }
  });

  it("a 429 that asks for half an hour holds no slot of any vendor; the ledger wakes its trial then (T6)", async () => {
    stage.play([{ fail: { kind: "rate_limited", retryAfterMs: 1_800_000, retryAfterForm: "seconds" } }]);
    const sweep = await stage.sweep("half an hour", { lane: "half-hour" });
    await vi.waitFor(async () => {
      const rows = await stage.sql<{ seconds: number | null }>(
        `SELECT extract(epoch FROM not_before - now())::float8 AS seconds FROM trials WHERE sweep_id = $1 AND state = 'queued'`,
        [sweep.sweepId],
      );
      expect(rows).toHaveLength(6);
      for (const { seconds } of rows) expect(seconds).toBeGreaterThan(1750);
    }, 10_000);
    expect(stage.requests()).toEqual(Object.fromEntries(modelNames.map((alias) => [alias, 1])));
    stage.play([]);
    // The same slots serve others meanwhile.
    const others = await stage.fates(await stage.sweep("meanwhile", { seeds: 2 }));
    expect(new Set(others.map(({ state }) => state))).toEqual(new Set(["done"]));
  });

  it("all lanes limited at once wait it out: every trial is answered, none fails, no try is spent (T15)", async () => {
    stage.play([{ fail: { kind: "rate_limited", retryAfterMs: 1000, retryAfterForm: "seconds" } }]);
    const sweep = await stage.sweep("all limited", { seeds: 4, tries: 2 });
    await stage.mock.until(() => modelNames.every((alias) => stage.requests()[alias] >= 2));
    stage.mock.script([]);
    const fates = await stage.fates(sweep);
    expect(fates.map(({ state, tries }) => [state, tries])).toEqual(fates.map(() => ["done", 1]));
    const refused = fates.flatMap(({ exchanges }) => exchanges.filter(({ outcome }) => outcome !== null));
    expect(new Set(refused.map(({ outcome }) => outcome))).toEqual(new Set(["rate_limited"]));
    // A lane rests as a whole: not every trial has to be told.
    for (const alias of modelNames) expect(stage.requests()[alias]).toBeLessThanOrEqual(4 + 4 * 2);
  });

  it.each([
    ["without credit", "quota_exhausted", "quota_exhausted"],
    ["with a wrong key", "auth", "auth"],
    ["for an unknown model", "model_not_found", "model_not_found"],
  ] as const)(
    "an account %s stops its lane after its requests in flight, says so once, goes on when told (T3)",
    async (_, kind, outcome) => {
      // The last vendor is well: it must not notice.
      const well: ModelName = "deepseek";
      stage.play([{ when: { vendor: "deepseek" } }, { fail: kind }]);
      errors.length = 0;
      const sweep = await stage.sweep(`stopped by ${kind}`, { seeds: 8, lane: kind.replaceAll("_", "-") });
      const fates = await stage.fates(sweep);
      expect(fates.map(({ alias, state, outcome: ended }) => [alias, state, ended])).toEqual(
        fates.map(({ alias }) => (alias === well ? [alias, "done", "ok"] : [alias, "blocked", outcome])),
      );
      const { anthropic, google, openai, responses, compatible } = stage.requests();
      // The last three share a lane here.
      for (const requests of [anthropic, google, openai + responses + compatible]) {
        expect(requests).toBeGreaterThanOrEqual(1);
        expect(requests).toBeLessThanOrEqual(slots);
      }
      const lanes = await stage.sql<{ lane: string }>(
        "SELECT DISTINCT lane FROM trials WHERE sweep_id = $1 AND state = 'blocked'",
        [sweep.sweepId],
      );
      expect(errors.filter((line) => line.startsWith("lane parked"))).toHaveLength(lanes.length);
      stage.play([]);
      for (const { lane } of lanes) expect(await stage.limiter.resume(lane)).toBe(true);
      await vi.waitFor(async () => {
        const now = await stage.fatesNow(sweep);
        expect(new Set(now.map(({ state }) => state))).toEqual(new Set(["done"]));
      }, 20_000);
    },
  );

  it("an overload rests the lane and leaves its limits as they are (T18)", async () => {
    stage.play([{ ...first, fail: { kind: "overloaded", retryAfterMs: 500 } }]);
    await stage.fates(await stage.sweep("overload", { models: ["anthropic"], lane: "overload" }));
    const [use] = await stage.limiter.use(["lane.anthropic.overload"]);
    expect(use).toMatchObject({ limited: 0, limits: wideLimits("anthropic"), effective: wideLimits("anthropic") });
  });
});

const answer: Rule = { reply: { text: "FINAL_PATH: (0,0) → (0,1)", usage: { outputTokens: 20 } } };

describe("a lane with limits", () => {
  it("uses them up and is not refused (T10); nor by a vendor that counts by the second (T17)", async () => {
    const stage = await openFieldStage({
      limits: { "openai/gpt-4o": { rpm: 300, tpm: 300_000 }, "google/*": { rpm: 300, rps: 5 } },
    });
    onTestFinished(stage.close);
    stage.play([answer]);
    const limits = { openai: { rpm: 300, tpm: 300_000 }, google: { rpm: 300, inputTpm: 1_000_000_000 } };
    const sweep = await stage.sweep("limited", { models: ["openai", "google"], seeds: 55, limits });
    stage.workPaced({ concurrency: 30 });
    await stage.fates(sweep, 40_000);
    for (const alias of ["openai", "google"] as const) {
      const sent = stage.mock.requests().filter(({ model }) => model === modelOf(alias));
      const startedMs = sent[0]?.atMs ?? 0;
      const refused = sent.filter(({ end, atMs }) => end === 429 && atMs > startedMs + 1000);
      expect(refused).toEqual([]);
      const later = sent.filter(({ atMs }) => atMs > startedMs + 1000).map(({ atMs }) => atMs);
      const spanMs = (later.at(-1) ?? 0) - (later[0] ?? 0);
      expect(((later.length - 1) * 200) / spanMs).toBeGreaterThanOrEqual(0.95);
    }
  });

  it("keeps them over four processes, with everything released at once (T12, T13)", async () => {
    // A minute of twelve seconds, for the limiter and for the server's counts.
    const minuteMs = 12_000;
    const startedMs = Date.now();
    const clock = () => startedMs + (Date.now() - startedMs) * (60_000 / minuteMs);
    const stage = await openFieldStage({ clock }, { minuteMs });
    onTestFinished(stage.close);
    await Promise.all(Array.from({ length: 4 }, () => stage.fork(25)));
    stage.play([answer]);
    const limits = { openai: { rpm: 1_000_000, tpm: 40_000 }, google: { rpm: 10, inputTpm: 1_000_000_000 } };
    await stage.sweep("released", { models: ["openai", "google"], seeds: 100, limits });
    await stage.mock.until(() => stage.requests().openai >= 70 && stage.requests().google >= 12, 90_000);
    const most = Object.fromEntries(stage.mock.counts().lanes.map(({ vendor, maxima60s }) => [vendor, maxima60s]));
    expect(most["openai"]?.tokens).toBeLessThanOrEqual(40_000 * 1.05);
    // The limit, its burst of one, and one that was let go in the minute before and arrived in this one.
    expect(most["google"]?.admitted).toBeLessThanOrEqual(12);
    // Four processes start where this machine may have two cores.
  }, 150_000);
});

describe("sockets", () => {
  it("closed by the server while idle lose no trial of the next burst, with one try each (T18, T20)", async () => {
    const idleCloseMs = 300;
    const stage = await openFieldStage({ idleCloseMs });
    onTestFinished(stage.close);
    stage.workPaced({ concurrency: slots });
    // The bursts begin before, at and after the moment at which the server closes.
    for (const [burst, pauseMs] of [0, 290, 300, 310, 450].entries()) {
      const fromMs = performance.now() + pauseMs;
      await vi.waitFor(() => expect(performance.now()).toBeGreaterThan(fromMs), { timeout: 2000, interval: 5 });
      const fates = await stage.fates(await stage.sweep(`burst ${burst}`, { seeds: 4, tries: 1 }));
      expect(new Set(fates.map(({ outcome }) => outcome))).toEqual(new Set(["ok"]));
    }
    expect(stage.mock.counts().connections).toBeGreaterThan(slots);
  });
});
