import type { CellPlan, Group } from "@hallumaze/sweep";

/** What holds for all trials of one model in a sweep. */
export interface ModelFacts {
  readonly alias: string;
  /** A built-in solver (provider `sim`): it answers by a rule, and may do so alike by design. */
  readonly isBaseline: boolean;
  /** 0: greedy decoding, replies may repeat. Null: the vendor's default, which samples. */
  readonly temperature: number | null;
}

/** How many trials of one condition stand in one state with one outcome. */
export interface ConditionTally {
  readonly alias: string;
  readonly size: number;
  readonly group: Group;
  readonly mirage: boolean;
  readonly language: CellPlan["language"];
  readonly confidence: boolean;
  readonly state: string;
  readonly outcome: string | null;
  readonly count: number;
}

/** The accepted first replies to prompts of one form, in one quarter of the model's replies by time. */
export interface PromptTally {
  readonly alias: string;
  readonly size: number;
  readonly language: CellPlan["language"];
  readonly mirage: boolean;
  readonly confidence: boolean;
  /** 0 … 3. */
  readonly period: number;
  /** One of the plans: prompts of one form differ little in length. */
  readonly plan: CellPlan;
  readonly replies: number;
  /** Replies that state their input tokens, and the mean, null where none does. */
  readonly inputCounted: number;
  readonly inputMean: number | null;
  /** Mean natural logarithm of the request's milliseconds. */
  readonly latencyLogMean: number;
}

/** The accepted first replies of a model in one size. */
export interface SizeTally {
  readonly alias: string;
  readonly size: number;
  readonly maxTokens: number;
  readonly replies: number;
  /** Output tokens that 95 % of the replies with outcome `ok` stay at or below; null where none is counted. */
  readonly completeOutputP95: number | null;
  /** Replies whose thoughts used the limit up: cut in reasoning, or empty and ended by the limit. */
  readonly thoughtOut: number;
  /** Mean reasoning tokens of these; null where not counted. */
  readonly thoughtOutReasoningMean: number | null;
  /** Replies whose end is not told, or told by a word that means nothing known. */
  readonly unknownFinish: number;
  /** Replies that state no input or no output tokens. */
  readonly missingUsage: number;
}

/** One name under which a model's replies were served. */
export interface ServedTally {
  readonly alias: string;
  readonly kind: "model" | "host";
  readonly name: string;
  readonly replies: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** Unbroken runs of it in the order of time, among replies that name one. */
  readonly runs: number;
}

/** How often different mazes got the same reply text, for one model in one size. Non-answers are left out. */
export interface AnswerTally {
  readonly alias: string;
  readonly size: number;
  /** Mazes with an answer, counted in each condition. */
  readonly answers: number;
  /** Of these: with a text that another maze of the same condition got too. */
  readonly shared: number;
  /** Most mazes with one text in one condition. */
  readonly largest: number;
  /** Two trials of that text; empty where no text is shared. */
  readonly examples: readonly string[];
}

/** A model's pairs of answers to one maze with and without the mirage, where the two prompts differ. */
export interface MirageTally {
  readonly alias: string;
  readonly pairs: number;
  readonly identical: number;
  /** Pairs in which both replies state their input tokens, and those where the two counts are equal. */
  readonly counted: number;
  readonly sameInput: number;
  readonly examples: readonly string[];
}

/** A model's sets of repeats of one cell that have two answers or more. */
export interface RepeatTally {
  readonly alias: string;
  readonly sets: number;
  /** Sets in which all texts are the same. */
  readonly identical: number;
  readonly examples: readonly string[];
}

/** What a few of a model's replies say of confidence, among those that were asked for it and hold a log. */
export interface ConfidenceTally {
  readonly alias: string;
  readonly replies: number;
  readonly without: number;
  readonly statements: number;
  readonly distinct: number;
}

/** All that the detectors look at: counts, whose number grows with models and conditions, not with trials. */
export interface SweepAggregates {
  /** Trials whose states were counted, and those whose replies were looked at. */
  readonly countedTrials: number;
  readonly lookedAtTrials: number;
  readonly models: readonly ModelFacts[];
  readonly conditions: readonly ConditionTally[];
  readonly prompts: readonly PromptTally[];
  readonly sizes: readonly SizeTally[];
  readonly served: readonly ServedTally[];
  readonly answers: readonly AnswerTally[];
  readonly mirages: readonly MirageTally[];
  readonly repeats: readonly RepeatTally[];
  readonly confidences: readonly ConfidenceTally[];
}

/** How many trials are looked at, at most, about. */
export interface AggregateBounds {
  /** For states and outcomes. */
  readonly trials: number;
  /** For what needs the replies. */
  readonly replies: number;
}

/** The part of the ledger that detectors read. */
export interface DetectorStorePort {
  /**
   * Counts a sweep's trials of the grid for the detectors. Above the bounds, the first seeds of every model and size
   * stand for all: lanes work in a shuffled order, so these are spread over the whole time, and their mazes are whole.
   */
  readonly aggregates: (sweepId: string, bounds: AggregateBounds) => Promise<SweepAggregates>;
}
