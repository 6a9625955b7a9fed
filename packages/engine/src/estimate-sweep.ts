import { isBatchLane, judgesOf, lanesOf, type ModelSpec, type SweepSpec } from "@hallumaze/sweep";

import {
  addIntervals,
  type AnsweredCells,
  type CellGroup,
  type CellsEstimate,
  type ConditionTokens,
  estimateCells,
  type Interval,
  intervalOf,
  recordFor,
  type ReplyHistory,
  unjudged,
} from "./estimate-cells.ts";
import type { LaneLimits } from "./ports/limiter.ts";

/** What a plan needs of a price: US dollars for a million tokens, as exact decimals. */
export interface PlanPrice {
  readonly input: string;
  /** For a token that is read from the cache; null where that costs what any input does. */
  readonly cached: string | null;
  /** For a token that is written to the cache; null where that costs what any input does. */
  readonly cacheWrite: string | null;
  readonly output: string;
  /** A request with more input than this has another, unknown price; null where one price holds. */
  readonly upToInputTokens: number | null;
}

/** What an estimate asks from outside. */
export interface EstimatePorts {
  /** The provider's own limits of a model's lane, which the spec's override; null where none are known. */
  readonly limitsOf: (model: ModelSpec) => LaneLimits | null;
  /** Null where no price is known. */
  readonly priceOf: (model: ModelSpec) => PlanPrice | null;
  /** Whether the model thinks before it answers, within its token limit. */
  readonly thinks: (model: ModelSpec) => boolean;
  /** Requests that are in flight at most in each lane, beside what the vendor allows. */
  readonly slots: number;
  /** Null where there is no ledger to ask. */
  readonly history: ReplyHistory | null;
  /** What the sweep has cost so far, for its budget. */
  readonly spentUsd: number;
}

/** What may hold a lane up: one of its limits (concurrency: or the slots of the process), or nothing but the program. */
export type BindingLimit = keyof LaneLimits | "batch" | "none";

/** What one model's cells to run take. Counts are whole, money in US dollars. */
export interface ModelEstimate {
  readonly alias: string;
  readonly lane: string;
  readonly requests: Interval;
  readonly inputTokens: Interval;
  readonly outputTokens: Interval;
  /** Null where the price is not known: that is not zero. */
  readonly costUsd: Interval | null;
  /** As if it had its lane for itself. */
  readonly hours: Interval;
  readonly limit: BindingLimit;
  /** Replies of this ledger that the estimate rests on; 0: guesses. */
  readonly basedOnReplies: number;
}

/** What one lane takes. */
export interface LaneEstimate {
  readonly lane: string;
  readonly aliases: readonly string[];
  readonly limits: LaneLimits;
  readonly hours: Interval;
  readonly limit: BindingLimit;
}

/** What a sweep is expected to take from here on: plain data, to be kept and held against what it took. */
export interface PlanEstimate {
  readonly models: readonly ModelEstimate[];
  readonly lanes: readonly LaneEstimate[];
  readonly requests: Interval;
  readonly inputTokens: Interval;
  readonly outputTokens: Interval;
  /** The known part; null where no cell to run has a known price. */
  readonly costUsd: Interval | null;
  /** Aliases whose cost is unknown, and missing in `costUsd`. */
  readonly unpriced: readonly string[];
  /** Lanes run side by side. */
  readonly hours: Interval;
  /** Null without a budget. */
  readonly budget: {
    readonly usd: number;
    readonly spentUsd: number;
    readonly expectedExceeds: boolean;
    readonly highExceeds: boolean;
  } | null;
}

/** Share of a limit that is used in the end. */
const usedShare: Interval = { low: 1, expected: 0.97, high: 0.9 };
/** Trials that the program itself works off in a second, all lanes together. */
const trialsPerSecond: Interval = { low: 500, expected: 150, high: 20 };
const freePrice: PlanPrice = { input: "0", cached: null, cacheWrite: null, output: "0", upToInputTokens: null };

/** Without anything from outside: no limit, no record, and no price but the baselines'. */
export const noPorts: EstimatePorts = {
  limitsOf: () => null,
  priceOf: ({ provider }) => (provider === "sim" ? freePrice : null),
  thinks: () => false,
  slots: 16,
  history: null,
  spentUsd: 0,
};

/**
 * Estimates a sweep from its cells to run, grouped; a model without such cells takes nothing. Its judges are also asked of
 * what is `answered` and not judged.
 */
