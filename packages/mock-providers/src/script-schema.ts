import { solverNames } from "@hallumaze/solvers";
import { z } from "zod";

import { failureKinds, retryAfterForms, vendors } from "./dialect.ts";

const wholeNumber = z.int().min(0);
const delayMs = z.number().min(0).max(86_400_000);
const share = z.number().min(0).max(1);

const when = z.strictObject({
  vendor: z.enum(vendors).optional(),
  /** Format of the request: `messages`, `chat`, `responses`, `generateContent`. */
  format: z.enum(["messages", "chat", "responses", "generateContent"]).optional(),
  /** Model name; `*` stands for any text. */
  model: z.string().optional(),
  /** The key itself, word for word. */
  key: z.string().optional(),
  stream: z.boolean().optional(),
  /** Number of user turns in the conversation. */
  turns: wholeNumber.optional(),
  /** A text that the last user message holds. */
  contains: z.string().optional(),
  /** A parameter that the body sets, by path: `temperature`, `generationConfig.maxOutputTokens`. */
  parameter: z.string().optional(),
});

const nth = z.union([
  z.int().min(1),
  z.array(z.int().min(1)).min(1),
  z.strictObject({ from: z.int().min(1).optional(), to: z.int().min(1).optional(), every: z.int().min(1).optional() }),
]);

const failure = z.strictObject({
  kind: z.enum(failureKinds),
  message: z.string().optional(),
  /** Parameter that a 400 names. */
  param: z.string().optional(),
  retryAfterMs: delayMs.optional(),
  /** How the wait is told; `vendor` is the vendor's own habit. */
  retryAfterForm: z.enum(retryAfterForms).optional(),
  dimension: z.enum(["requests", "tokens", "inputTokens", "outputTokens", "concurrency"]).optional(),
  /** Puts the request's key into the message. */
  echoKey: z.boolean().optional(),
  status: z.int().min(200).max(599).optional(),
  headers: z.record(z.string(), z.string()).optional(),
});

const drawn = z.strictObject({
  /** Median of a log-normal draw. */
  median: z.number().positive(),
  /** Its spread: standard deviation of the logarithm. */
  sigma: z.number().min(0).max(5),
  max: z.number().positive().optional(),
});

const reply = z.strictObject({
  text: z.string().optional(),
  /** Added to the answer's end. */
  append: z.string().optional(),
  reasoning: z.string().optional(),
  /** The baseline agent that answers this request. */
  solver: z.enum(solverNames).optional(),
  finish: z
    .enum(["stop", "length", "refused", "safety", "recitation", "prohibited", "paused", "context", "other"])
    .optional(),
  /** The vendor's finish reason, word for word. */
  nativeFinish: z.string().optional(),
  shape: z.enum(["normal", "choices_empty", "choices_null", "no_usage", "prompt_blocked", "empty_body"]).optional(),
  servedModel: z.string().optional(),
  /** Counts that the reply states instead of the true ones. */
  usage: z
    .strictObject({
      inputTokens: wholeNumber.optional(),
      outputTokens: z.union([wholeNumber, drawn]).optional(),
      cachedTokens: wholeNumber.optional(),
      reasoningTokens: wholeNumber.optional(),
    })
    .optional(),
  /** Puts the request's key into the text. */
  echoKey: z.boolean().optional(),
});

const respond = z.strictObject({
  status: z.int().min(200).max(599).default(200),
  headers: z.record(z.string(), z.string()).default({}),
  /** A text as it stands, anything else as JSON. `{{key}}` in it becomes the request's key. */
  body: z.json().default(""),
});

const delivery = z.strictObject({
  /** Wait before the first byte of the reply. */
  headerDelayMs: delayMs.optional(),
  /** Headers at once, then this many filler lines: blank ones before JSON, `: keep-alive` in a stream. */
  filler: z.strictObject({ lines: wholeNumber, everyMs: delayMs.default(0), line: z.string().optional() }).optional(),
  /**
   * A reply that stops after so many events, at the latest before its finish frames (a body without stream: after its
   * half). Without `forMs` for good.
   */
  stall: z.strictObject({ afterEvents: wholeNumber, forMs: delayMs.optional() }).optional(),
  /** A reply that ends properly after so many events, without its finish frame (a body: after its half). */
  cut: z.strictObject({ afterEvents: wholeNumber }).optional(),
  /** An error as an event of the stream, then its end. */
  errorEvent: z.strictObject({ afterEvents: wholeNumber, kind: z.enum(failureKinds) }).optional(),
  /** Resets the connection: before any byte, after the headers, or after half of the reply. */
  reset: z.enum(["before_headers", "after_headers", "in_body"]).optional(),
  /** Never answers and keeps the connection open. */
  blackHole: z.boolean().optional(),
  /** Sends the bytes in chunks of this size, across characters. */
  chunkBytes: z.int().min(1).optional(),
  /** Says `Connection: close` and closes after the reply. */
  closeConnection: z.boolean().optional(),
});

