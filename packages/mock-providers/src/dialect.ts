import type { Message } from "@hallumaze/solvers";

/** Whose interface a request speaks. `compatible` is any OpenAI-compatible server: it needs no key. */
export const vendors = ["anthropic", "openai", "google", "deepseek", "compatible"] as const;

/** One of {@link vendors}. */
export type Vendor = (typeof vendors)[number];

/** What any vendor's request asks, read out of its own format. */
export interface Question {
  readonly vendor: Vendor;
  readonly model: string;
  readonly system: string;
  readonly messages: readonly Message[];
  /** The request's own token limit; null where it names none. */
  readonly maxTokens: number | null;
  readonly stream: boolean;
  /** Whether the request switches reasoning on, or the model always reasons. */
  readonly thinks: boolean;
  /** OpenAI chat: whether the stream's last chunk carries the usage. Other formats: true. */
  readonly streamsUsage: boolean;
  /** Paths of every value in the body, such as `temperature` or `generationConfig.topP`. */
  readonly parameters: ReadonlySet<string>;
  /** Estimated tokens of system prompt and messages. */
  readonly inputTokens: number;
}

/** Why a reply ended, in one vocabulary for all vendors. */
export type Finish =
  | "stop"
  | "length"
  | "refused"
  | "safety"
  | "recitation"
  | "prohibited"
  | "paused"
  | "context"
  | "other";

/** Oddities of a reply's frame. `prompt_blocked` is Google's feedback without candidates. */
export type ReplyShape = "normal" | "choices_empty" | "choices_null" | "no_usage" | "prompt_blocked" | "empty_body";

/** Tokens as the reply states them. `inputTokens` includes the cached ones, `outputTokens` the reasoning. */
export interface ReplyUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
}

/** An answer before it is written in a vendor's format. */
export interface Reply {
  readonly id: string;
  readonly createdSeconds: number;
  readonly servedModel: string;
  readonly text: string;
  readonly reasoning: string;
  readonly finish: Finish;
  /** The finish reason word for word, where a script sets one the vocabulary lacks. */
  readonly nativeFinish: string | null;
  readonly shape: ReplyShape;
  readonly usage: ReplyUsage;
}

/** Failures that every vendor words in its own way. */
export const failureKinds = [
  "rate_limited",
  "quota_exhausted",
  "daily_quota",
  "overloaded",
  "server_error",
  "bad_gateway",
  "unavailable",
  "gateway_timeout",
  "auth",
  "forbidden",
  "model_not_found",
  "unsupported_parameter",
  "bad_request",
  "context_too_long",
  "payload_too_large",
] as const;

/** One of {@link failureKinds}. */
export type FailureKind = (typeof failureKinds)[number];

/** How the wait is told. `reset` is by the reset header of the exhausted dimension alone; `vendor` is the vendor's habit. */
export const retryAfterForms = ["vendor", "seconds", "milliseconds", "date", "body", "reset", "none"] as const;

/** One of {@link retryAfterForms}. */
export type RetryAfterForm = (typeof retryAfterForms)[number];

/** A failure before a vendor words it. */
export interface Failure {
  readonly kind: FailureKind;
  /** Replaces the vendor's message. */
  readonly message: string | null;
  /** Added to the message: an echoed key, for instance. */
  readonly suffix: string;
  readonly param: string | null;
  readonly model: string;
  readonly retryAfterMs: number | null;
  readonly retryAfterForm: RetryAfterForm;
  /** The limit that was hit. */
  readonly dimension: LimitDimension | null;
  readonly requestId: string;
  readonly nowMs: number;
}

/** A failure as it goes over the wire. A string body is sent as it stands, anything else as JSON. */
export interface WrittenFailure {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** What a limit counts. */
export type LimitDimension = "requests" | "tokens" | "inputTokens" | "outputTokens" | "concurrency";

/** State of one limit, for the vendor's headers. */
export interface LimitMeter {
  readonly dimension: Exclude<LimitDimension, "concurrency">;
  readonly limit: number;
  /** Whole units left, at least 0. */
  readonly remaining: number;
  /** Milliseconds until all of it is back. */
  readonly resetMs: number;
}

/** One request and reply format. */
export interface Dialect {
  /** Name of the format in counts and rules. */
  readonly name: string;
  /** Reads the body; a text says what is wrong with it. `path` is the request's path, without its query. */
  readonly read: (body: unknown, vendor: Vendor, path: string) => Question | string;
  readonly body: (reply: Reply, question: Question) => unknown;
  /** The whole stream, one wire text per event; the last ones are the finish frames. */
  readonly events: (reply: Reply, question: Question) => readonly StreamEvent[];
  /** An error in the middle of a stream. */
  readonly errorEvent: (failure: WrittenFailure) => string;
}

/** One event of a stream. */
export interface StreamEvent {
  readonly wire: string;
  /** Whether it carries a piece of the text or reasoning: latency per token falls on these. */
  readonly isDelta: boolean;
}
