import type {
  ComparisonView,
  ExperimentList,
  ExperimentView,
  GridView,
  LaneView,
  LeaderboardView,
  PairList,
  SteeringReport,
  SweepList,
  SweepView,
} from "@hallumaze/contract";

const createdAtMs = Date.UTC(2026, 9, 5, 22, 4, 9);
const name = "overnight";
const steering = { paused: null, cancelledAtMs: null, priority: 0, weight: 1 };
const none = { planned: 0, queued: 0, running: 0, done: 0, failed: 0, cancelled: 0, blocked: 0 };
const states = { done: 412, running: 8, queued: 60, planned: 20, blocked: 14, failed: 23, cancelled: 0 };

function lane(model: string, parked: boolean): LaneView {
  return {
    lane: model,
    models: [model],
    isJudge: false,
    waiting: 60,
    active: 8,
    delayed: 2,
    open: 102,
    finishedPerSecond: parked ? 0 : 0.8,
    etaMs: parked ? null : 7_640_000,
    limits: { rpm: 400, tpm: 150_000, concurrency: 10 },
    use: {
      limits: { rpm: 400, tpm: 150_000, concurrency: 10 },
      effective: { rpm: 400, tpm: 120_000, concurrency: 10 },
      inFlight: 8,
      utilisation: parked ? 0 : 0.974,
      binding: parked ? "parked" : "tpm",
      granted: 512,
      limited: 2,
      parked: parked
        ? { reason: "401: the key was refused by the vendor", sinceMs: createdAtMs + 4000, resumesAtMs: null }
        : null,
    },
    control: null,
  };
}

/** A sweep under way: two models, one of which its vendor stopped. */
export const sweep: SweepView = {
  name,
  createdAtMs,
  nowMs: createdAtMs + 3_600_000,
  rehearsal: false,
  ...steering,
  states,
  etaMs: 7_640_000,
  models: ["openai/gpt-5.4-mini", "anthropic/claude-sonnet-4-6"].map((alias, at) => ({
    alias,
    lane: alias,
    states: { done: 206, running: 4, queued: 30, planned: 10, blocked: at * 14, failed: 11 + at, cancelled: 0 },
    reused: 12,
    outcomes: { ok: 190, truncated: 16 },
    finishedPerSecond: 0.4,
    etaMs: at === 0 ? 7_640_000 : null,
    costUsd: at === 0 ? "3.204411" : null,
    costUnknown: at,
    requests: 240,
    followUps: 0,
    failedRequests: 11,
    limiterMs: 1_204_000,
  })),
  failures: [
    {
      alias: "openai/gpt-5.4-mini",
      outcome: "timeout",
      count: 11,
      firstMessage: "idle for 120 s <img src=x onerror=alert(1)>",
      firstTrialId: "11111111-1111-4111-8111-111111111111",
    },
    {
      alias: "anthropic/claude-sonnet-4-6",
      outcome: "auth",
      count: 12,
      firstMessage: "401: invalid x-api-key",
      firstTrialId: null,
    },
  ],
  money: {
    budgetUsd: "20",
    spentUsd: "6.412210",
    open: { count: 8, boundUsd: "0.31" },
    lost: { count: 1, boundUsd: "0.04", unpriced: 0 },
  },
  lanes: [lane("openai/gpt-5.4-mini", false), lane("anthropic/claude-sonnet-4-6", true)],
  judges: { states: {}, unscored: 0, failures: [] },
  leftGrid: 0,
  lateDuplicates: 1,
  findings: [
    {
      detector: "flat-confidence",
      severity: "warning",
      model: "openai/gpt-5.4-mini",
      condition: null,
      observed: 0.94,
      expected: 0.1,
      n: 200,
      message: "94 % of its walks give one confidence throughout.",
      advice: "Its CE says little.",
      examples: ["11111111-1111-4111-8111-111111111111"],
    },
  ],
  findingsScope: null,
};

/** Two sweeps in a list. */
export const sweepList: SweepList = {
  sweeps: [
    {
      name: "baselines",
      createdAtMs,
      rehearsal: false,
      ...steering,
      states: { ...none, done: 720 },
      budgetUsd: null,
      spentUsd: "0",
    },
    { name, createdAtMs, rehearsal: false, ...steering, states, budgetUsd: "20", spentUsd: "6.412210" },
  ],
};