/** One rule of a script: when it applies, and what it does to the request. */
export const ruleSchema = z.strictObject({
  name: z.string().optional(),
  when: when.optional(),
  /** Which of the requests that fit `when`, counted from 1 in the scope of `countBy`. All, where it is left out. */
  nth: nth.optional(),
  /** `rule`: all requests that fit. `prompt`: per conversation. `connection`: per TCP connection. */
  countBy: z.enum(["rule", "prompt", "model", "key", "connection"]).optional(),
  /** How often the rule applies at most. */
  times: wholeNumber.optional(),
  /** Share of the requests that fit, drawn by the server's seed. */
  probability: share.optional(),
  fail: z.union([z.enum(failureKinds), failure]).optional(),
  respond: respond.optional(),
  reply: reply.optional(),
  delivery: delivery.optional(),
});

/** A script: the first rule that applies decides. */
export const scriptSchema = z.array(ruleSchema).max(1000);

const places = z.union([z.int().min(1), z.array(z.int().min(1)).min(1)]);

/** What becomes of batches; the first rule that applies decides. */
const batchRuleSchema = z.strictObject({
  vendor: z.enum(vendors).optional(),
  /** Which submissions, counted from 1 over all vendors, refused ones too; all, where it is left out. */
  nth: places.optional(),
  /** The submission is refused and nothing is made. */
  refuse: z.enum(failureKinds).optional(),
  /** The batch is made, and the connection ends before the answer. */
  loseAnswer: z.boolean().optional(),
  /** How long the list does not show it yet. */
  listAfterMs: z.number().min(0).optional(),
  /** When it ends, by the server's clock; at the first look, where it is left out. */
  afterMs: z.number().min(0).optional(),
  /** Ends of rows by their 1-based places, or of a drawn share of them; the first that applies decides. */
  rows: z
    .array(
      z.strictObject({
        nth: places.optional(),
        share: share.optional(),
        end: z.enum(["errored", "expired", "canceled", "missing"]),
        /** What an errored row says. */
        error: z.enum(failureKinds).default("overloaded"),
      }),
    )
    .optional(),
  /** OpenAI: the batch is made and then fails as a whole for these reasons; `line` is 1-based. */
  failed: z
    .array(z.strictObject({ code: z.string(), message: z.string().optional(), line: z.int().min(1).optional() }))
    .optional(),
  /** Results whose custom ids nobody asked for. */
  unknownRows: wholeNumber.optional(),
  /** The results are past their retention. */
  resultsGone: z.boolean().optional(),
});

/** A script of batches. */
export const batchScriptSchema = z.array(batchRuleSchema).max(1000);

/** One rule of batches as its author writes it. */
export type BatchRule = z.input<typeof batchRuleSchema>;

/** A rule of batches with its defaults filled in. */
export type ParsedBatchRule = z.output<typeof batchRuleSchema>;

const laneLimits = z.strictObject({
  rpm: z.number().positive().optional(),
  rps: z.number().positive().optional(),
  inputTpm: z.number().positive().optional(),
  outputTpm: z.number().positive().optional(),
  tpm: z.number().positive().optional(),
  concurrency: z.int().min(1).optional(),
  capacityShare: z.number().positive().max(1).optional(),
  takenByOthers: share.optional(),
});

/** Limits by `vendor/model` pattern. */
export const limitsSchema = z.record(z.string(), laneLimits);

/** Time that an answer takes: `baseMs` to its first token, then `perTokenMs` for each. */
export const latencySchema = z.strictObject({
  baseMs: delayMs.default(0),
  perTokenMs: delayMs.default(0),
});

/** The options of a server that stands in a file or comes from a command line. */
export const optionsSchema = z.strictObject({
  port: z.int().min(0).max(65_535).optional(),
  host: z.string().optional(),
  seed: z.int().min(0).optional(),
  limits: limitsSchema.optional(),
  /** A solver for all models, or solvers by model pattern. */
  solver: z.union([z.enum(solverNames), z.record(z.string(), z.enum(solverNames))]).optional(),
  script: scriptSchema.optional(),
  batches: batchScriptSchema.optional(),
  latency: latencySchema.partial().optional(),
  /** Keys that are accepted; any, where it is left out. */
  keys: z.array(z.string()).optional(),
  /** Model patterns that exist; all, where it is left out. */
  models: z.array(z.string()).optional(),
  /** Closes a connection that has been idle for so long, without announcing it. */
  idleCloseMs: delayMs.optional(),
  /** Requests whose headers and bodies are kept, the newest ones. Default 2000. */
  logLimit: wholeNumber.optional(),
});

/** One rule of a script as its author writes it. */
export type Rule = z.input<typeof ruleSchema>;

/** A rule with its defaults filled in. */
export type ParsedRule = z.output<typeof ruleSchema>;
