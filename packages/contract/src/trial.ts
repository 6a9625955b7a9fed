import { z } from "zod";

import { conditionFields, profileName, trialState, usd } from "./trial-words.ts";
import { mazeView, readingView, textSpan, walkView } from "./walk.ts";

/** A trial's id in a path: a model's, or a person's, which begins with `human-`. */
export const trialIdText = z.string().regex(/^(?:human-)?[0-9A-Za-z-]{1,80}$/, "must be a trial's id");

/** Parameters of a trial's path. */
export const trialParam = z.strictObject({ trialId: trialIdText });

/** One formula with the numbers of this trial in it. */
export const formulaView = z.object({
  metric: z.enum(["sr", "hc", "fhr", "bt", "lt", "hrr", "f", "l", "mei", "ce", "brs", "score"]),
  formula: z.string().describe("Such as min(1, BT / HC)"),
  filled: z.string().nullable().describe("The same with numbers; null where the metric is a count of the walk"),
  value: z.number().nullable(),
  better: z.enum(["high", "low", "neither"]),
  note: z.string().nullable().describe("Why it is null, or which case of the rule holds"),
});

/** A formula as it is served. */
export type FormulaView = z.infer<typeof formulaView>;

/** A trial's numbers in one profile. */
export const profileView = z.object({
  profile: profileName,
  version: z.string(),
  isStored: z.boolean().describe("True where the ledger's numbers are these; false where a rescore would change them"),
  formulas: z.array(formulaView).describe("In the order of the table"),
});

/** A profile's numbers as they are served. */
export type ProfileView = z.infer<typeof profileView>;

/** One reply of the scored conversation. */
export const replyView = z.object({
  turn: z.int(),
  said: z
    .object({ kind: z.enum(["hint", "note", "continue"]), text: z.string(), triggers: z.array(z.string()) })
    .nullable()
    .describe("The user turn before it; null for the first prompt"),
  text: z.string().describe("As it came. Text, never markup"),
  isPruned: z.boolean().describe("True where the text was pruned: nothing can be shown of it"),
  finishReason: z.string().nullable(),
  isScored: z.boolean().describe("False for a shadow of group A"),
});

/** A reply as it is served. */
export type ReplyView = z.infer<typeof replyView>;

/** One request of a trial. */
export const exchangeView = z.object({
  sequence: z.int().describe("1-based, in the order in which they were kept"),
  turn: z.int(),
  tryNumber: z.int(),
  sentAtMs: z.number().describe("When it was kept less how long it took"),
  httpMs: z.number(),
  ttftMs: z.number().nullable(),
  queueMs: z.number().nullable(),
  limiterMs: z.number().nullable(),
  inputTokens: z.int().nullable(),
  outputTokens: z.int().nullable(),
  cachedTokens: z.int().nullable(),
  reasoningTokens: z.int().nullable(),
  costUsd: usd,
  costBoundUsd: usd.describe("Most that it can have cost where that is not known"),
  finishReason: z.string().nullable(),
  nativeFinishReason: z.string().nullable(),
  servedModel: z.string().nullable(),
  servedBy: z.string().nullable(),
  outcome: z.string().nullable().describe("Of a failed request; null: it was answered"),
  errorMessage: z.string().nullable(),
  isLate: z.boolean().describe("True where it was archived and never accepted"),
  reply: z.int().nullable().describe("Place in the trial's replies whose text is its; null: see text"),
  text: z.string().nullable().describe("Null where it is a reply's, none came, or it was pruned"),
  reasoning: z.string().nullable(),
  isPruned: z.boolean(),
});

/** An exchange as it is served. */
export type ExchangeView = z.infer<typeof exchangeView>;

/** One judgement of a trial's conversation. */
export const trialJudgement = z.object({
  judgementId: z.string(),
  createdAtMs: z.number(),
  level: z.int().nullable().describe("1 … 3; null: see unscoredReason"),
  unscoredReason: z.string().nullable(),
  confidence: z.number().nullable(),
  reasoning: z.string().nullable(),
  counterArgument: z.string().nullable(),
  evidence: z.array(
    z.object({
      quote: z.string(),
      claim: z.string(),
      span: textSpan.nullable().describe("Where it stands in the replies; null where it does not, word for word"),
    }),
  ),
  flags: z.array(z.string()),
  scoredBy: z.string(),
  decidedBy: z.string(),
  modelAsked: z.string(),
  modelServed: z.string().nullable(),
  promptVersion: z.string(),
  rubricVersion: z.string(),
  round: z.string(),
  repeat: z.int(),
  attempt: z.int(),
  costUsd: usd,
  httpMs: z.number().nullable(),
});

/** A judgement as it is served. */
export type TrialJudgement = z.infer<typeof trialJudgement>;

/** Answer of `GET /api/trials/{trialId}`. */
export const trialView = z
  .object({
    trialId: z.string(),
    kind: z.enum(["model", "human"]),
    sweep: z.string().nullable().describe("Null for a person's"),
    model: z.string().describe("Its name in the sweep, or the participant"),
    provider: z.string(),
    seed: z.number(),
    ...conditionFields,
    repeat: z.int(),
    temperature: z.number().nullable(),
    maxTokens: z.int().nullable(),
    params: z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])),
    promptVersion: z.string(),
    rehearsal: z.boolean(),
    state: trialState,
    outcome: z.string().nullable(),
    message: z.string().nullable(),
    tries: z.int(),
    isReused: z.boolean(),
    createdAtMs: z.number(),
    finishedAtMs: z.number().nullable(),
    costUsd: usd,
    maze: mazeView,
    prompt: z.object({ system: z.string(), user: z.string() }).nullable().describe("Null for a person's"),
    replies: z.array(replyView).describe("Empty without an answer"),
    reading: readingView.nullable(),
    walk: walkView.nullable().describe("Null without an answer, or where its text was pruned"),
    profiles: z.array(profileView),
    level: z
      .object({ level: z.int().nullable(), unscoredReason: z.string().nullable(), spread: z.number().nullable() })
      .nullable()
      .describe("What the judges' verdicts come to; null where none was asked"),
    judgements: z.array(trialJudgement).describe("Oldest first"),
    exchanges: z.array(exchangeView).describe("Oldest first; the newest 100 of more"),
  })
  .meta({ id: "Trial" });

/** A trial as it is served. */
export type TrialView = z.infer<typeof trialView>;

/** Query of `GET /api/sweeps/{name}/pairs`. */
export const pairsQuery = z.strictObject({ trial: trialIdText });

/** A trial on the same maze. */
export const pairView = z.object({
  trialId: z.string(),
  relation: z
    .enum(["mirage", "model", "repeat", "condition", "human"])
    .describe("What differs: mirage alone, the model alone, the repeat alone, several things, or a person's walk"),
  model: z.string(),
  ...conditionFields,
  repeat: z.int(),
  state: trialState,
  outcome: z.string().nullable(),
  sr: z.number().nullable(),
  mei: z.number().nullable().describe("Robust"),
});

/** Answer of `GET /api/sweeps/{name}/pairs`: mirage first, then models, people, the others. */
export const pairList = z.object({ pairs: z.array(pairView) }).meta({ id: "PairList" });

/** The trials on one maze as they are served. */
export type PairList = z.infer<typeof pairList>;