/** A grid of so many cells: 4 models, 10 conditions, as many seeds as it takes. */
export function gridOf(cells: number, metric: "state" | "robust.mei" = "state"): GridView {
  const models = [
    "openai/gpt-5.4-mini",
    "anthropic/claude-sonnet-4-6",
    "google/gemini-3.5-flash-lite",
    "sim/dfs-honest",
  ];
  const sizes = [5, 7, 9, 11, 13];
  const conditions = sizes.flatMap((size) =>
    [true, false].map((mirage) => ({
      size,
      group: "A" as const,
      mirage,
      language: "ko" as const,
      confidence: true,
      repeat: 0,
    })),
  );
  const seedCount = Math.ceil(cells / (models.length * conditions.length));
  const stateNames = ["done", "running", "queued", "failed", "blocked"] as const;
  const at = { model: [] as number[], condition: [] as number[], seed: [] as number[], state: [] as number[] };
  const value: (number | null)[] = [];
  const trialId: string[] = [];
  for (let cell = 0; cell < cells; cell++) {
    const seed = cell % seedCount;
    const row = Math.floor(cell / seedCount);
    at.seed.push(seed);
    at.condition.push(row % conditions.length);
    at.model.push(Math.floor(row / conditions.length));
    const state = [0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 4, 0][(cell * 7) % 13] ?? 0;
    at.state.push(state);
    if (metric !== "state") value.push(state === 0 ? ((cell * 37) % 100) / 100 : null);
    trialId.push(`22222222-2222-4222-8222-${String(cell).padStart(12, "0")}`);
  }
  return {
    metric,
    models,
    conditions,
    seeds: Array.from({ length: seedCount }, (_, seed) => 1001 + seed),
    states: [...stateNames],
    cells: { ...at, value, trialId },
    range: metric === "state" ? null : { lo: 0, hi: 1, better: "high" },
    truncated: false,
  };
}

const figure = (value: number, half: number) =>
  ({
    value,
    lo: Math.max(0, value - half),
    hi: Math.min(1, value + half),
    n: 100,
    missing: 2,
    method: "maze-bootstrap",
  }) as const;
const count = (value: number) => ({ value, lo: null, hi: null, n: 100, missing: 0, method: null }) as const;

/** Two models ranked. */
export const leaderboard: LeaderboardView = {
  sweep: name,
  profile: "robust",
  level: 0.95,
  rows: [0.71, 0.58].map((mei, at) => ({
    rank: at + 1,
    model: ["anthropic/claude-sonnet-4-6", "openai/gpt-5.4-mini"][at] ?? "",
    planned: 250,
    answered: 206,
    coverage: 0.824,
    nonAnswers: 3,
    cutOffs: 16,
    mazes: 100,
    levels: { l1: 40, l2: 100, l3: 60, unscored: 6 },
    sr: figure(mei + 0.1, 0.07),
    mei: figure(mei, 0.06),
    hrr: figure(mei - 0.2, 0.1),
    ce: figure(0.22, 0.03),
    brs: figure(0.8, 0.05),
    score: figure(mei - 0.05, 0.05),
    hc: count(1.4),
    bt: count(2.1),
    bounds: { sr: [0.6, 0.9] as [number, number], mei: [0.4, 0.8] as [number, number] },
  })),
  choices: { sizes: [5, 7], groups: ["A"], mirages: [true, false], languages: ["ko", "en"] },
};

/** The two compared. */
export const comparison: ComparisonView = {
  sweep: name,
  a: "anthropic/claude-sonnet-4-6",
  b: "openai/gpt-5.4-mini",
  metric: "mei",
  profile: "robust",
  better: "high",
  difference: { value: 0.13, lo: 0.04, hi: 0.22 },
  level: 0.95,
  interval: "bca over mazes",
  mazes: 60,
  unpaired: 4,
  test: "sign-flip",
  p: 0.0042,
  wilcoxonP: 0.0061,
  standardised: 0.41,
  detectable: 0.1,
  bounds: [-0.05, 0.3],
  differences: Array.from({ length: 60 }, (_, maze) => Math.round((Math.sin(maze * 1.7) * 0.5 + 0.13) * 100) / 100),
  reading: "claude-sonnet-4-6 has 0.13 more MEI than gpt-5.4-mini on the same mazes.",
};