export async function estimateSweep(
  spec: SweepSpec,
  groups: readonly CellGroup[],
  conditionOf: (group: CellGroup) => ConditionTokens,
  options: { readonly rehearsal: boolean },
  ports: EstimatePorts = noPorts,
  answered: AnsweredCells = { groups: [], judged: 0 },
): Promise<PlanEstimate> {
  const lanes = lanesOf(spec).map((lane) => {
    const first = spec.models.find((model) => model.lane === lane.lane);
    return { ...lane, limits: { ...(first && ports.limitsOf(first)), ...lane.limits } };
  });
  const parts: ModelPart[] = [];
  const given: CellsEstimate[] = [];
  for (const model of spec.models) {
    const own = groups.filter(({ alias, cells }) => alias === model.alias && cells > 0);
    const known = answered.groups.filter(({ alias, cells }) => alias === model.alias && cells > 0);
    const records = own.length + known.length > 0 && ports.history !== null ? await ports.history(model, options) : [];
    const estimateOf = (group: CellGroup) => {
      const record = recordFor(group, records);
      const estimate = estimateCells(group, {
        tokens: conditionOf(group),
        record,
        thinks: ports.thinks(model),
        retries: spec.retries.tries > 1,
        shadow: spec.ariadne.shadow && spec.groups.includes("B"),
      });
      return { record, estimate };
    };
    const cells = own.map(estimateOf);
    given.push(...known.map((group) => estimateOf(group).estimate));
    const demand = demandOf(cells.map(({ estimate }) => estimate));
    const limits = lanes.find(({ lane }) => lane === model.lane)?.limits ?? {};
    const cost = costOf(demand, own.length === 0 ? freePrice : ports.priceOf(model));
    const used = new Set(cells.flatMap(({ record }) => record ?? []));
    const estimate = {
      alias: model.alias,
      lane: model.lane,
      requests: demand.requests,
      inputTokens: demand.inputTokens,
      outputTokens: demand.outputTokens,
      costUsd: cost === null ? null : dollars(cost),
      ...pace(model.lane, demand, limits, ports.slots),
      basedOnReplies: [...used].reduce((sum, { n }) => sum + n, 0),
    };
    parts.push({ estimate, demand, cost });
  }
  const judge = judgePart(
    spec,
    [...parts.map(({ demand }) => demand), ...unjudged(spec.judge, answered, given)],
    ports,
  );
  if (judge !== null) parts.push(judge);
  const laneEstimates = lanes.map(({ lane, aliases, limits }) => {
    const demand = joinDemands(parts.filter(({ estimate }) => estimate.lane === lane).map((part) => part.demand));
    return { lane, aliases, limits, ...pace(lane, demand, limits, ports.slots) };
  });
  return totals(spec, parts, laneEstimates, ports.spentUsd);
}

/** Rules, criteria and facts that a judge is told beside prompt and answer. */
const judgeRulesTokens = 1500;
/** A verdict with its evidence. */
const verdictTokens: Interval = { low: 150, expected: 400, high: 4000 };
/** Calls for each answer to judge: second opinions, replies that have to be asked for again. */
const callsPerAnswer: Interval = { low: 1, expected: 1.1, high: 3 };

/** What judging answers takes: each with its prompt and the rules, in a request of its own. */
function judgePart(spec: SweepSpec, asked: readonly CellsEstimate[], ports: EstimatePorts): ModelPart | null {
  const [judge] = judgesOf(spec);
  if (judge === undefined || spec.judge === null) return null;
  const { share, repeats } = spec.judge;
  const answers = joinDemands(asked);
  const calls = intervalOf((bound) => answers.requests[bound] * share * repeats * callsPerAnswer[bound]);
  const perCall = (bound: keyof Interval): number =>
    answers.requests[bound] === 0
      ? 0
      : (answers.inputTokens[bound] + answers.outputTokens[bound]) / answers.requests[bound] + judgeRulesTokens;
  const isAsked = judge.provider !== "sim" && calls.high > 0;
  const seconds = intervalOf((bound) => (isAsked ? verdictTokens[bound] / 50 : 0));
  const demand = demandOf([
    {
      requests: calls,
      inputTokens: intervalOf((bound) => calls[bound] * perCall(bound)),
      outputTokens: intervalOf((bound) => calls[bound] * verdictTokens[bound]),
      replySeconds: intervalOf((bound) => calls[bound] * seconds[bound]),
      longestReplySeconds: seconds,
      largestInputTokens: Math.ceil(perCall("high")),
    },
  ]);
  const name = `${judge.provider}/${judge.model}`;
  const lane = judge.lane.replace(/^judge\./, "");
  const model: ModelSpec = {
    ...judge,
    alias: name,
    lane,
    laneOverride: null,
    deadline: null,
    temperatureExplicit: false,
    maxTokens: { default: judge.maxTokens ?? verdictTokens.high, perSize: {} },
  };
  const limits = { ...ports.limitsOf(model), ...spec.limits[name] };
  const cost = costOf(demand, ports.priceOf(model));
  const { requests, inputTokens, outputTokens } = demand;
  const estimate: ModelEstimate = {
    alias: `judge ${name}`,
    lane: judge.lane,
    requests,
    inputTokens,
    outputTokens,
    costUsd: cost === null ? null : dollars(cost),
    ...pace(judge.lane, demand, limits, ports.slots),
    basedOnReplies: 0,
  };
  return { estimate, demand, cost };
}

