import { buildPrompt, estimateTokens, expectedLogTokens, type Language } from "@hallumaze/protocol";
import type { CellPlan, ModelSpec } from "@hallumaze/sweep";

import { mazeOf } from "./prepare-trial.ts";

/** A figure with its bounds: low <= expected <= high. */
export interface Interval {
  readonly low: number;
  readonly expected: number;
  readonly high: number;
}

/** What a ledger knows of a model's first replies in cells of one kind. */
export interface ReplyRecord {
  readonly size: number;
  readonly language: Language;
  /** The token limit that they were answered under. */
  readonly maxTokens: number;
  /** Replies counted. */
  readonly n: number;
  readonly outputTokensMean: number;
  /** Standard deviation of the sample; null where n < 2. */
  readonly outputTokensSd: number | null;
  /** Of the same first requests; null where the server did not tell. */
  readonly inputTokensMean: number | null;
  readonly httpMsMean: number | null;
}

/** Cells that differ by seed and repeat alone, and how many of them are to run. */
export interface CellGroup {
  readonly alias: string;
  /** The plan of any of them. */
  readonly plan: CellPlan;
  readonly cells: number;
}

/** Means over a condition's mazes, by local estimate. */
export interface ConditionTokens {
  readonly promptTokens: number;
  /** The shortest honest answer. */
  readonly logTokens: number;
  readonly longestLog: number;
}

/** What a group of cells takes: sums over its requests, not rounded. */
export interface CellsEstimate {
  readonly requests: Interval;
  readonly inputTokens: Interval;
  readonly outputTokens: Interval;
  /** Seconds of waiting for replies, one after the other. */
  readonly replySeconds: Interval;
  /** Of the slowest kind of reply. */
  readonly longestReplySeconds: Interval;
  /** The largest input that one request may have. */
  readonly largestInputTokens: number;
}

/** What an estimate follows from beside the cells. */
export interface CellsConditions {
  readonly tokens: ConditionTokens;
  /** Null where the ledger has no like replies. */
  readonly record: ReplyRecord | null;
  /** The model thinks before it answers, within its token limit. */
  readonly thinks: boolean;
  /** A second try is allowed. */
  readonly retries: boolean;
  /** Whether triggered trials of group A get a turn more. */
  readonly shadow: boolean;
}

/** Below this many replies their deviation is itself a guess, and the guesses below are safer. */
export const fewestReplies = 5;
/** Mazes whose prompts are measured for a condition; prompts of one condition differ by a few per cent only. */
export const sampledMazes = 12;

/** Vendors' tokenisers against the local estimate. */
const promptFactor: Interval = { low: 0.7, expected: 1, high: 1.4 };
/** What is left of that where the ledger holds the vendor's own counts: other conditions of the same size. */
const measuredPromptFactor: Interval = { low: 0.9, expected: 1, high: 1.1 };
/** Expected reply over the shortest log: a model that does not think tries wrong ways too. */
const detourFactor = 1.5;
/** Tokens that a server writes in a second. */
const tokensPerSecond: Interval = { low: 100, expected: 50, high: 25 };
/** A server's speed on another day, over the recorded one. */
const speedFactor: Interval = { low: 0.7, expected: 1, high: 1.5 };
/** Share of requests that are sent again. */
const retryShare: Interval = { low: 0, expected: 0.03, high: 0.1 };
/** Tokens of a hint or of the neutral turn. */
const hintTokens = 120;
/** Share of the trials of Ariadne that are expected not to be solved at once. */
const expectedTriggers = 0.5;

const bounds = ["low", "expected", "high"] as const;

/** Makes an interval from a function of the bound. */
export function intervalOf(figure: (bound: keyof Interval) => number): Interval {
  const [low, expected, high] = bounds.map(figure);
  return { low: low ?? 0, expected: expected ?? 0, high: high ?? 0 };
}

/** Adds bound by bound: what is off in one part is taken to be off the same way in the others. */
export function addIntervals(intervals: readonly Interval[]): Interval {
  return intervalOf((bound) => intervals.reduce((sum, interval) => sum + interval[bound], 0));
}

/** Measures prompts and shortest answers of a plan's condition over some seeds. */
export function measureCondition(plan: CellPlan, seeds: readonly number[]): ConditionTokens {
  let promptTokens = 0;
  let logTokens = 0;
  let longestLog = 0;
  for (const seed of seeds) {
    const maze = mazeOf({ ...plan, seed });
    const prompt = buildPrompt({ maze, mirage: plan.mirage, language: plan.language, confidence: plan.confidence });
    promptTokens += estimateTokens(prompt.system) + estimateTokens(prompt.user);
    const log = expectedLogTokens(maze.solution.length, plan.language);
    logTokens += log;
    longestLog = Math.max(longestLog, log);
  }
  return { promptTokens: promptTokens / seeds.length, logTokens: logTokens / seeds.length, longestLog };
}

/**
 * Estimates what a group of cells takes.
 *
 * Reply without a record: low = the log of the solution alone, high = the token limit, expected = 1.5 logs, or, for a
 * model that thinks, the geometric mean of low and high. With a record of n replies: mean ± 2 sd of k further cells'
 * mean, within 0 and the limit. The first input likewise: from the local estimate, or the recorded mean.
 *
 * Turns of Ariadne: low none, expected one for half of the cells, high every hint for every cell; each repeats all that
 * was said before. The shadow of group A is one such turn.
 */