/** One experiment that the sweep holds, and one that it does not. */
export const experimentList: ExperimentList = {
  experiments: [
    { experiment: "models", title: "Models compared", whyNot: null },
    { experiment: "human", title: "People and models", whyNot: "No human trials are in the ledger." },
  ],
};

/** What the experiment says. */
export const experiment: ExperimentView = {
  experiment: "models",
  title: "Models compared",
  reading: ["claude-sonnet-4-6 leads by 0.13 MEI."],
  warnings: [{ code: "small-sample", message: "Only 60 mazes are common to both." }],
  tables: [
    {
      name: "means",
      caption: "Means by model",
      columns: [
        { key: "model", label: "Model", kind: "text" },
        { key: "mei", label: "MEI", kind: "interval", better: "high" },
        { key: "n", label: "Mazes", kind: "count" },
      ],
      rows: [
        { model: "claude-sonnet-4-6", mei: { value: 0.71, lo: 0.65, hi: 0.77 }, n: 100 },
        { model: "gpt-5.4-mini", mei: { value: 0.58, lo: 0.51, hi: 0.64 }, n: 100 },
      ],
    },
  ],
  figures: [{ name: "means", title: "Mean MEI by model, 95 % intervals" }],
  provenance: {
    seed: "hallumaze",
    resamples: 10_000,
    permutations: 10_000,
    level: 0.95,
    interval: "BCa",
    unit: "maze",
  },
};

/** Its figure, with an expression that only an interpreter can read under the page's policy. */
export const figureSpec = {
  $schema: "https://vega.github.io/schema/vega-lite/v6.json",
  data: {
    values: [
      { model: "claude-sonnet-4-6", mei: 0.71, lo: 0.65, hi: 0.77 },
      { model: "gpt-5.4-mini", mei: 0.58, lo: 0.51, hi: 0.64 },
    ],
  },
  transform: [{ calculate: "datum.hi - datum.lo", as: "width" }],
  height: 120,
  encoding: { y: { field: "model", type: "nominal", title: null } },
  layer: [
    { mark: "rule", encoding: { x: { field: "lo", type: "quantitative", title: "MEI" }, x2: { field: "hi" } } },
    { mark: { type: "point", filled: true, size: 80 }, encoding: { x: { field: "mei", type: "quantitative" } } },
  ],
};

/** What a steering command did. */
export const steeringReport: SteeringReport = {
  sweep: name,
  paused: null,
  requeued: 11,
  judgements: 0,
  cancelled: 0,
  ending: 0,
  lanes: [],
  held: [],
  priority: 0,
  weight: 1,
  nothing: null,
};

const pairCondition = { size: 5, group: "A", language: "en", confidence: true, repeat: 0 } as const;

/** Trials on the same maze. */
export const pairs: PairList = {
  pairs: [
    {
      trialId: "33333333-3333-4333-8333-333333333333",
      relation: "mirage",
      model: "openai/gpt-5.4-mini",
      ...pairCondition,
      mirage: false,
      state: "done",
      outcome: "ok",
      sr: 1,
      mei: 0.93,
    },
  ],
};

/** All replies of the sweep `overnight`, by their paths. */
export const sweepReplies: Readonly<Record<string, unknown>> = {
  "/api/sweeps": sweepList,
  "/api/sweeps/overnight": sweep,
  "/api/sweeps/overnight/grid": gridOf(400),
  "/api/sweeps/overnight/grid?metric=robust.mei": gridOf(400, "robust.mei"),
  "/api/sweeps/overnight/leaderboard": leaderboard,
  "/api/sweeps/overnight/compare": comparison,
  "/api/sweeps/overnight/experiments": experimentList,
  "/api/sweeps/overnight/experiments/models": experiment,
  "/api/sweeps/overnight/experiments/models/figures/means.json": figureSpec,
  "/api/sweeps/overnight/experiments/models/figures/means.svg": "<svg/>",
  "/api/sweeps/overnight/experiments/models/tables/means.csv": "model,mei\n",
  "/api/sweeps/overnight/pairs": pairs,
};