/** Exact, in trillionths of a dollar. */
type Cost = Readonly<Record<keyof Interval, bigint>>;

interface ModelPart {
  readonly estimate: ModelEstimate;
  readonly demand: Demand;
  /** Null where the price is not known. */
  readonly cost: Cost | null;
}

/** What a lane is asked to carry; counts are whole. */
type Demand = CellsEstimate;

function demandOf(cells: readonly CellsEstimate[]): Demand {
  const sums = joinDemands(cells);
  return {
    ...sums,
    requests: whole(sums.requests),
    inputTokens: whole(sums.inputTokens),
    outputTokens: whole(sums.outputTokens),
  };
}

function joinDemands(parts: readonly CellsEstimate[]): Demand {
  return {
    requests: addIntervals(parts.map(({ requests }) => requests)),
    inputTokens: addIntervals(parts.map(({ inputTokens }) => inputTokens)),
    outputTokens: addIntervals(parts.map(({ outputTokens }) => outputTokens)),
    replySeconds: addIntervals(parts.map(({ replySeconds }) => replySeconds)),
    longestReplySeconds: intervalOf((bound) =>
      Math.max(0, ...parts.map(({ longestReplySeconds }) => longestReplySeconds[bound])),
    ),
    largestInputTokens: Math.max(0, ...parts.map(({ largestInputTokens }) => largestInputTokens)),
  };
}

/** Whole counts; the grain keeps 100 × 1.1 from being 111. */
function whole({ low, expected, high }: Interval): Interval {
  const grain = 1e-6;
  return { low: Math.floor(low + grain), expected: Math.round(expected), high: Math.ceil(high - grain) };
}

/** Low: all input from the cache; high: all of it written to the cache. Null where the price is not known. */
function costOf(demand: Demand, price: PlanPrice | null): Cost | null {
  if (price === null) return null;
  if (price.upToInputTokens !== null && demand.largestInputTokens > price.upToInputTokens) return null;
  const { inputTokens, outputTokens } = demand;
  const inputCosts = (bound: keyof Interval): readonly bigint[] =>
    [price.input, price.cached, price.cacheWrite].flatMap((each) =>
      each === null ? [] : [picoDollars(inputTokens[bound], each)],
    );
  const outputCost = (bound: keyof Interval): bigint => picoDollars(outputTokens[bound], price.output);
  return {
    low: inputCosts("low").reduce((least, each) => (each < least ? each : least)) + outputCost("low"),
    expected: picoDollars(inputTokens.expected, price.input) + outputCost("expected"),
    high: inputCosts("high").reduce((most, each) => (each > most ? each : most)) + outputCost("high"),
  };
}

function dollars(cost: Cost): Interval {
  return intervalOf((bound) => Number(usdOf(cost[bound])));
}

/** What the vendors promise of a batch, and what they mostly do. */
const batchHours: Interval = { low: 0.1, expected: 1, high: 24 };