export function estimateCells(group: CellGroup, conditions: CellsConditions): CellsEstimate {
  const { cells, plan } = group;
  const reply = replyTokens(group, conditions);
  const seconds = replySeconds(reply, plan, conditions.record);
  const prompt = promptTokens(conditions);
  const turns = turnsOf(plan, conditions.shadow);
  const sum = (figure: (bound: keyof Interval) => number): Interval =>
    intervalOf((bound) => {
      const again = conditions.retries && plan.provider !== "sim" ? retryShare[bound] : 0;
      return cells * (1 + again) * figure(bound);
    });
  const replies = (bound: keyof Interval): number => 1 + turns[bound].share * turns[bound].depth;
  return {
    requests: sum(replies),
    outputTokens: sum((bound) => reply[bound] * replies(bound)),
    replySeconds: sum((bound) => seconds[bound] * replies(bound)),
    longestReplySeconds: seconds,
    inputTokens: sum((bound) => {
      const { share, depth } = turns[bound];
      // Turn d has the prompt, and d replies and hints before it.
      const history = ((reply[bound] + hintTokens) * depth * (depth + 1)) / 2;
      return prompt[bound] + share * (depth * prompt[bound] + history);
    }),
    largestInputTokens: Math.ceil(prompt.high + turns.high.depth * (reply.high + hintTokens)),
  };
}

/** Tokens of one reply. */
function replyTokens(group: CellGroup, { tokens, record, thinks }: CellsConditions): Interval {
  const limit = group.plan.maxTokens;
  const within = (figure: number): number => Math.min(limit, Math.max(0, figure));
  if (record !== null && record.outputTokensSd !== null) {
    const { n, outputTokensMean, outputTokensSd } = record;
    // The mean's own error is shared by all cells; each cell's chance evens out over them. Summed a cell.
    const margin = 2 * outputTokensSd * (1 / Math.sqrt(n) + 1 / Math.sqrt(group.cells));
    return {
      low: within(outputTokensMean - margin),
      expected: within(outputTokensMean),
      high: within(outputTokensMean + margin),
    };
  }
  const low = within(tokens.logTokens);
  return { low, expected: thinks ? Math.sqrt(low * limit) : within(low * detourFactor), high: limit };
}

/** Seconds of one reply; a baseline takes the time that it is told to. */
function replySeconds(reply: Interval, plan: CellPlan, record: ReplyRecord | null): Interval {
  if (plan.provider === "sim") {
    const latencyMs = plan.params["latencyMs"];
    return intervalOf(() => (typeof latencyMs === "number" ? latencyMs / 1000 : 0));
  }
  const recordedMs = record?.httpMsMean ?? null;
  if (recordedMs !== null) return intervalOf((bound) => (recordedMs / 1000) * speedFactor[bound]);
  return intervalOf((bound) => reply[bound] / tokensPerSecond[bound]);
}

/** Tokens of the first request. */
function promptTokens({ tokens, record }: CellsConditions): Interval {
  const recorded = record?.inputTokensMean ?? null;
  return recorded === null
    ? intervalOf((bound) => tokens.promptTokens * promptFactor[bound])
    : intervalOf((bound) => recorded * measuredPromptFactor[bound]);
}

/** Which share of the cells takes how many turns more. */
function turnsOf(
  plan: CellPlan,
  shadow: boolean,
): Record<keyof Interval, { readonly share: number; readonly depth: number }> {
  const most = plan.group === "A" ? (shadow ? 1 : 0) : (plan.ariadne?.hints ?? 0);
  return {
    low: { share: 0, depth: 0 },
    expected: { share: most > 0 ? expectedTriggers : 0, depth: Math.min(1, most) },
    high: { share: 1, depth: most },
  };
}

/** Cells that have an answer, of which judges are asked all the same. */
export interface AnsweredCells {
  readonly groups: readonly CellGroup[];
  /** Requests to judges that have ended. */
  readonly judged: number;
}

/** What was answered, less the share of it that has been judged: nobody keeps which of it that was. */
export function unjudged(
  judge: { readonly share: number; readonly repeats: number } | null,
  { groups, judged }: AnsweredCells,
  given: readonly CellsEstimate[],
): readonly CellsEstimate[] {
  const wanted = groups.reduce((sum, { cells }) => sum + cells, 0) * (judge?.share ?? 0) * (judge?.repeats ?? 0);
  const left = wanted === 0 ? 0 : Math.max(0, 1 - judged / wanted);
  const scaled = (interval: Interval): Interval => intervalOf((bound) => interval[bound] * left);
  if (left === 0) return [];
  return given.map((cells) => ({
    ...cells,
    requests: scaled(cells.requests),
    inputTokens: scaled(cells.inputTokens),
    outputTokens: scaled(cells.outputTokens),
  }));
}

/** The record of like cells; null where there are too few to tell a deviation. */
export function recordFor({ plan }: CellGroup, records: readonly ReplyRecord[]): ReplyRecord | null {
  const record = records.find(
    ({ size, language, maxTokens }) => size === plan.size && language === plan.language && maxTokens === plan.maxTokens,
  );
  return record !== undefined && record.n >= fewestReplies ? record : null;
}

/**
 * What the ledger knows of a model's first replies (group A's only ones, the first turn of B and C): answers to plans of
 * the same provider, model, base URL and parameters, real or rehearsed as the plan is, one record for each size, language
 * and token limit.
 */
export type ReplyHistory = (
  model: ModelSpec,
  options: { readonly rehearsal: boolean },
) => Promise<readonly ReplyRecord[]>;
