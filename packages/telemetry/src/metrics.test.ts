import { describe, expect, it } from "vitest";

import { oneOfEverything, openMetricsStage, paidCall } from "../test/stage.ts";

describe("the metrics of a process", () => {
  it("count its calls, their tokens, their cost and their time, by model", async () => {
    const { metrics, sample } = openMetricsStage();
    metrics.called("trial", "openai/gpt-4o", paidCall);
    metrics.called("trial", "openai/gpt-4o", { ...paidCall, outcome: "rate_limited", costUsd: null, httpMs: 50 });
    const of = 'kind="trial",model="openai/gpt-4o"';
    expect(await sample(`hallumaze_calls_total{${of},outcome="reply"}`)).toBe(1);
    expect(await sample(`hallumaze_calls_total{${of},outcome="rate_limited"}`)).toBe(1);
    expect(await sample(`hallumaze_tokens_total{${of},type="input"}`)).toBe(1400);
    expect(await sample(`hallumaze_tokens_total{${of},type="cached"}`)).toBe(200);
    expect(await sample(`hallumaze_cost_usd_total{${of}}`)).toBe(0.01075);
    expect(await sample(`hallumaze_call_duration_seconds_sum{${of}}`)).toBe(2.55);
  });

  it("keep an unknown cost apart from none", async () => {
    const { metrics, sample } = openMetricsStage();
    metrics.called("judge", "openai/new", { ...paidCall, costUsd: null, isCostUnknown: true });
    expect(await sample('hallumaze_calls_cost_unknown_total{kind="judge",model="openai/new"}')).toBe(1);
    expect(await sample('hallumaze_cost_usd_total{kind="judge",model="openai/new"}')).toBeNull();
    expect(await sample('hallumaze_tokens_total{kind="judge",model="openai/new",type="reasoning"}')).toBeNull();
  });

  it("tell what is under way, and since when", async () => {
    const { metrics, sample, clock } = openMetricsStage();
    metrics.begun("trial", "a");
    clock.nowMs = 2000;
    metrics.begun("trial", "b");
    clock.nowMs = 5000;
    expect(await sample('hallumaze_in_flight{kind="trial"}')).toBe(2);
    expect(await sample('hallumaze_in_flight_oldest_seconds{kind="trial"}')).toBe(5);
    metrics.released("trial", "a");
    expect(await sample('hallumaze_in_flight_oldest_seconds{kind="trial"}')).toBe(3);
    expect(await sample('hallumaze_in_flight_oldest_seconds{kind="judge"}')).toBe(0);
  });

  it("show how tries ended, late replies, the pool, the event loop and the build", async () => {
    const { metrics, sample } = openMetricsStage();
    metrics.ended("trial", "m", "failed", "auth");
    metrics.late("judge");
    expect(await sample('hallumaze_tries_total{kind="trial",model="m",end="failed",outcome="auth"}')).toBe(1);
    expect(await sample('hallumaze_late_replies_total{kind="judge"}')).toBe(1);
    expect(await sample('hallumaze_database_pool_connections{state="used"}')).toBe(2);
    expect(await sample("hallumaze_database_pool_waiting")).toBe(2);
    expect(await sample(`hallumaze_build_info{version="1.2.3",commit="abc",node="${process.version}"}`)).toBe(1);
    expect(await metrics.expose()).toContain("nodejs_eventloop_lag_seconds");
  });
});

