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
  readonly httpMs: number;
  readonly ttftMs: number | null;
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
    });

/** Sends one request to one model: one try, no retries of its own. */
export interface ProviderPort {
  /** Rejects only on an aborted signal or a broken invariant. */
  readonly complete: (request: ChatRequest, signal: AbortSignal) => Promise<ChatResult>;
}
