import type { FinishReason } from "@hallumaze/protocol";

import type { FailureOutcome } from "../outcomes.ts";

/** One message of a conversation. */
export interface ChatMessage {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** One request to a model. */
export interface ChatRequest {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string | null;
  readonly system: string;
  readonly messages: readonly ChatMessage[];
  readonly maxTokens: number;
  readonly temperature: number | null;
  readonly params: Readonly<Record<string, number | string | boolean>>;
  /** 0-based repeat of the cell: lets a seeded solver differ between repeats, as a sampled model would. */
  readonly repeat: number;
  /** Name of the environment variable that holds the key; null for the provider's own. */
  readonly keyEnv: string | null;
  /** JSON Schema of the answer, forced by the vendor's structured output where it has one. Absent: free text. */
  readonly answerSchema?: Readonly<Record<string, unknown>>;
}

/** One dimension of a vendor's rate limit, as its headers tell it; null where they do not. */
export interface LimitReading {
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Milliseconds from the reply until the dimension is whole again. */
  readonly resetMs: number | null;
}

/** What a reply's headers tell of the lane's limits. An absent dimension was not mentioned. */
export interface LimitReadings {
  readonly requests?: LimitReading;
  readonly tokens?: LimitReading;
  readonly inputTokens?: LimitReading;
  readonly outputTokens?: LimitReading;
}

/** One request that was sent inside a try beside the last one: a free resend after a dead socket, or a repair. */
export interface SideRequest {
  readonly reason: "resend" | "repair";
  readonly message: string;
  readonly rawBody: string | null;
  readonly httpMs: number;
}

/** Tokens as the provider counted them; null where it does not say. */
export interface Usage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cachedTokens: number | null;
  readonly reasoningTokens: number | null;
}

/** What both ends of an exchange have in common. */
interface Received {
  /** The raw body as received, or null where nothing came. Any text: NUL and lone surrogates included. */
  readonly rawBody: string | null;
  readonly servedModel: string | null;
  readonly usage: Usage;
  /** Tokens as the vendor's limits count them, where that differs from `usage` (cached reads may be free of them). */
  readonly limitUsage?: Pick<Usage, "inputTokens" | "outputTokens">;
  readonly httpMs: number;
  readonly ttftMs: number | null;
  /** The vendor's fingerprint of the system, or the host that an aggregator routed to; null where not told. */
  readonly servedBy: string | null;
  /** The vendor's own word for how the reply ended; null where there is none. */
  readonly nativeFinishReason: string | null;
  /** Parameters as they went out in the end (names as on the wire), after any repair. */
  readonly effectiveParams: Readonly<Record<string, number | string | boolean | null>>;
  readonly limits: LimitReadings;
  /** Requests of this try before the one that is reported. */
  readonly sideRequests: readonly SideRequest[];
}

/** A reply, or a classified failure: adapters never throw for what a provider does. */
export type ChatResult =
  | (Received & {
      readonly kind: "reply";
      readonly text: string;
      readonly reasoning: string | null;
      readonly finishReason: FinishReason | null;
    })
  | (Received & {
      readonly kind: "failure";
      readonly outcome: FailureOutcome;
      readonly message: string;
      /** How long the provider asks to wait; null where it does not say. */
      readonly retryAfterMs: number | null;
      /** What kind of a `timeout`, `filtered` or `bad_request` it is: header, idle, total; SAFETY …; the parameter. */
      readonly detail: string | null;
      /** Set where the whole lane must stop: no credit, wrong key, unknown model. `resumeAfterMs` null: until told. */
      readonly park: { readonly reason: string; readonly resumeAfterMs: number | null } | null;
    });

/** Sends one request to one model: one try, no retries of its own. */
export interface ProviderPort {
  /** Rejects only on an aborted signal or a broken invariant. */
  readonly complete: (request: ChatRequest, signal: AbortSignal) => Promise<ChatResult>;
}