/** How long a lane takes for a demand, and what holds it up in the expected case. */
function pace(
  lane: string,
  demand: Demand,
  limits: LaneLimits,
  slots: number,
): { readonly hours: Interval; readonly limit: BindingLimit } {
  if (isBatchLane(lane) && demand.requests.high > 0) return { hours: batchHours, limit: "batch" };
  const hoursBy = (bound: keyof Interval): readonly (readonly [BindingLimit, number])[] => {
    const requests = demand.requests[bound];
    const [input, output] = [demand.inputTokens[bound], demand.outputTokens[bound]];
    const hours: [BindingLimit, number][] = [["none", requests / trialsPerSecond[bound] / 3600]];
    const perMinute = { rpm: requests, inputTpm: input, outputTpm: output, tpm: input + output };
    for (const dimension of ["rpm", "inputTpm", "outputTpm", "tpm"] as const) {
      const limit = limits[dimension];
      if (limit !== undefined) hours.push([dimension, perMinute[dimension] / limit / usedShare[bound] / 60]);
    }
    hours.push(["concurrency", demand.replySeconds[bound] / Math.min(slots, limits.concurrency ?? slots) / 3600]);
    return hours;
  };
  const longest = (bound: keyof Interval): readonly [BindingLimit, number] =>
    hoursBy(bound).reduce((worst, each) => (each[1] > worst[1] ? each : worst));
  // The last reply is waited for after all has been let through, and at worst asked for once again.
  const lastReply = (bound: keyof Interval): number =>
    (demand.longestReplySeconds[bound] * (bound === "high" && demand.requests.high > 0 ? 2 : 1)) / 3600;
  return { hours: intervalOf((bound) => longest(bound)[1] + lastReply(bound)), limit: longest("expected")[0] };
}

function totals(
  spec: SweepSpec,
  parts: readonly ModelPart[],
  lanes: readonly LaneEstimate[],
  spentUsd: number,
): PlanEstimate {
  const models = parts.map(({ estimate }) => estimate);
  const requests = addIntervals(models.map((model) => model.requests));
  const cost = sumCosts(parts);
  // A batch of judges begins when the answers are there; live ones keep up with them.
  const after = models.filter(({ lane }) => isBatchLane(lane) && lanes.every((one) => one.lane !== lane));
  const judging = addIntervals(after.map(({ hours }) => hours));
  return {
    models,
    lanes,
    requests,
    inputTokens: addIntervals(models.map((model) => model.inputTokens)),
    outputTokens: addIntervals(models.map((model) => model.outputTokens)),
    costUsd: cost === null ? null : dollars(cost),
    unpriced: models.flatMap(({ alias, costUsd }) => (costUsd === null ? [alias] : [])),
    hours: intervalOf((bound) => {
      const own = requests[bound] / trialsPerSecond[bound] / 3600;
      return Math.max(own, ...lanes.map(({ hours }) => hours[bound])) + judging[bound];
    }),
    budget: holdAgainst(spec.budgetUsd, spentUsd, cost),
  };
}

/** The known part; null where something is to run and nothing that is to run has a price. */
function sumCosts(parts: readonly ModelPart[]): Cost | null {
  const running = parts.filter(({ estimate }) => estimate.requests.high > 0);
  const known = running.flatMap(({ cost }) => cost ?? []);
  if (known.length === 0 && running.length > 0) return null;
  const sum = (bound: keyof Cost): bigint => known.reduce((total, cost) => total + cost[bound], 0n);
  return { low: sum("low"), expected: sum("expected"), high: sum("high") };
}

function holdAgainst(budgetUsd: number | null, spentUsd: number, cost: Cost | null): PlanEstimate["budget"] {
  if (budgetUsd === null) return null;
  const exceeds = (bound: keyof Cost): boolean => picoOf(spentUsd) + (cost?.[bound] ?? 0n) > picoOf(budgetUsd);
  return { usd: budgetUsd, spentUsd, expectedExceeds: exceeds("expected"), highExceeds: exceeds("high") };
}

function picoOf(usd: number): bigint {
  return BigInt(usd.toFixed(12).replace(".", ""));
}

/** Prices have at most this many decimals; a token's share has six more. */
const priceDecimals = 6;
const sumDecimals = priceDecimals + 6;

/**
 * What tokens cost, exactly, in trillionths of a dollar. `tokens`: an integer >= 0; `usdPerMillion`: a decimal of up to six
 * places. Sums of these are exact; `usdOf` writes them.
 */
export function picoDollars(tokens: number, usdPerMillion: string): bigint {
  if (!/^\d+(\.\d{1,6})?$/.test(usdPerMillion))
    throw new RangeError(`price "${usdPerMillion}" is no decimal of up to 6 places`);
  const [whole = "0", fraction = ""] = usdPerMillion.split(".");
  return BigInt(tokens) * BigInt(whole + fraction.padEnd(priceDecimals, "0"));
}

/** Writes trillionths of a dollar as exact decimal US dollars, without trailing zeros. */
export function usdOf(pico: bigint): string {
  const digits = pico.toString().padStart(sumDecimals + 1, "0");
  const fraction = digits.slice(-sumDecimals).replace(/0+$/, "");
  return `${digits.slice(0, -sumDecimals)}${fraction === "" ? "" : `.${fraction}`}`;
}