describe("the figures of ledger, queue and limiter", () => {
  it("are shown by lane, with no word of why one is parked", async () => {
    const { metrics, sample } = openMetricsStage();
    const lane = 'lane="openai.gpt-4o"';
    expect(await sample(`hallumaze_lane_limit_per_minute{${lane},dimension="requests"}`)).toBe(500);
    expect(await sample(`hallumaze_lane_limit_in_force_per_minute{${lane},dimension="input_tokens"}`)).toBe(15_000);
    expect(await sample(`hallumaze_lane_slots{${lane}}`)).toBe(10);
    expect(await sample(`hallumaze_lane_slots_used{${lane}}`)).toBe(4);
    expect(await sample(`hallumaze_lane_utilisation_ratio{${lane}}`)).toBe(0.97);
    expect(await sample(`hallumaze_lane_granted_total{${lane}}`)).toBe(100);
    expect(await sample(`hallumaze_lane_limited_total{${lane}}`)).toBe(1);
    expect(await sample(`hallumaze_lane_parked{${lane}}`)).toBe(1);
    expect(await sample(`hallumaze_lane_deliveries{${lane},state="delayed"}`)).toBe(3);
    expect(await sample(`hallumaze_oldest_waiting_seconds{kind="trial",${lane}}`)).toBe(4.5);
    expect(await metrics.expose()).not.toContain("sk-secret");
  });

  it("tell the batches of each vendor, their rows, what waits for one, and the age of the oldest where there is one", async () => {
    const { metrics, sample } = openMetricsStage();
    expect(await sample('hallumaze_batches{provider="anthropic"}')).toBe(2);
    expect(await sample('hallumaze_batch_rows{provider="anthropic",state="under_way"}')).toBe(1200);
    expect(await sample('hallumaze_batch_rows{provider="google",state="waiting"}')).toBe(7);
    expect(await sample('hallumaze_batch_oldest_seconds{provider="anthropic"}')).toBe(999);
    expect(await metrics.expose()).not.toContain('hallumaze_batch_oldest_seconds{provider="google"}');
  });

  it("are shown by sweep, the outcome of a retry under way as none, any name escaped", async () => {
    const { sample } = openMetricsStage();
    const sweep = String.raw`sweep="night \"A\"\\\n"`;
    expect(await sample(`hallumaze_trials{${sweep},model="openai/gpt-4o",state="queued",outcome=""}`)).toBe(3);
    expect(await sample(`hallumaze_trials{${sweep},model="openai/gpt-4o",state="done",outcome="ok"}`)).toBe(7);
    expect(await sample(`hallumaze_sweep_spent_usd{${sweep}}`)).toBe(1.25);
    expect(await sample(`hallumaze_sweep_budget_usd{${sweep}}`)).toBe(40);
    expect(await sample(`hallumaze_sweep_paused{${sweep},model="openai/gpt-4o"}`)).toBe(1);
    expect(await sample(`hallumaze_sweep_paused{${sweep},model=""}`)).toBe(0);
    const judged = `${sweep},lane="judge.openai.gpt-4o",state="done",outcome="unscored"`;
    expect(await sample(`hallumaze_judgements{${judged}}`)).toBe(2);
    const judge = 'judge="openai/gpt-4o",prompt_version="llm-judge-v1"';
    expect(await sample(`hallumaze_judge_agreement_ratio{${judge}}`)).toBe(0.5);
    expect(await sample(`hallumaze_judge_gate_open{${judge}}`)).toBe(0);
  });

  it("leave the exposition when they are gone, and stay with their age while the ledger is away", async () => {
    const { sample, set } = openMetricsStage();
    const slots = 'hallumaze_lane_slots{lane="openai.gpt-4o"}';
    set({ ageMs: 30_000, failures: 2, error: new Error("away") });
    expect(await sample(slots)).toBe(10);
    expect(await sample("hallumaze_ledger_reading_age_seconds")).toBe(30);
    expect(await sample("hallumaze_ledger_reading_failures_total")).toBe(2);
    set({ figures: { ...oneOfEverything, lanes: [] } });
    expect(await sample(slots)).toBeNull();
  });

  it.each([
    ["a grant that was given back is no restart", [100, 99, 101], 101],
    ["a limiter that lost its memory counts on", [100, 3, 5], 105],
  ])("%s", async (_, grants, shown) => {
    const { set, metrics, sample } = openMetricsStage();
    for (const granted of grants) {
      const lanes = oneOfEverything.lanes.map((lane) => ({
        ...lane,
        use: lane.use === null ? null : { ...lane.use, granted },
      }));
      set({ figures: { ...oneOfEverything, lanes } });
      await metrics.expose();
    }
    expect(await sample('hallumaze_lane_granted_total{lane="openai.gpt-4o"}')).toBe(shown);
  });
});
