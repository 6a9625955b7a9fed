import type { BatchVendorPort } from "@hallumaze/batching";
import { rowFailure } from "@hallumaze/batching";
import type { ChatRequest, ChatResult, ProviderPort } from "@hallumaze/engine";
import type { Random } from "@hallumaze/foundation";
import { estimateTokens } from "@hallumaze/protocol";

import type { SimulatedWorld } from "./simulated-world.ts";

/** How a vendor treats a night's batches. */
export interface VendorHabits {
  /** Hours until a batch has ended; null: it never ends by itself, and is not expired either. */
  readonly batchHours: number | null;
  /** `early`: every submission is refused for its content; `late`: each is taken and refused as a whole then. */
  readonly refuses: "early" | "late" | null;
  /** The first submission's answer is lost; it is there all the same. */
  readonly losesAnswer: boolean;
  readonly errorShare: number;
  readonly missingShare: number;
  /** How long a cancelled batch still takes, in ms. SOURCE: OpenAI's reference, up to ten minutes. */
  readonly cancelMs: number;
  readonly rowsOfBatch: number;
  /** Output tokens of a reply: median, and spread of its logarithm. */
  readonly replyTokens: number;
  readonly replySpread: number;
  /** The vendor's count of input tokens over the local estimate. */
  readonly inputFactor: number;
  readonly tokensPerSecond: number;
  /** Share of live calls that fail once in a while. */
  readonly liveErrorShare: number;
}

interface Made {
  readonly id: string;
  /** The name that we gave it, as OpenAI and Google let us. */
  readonly batchId: string;
  readonly atMs: number;
  readonly endsMs: number;
  readonly rows: readonly { readonly customId: string; readonly fraction: number }[];
  /** Hours after which it expires with what is answered. */
  readonly expiresMs: number;
  cancelledMs: number | null;
  isFetched: boolean;
}

const dayMs = 24 * 3_600_000;

/** A vendor with both interfaces, in the world's time. */
export function simulatedVendor(
  world: SimulatedWorld,
  habits: VendorHabits,
  random: Random,
): {
  readonly batches: BatchVendorPort;
  readonly live: ProviderPort;
  /** When a batch that has not been fetched ends, or did; null: none will by itself. */
  readonly nextChangeMs: () => number | null;
  readonly made: () => number;
} {
  const made: Made[] = [];
  let submissions = 0;
  const answer = (request: ChatRequest, httpMs: number): ChatResult => {
    const drawn = Math.exp(habits.replySpread * normal(random)) * habits.replyTokens;
    const outputTokens = Math.max(1, Math.min(request.maxTokens, Math.round(drawn)));
    const texts = [request.system, ...request.messages.map(({ content }) => content)];
    const inputTokens = texts.reduce((sum, text) => sum + estimateTokens(text), 0) * habits.inputFactor;
    const usage = {
      inputTokens: Math.round(inputTokens),
      outputTokens,
      cachedTokens: null,
      reasoningTokens: null,
    };
    const { kind: _kind, outcome: _outcome, message: _message, ...received } = failed("transient_server", httpMs);
    const text = "FINAL_PATH: (0,0) -> (0,1)";
    return { ...received, kind: "reply", text, rawBody: text, reasoning: null, finishReason: "stop", usage };
  };
  const find = (id: string): Made => {
    const batch = made.find((one) => one.id === id);
    if (batch === undefined) throw new Error(`no batch ${id}`);
    return batch;
  };
  const endOf = (batch: Made): number =>
    Math.min(
      batch.endsMs,
      batch.expiresMs,
      batch.cancelledMs === null ? Infinity : batch.cancelledMs + habits.cancelMs,
    );

  const batches: BatchVendorPort = {
    limitsOf: () => ({ rows: habits.rowsOfBatch, bytes: 1e9, replyBytes: 1e12 }),
    draft: (request) => ({ text: JSON.stringify(request.messages), headers: {}, variant: "chat" }),
    submit: async ({ batchId }, rows) => {
      submissions += 1;
      if (habits.refuses === "early") {
        const refusal = {
          outcome: "bad_request",
          message: "no batches today",
          retryAfterMs: null,
          park: null,
        } as const;
        return { kind: "refused", isTooLarge: false, ...refusal };
      }
      const id = `batch-${made.length + 1}`;
      const atMs = world.now();
      const spread = 0.8 + 0.4 * random.fraction();
      const endsMs = habits.batchHours === null ? Infinity : atMs + habits.batchHours * spread * 3_600_000;
      const expiresMs = habits.batchHours === null ? Infinity : atMs + dayMs;
      made.push({
        id,
        batchId,
        atMs,
        endsMs,
        expiresMs,
        rows: rows.map(({ customId }) => ({ customId, fraction: random.fraction() })),
        cancelledMs: null,
        isFetched: false,
      });
      if (habits.losesAnswer && submissions === 1) return { kind: "unknown", message: "the connection broke" };
      return { kind: "accepted", vendorId: id };
    },
    find: async ({ batchId }) => ({
      kind: "found",
      named: made.filter((batch) => batch.batchId === batchId).map(({ id }) => id),
      alike: [],
      isPast: true,
    }),
    look: async (_batch, id) => {
      if (habits.refuses === "late") {
        const refusal = {
          outcome: "bad_request",
          message: "no batches today",
          retryAfterMs: null,
          park: null,
        } as const;
        return { kind: "refused", isTooLarge: false, lines: [], ...refusal };
      }
      return { kind: world.now() >= endOf(find(id)) ? "ended" : "running" };
    },
    cancel: async (_batch, id) => {
      find(id).cancelledMs ??= world.now();
    },
    results: async (_batch, id) => {
      const batch = find(id);
      batch.isFetched = true;
      const endedMs = endOf(batch);
      const isCancelled = batch.cancelledMs !== null && endedMs < Math.min(batch.endsMs, batch.expiresMs);
      // Rows are answered one after the other until the batch ends.
      const done = batch.endsMs === Infinity ? 0 : (endedMs - batch.atMs) / (batch.endsMs - batch.atMs);
      const results = batch.rows.flatMap(({ customId, fraction }) => {
        if (fraction < habits.missingShare) return [];
        const isErrored = fraction < habits.missingShare + habits.errorShare;
        const isAnswered = endedMs >= batch.endsMs || (fraction * 7) % 1 < done;
        const read = (request: ChatRequest, turnaroundMs: number): ChatResult =>
          !isAnswered
            ? failed(isCancelled ? "cancelled" : "overloaded", turnaroundMs)
            : isErrored
              ? failed("transient_server", turnaroundMs)
              : answer(request, turnaroundMs);
        return [{ customId, read }];
      });
      return { kind: "rows", results };
    },
  };
  return {
    batches,
    live: {
      complete: async (request) => {
        if (random.fraction() < habits.liveErrorShare) {
          await world.sleep(1000);
          return failed(random.fraction() < 0.5 ? "transient_server" : "overloaded", 1000);
        }
        const reply = answer(request, 0);
        const httpMs = Math.round(500 + ((reply.usage.outputTokens ?? 0) * 1000) / habits.tokensPerSecond);
        await world.sleep(httpMs);
        return { ...reply, httpMs };
      },
    },
    nextChangeMs: () => {
      const changes = made
        .filter(({ isFetched }) => !isFetched)
        .map(endOf)
        .filter(Number.isFinite);
      return changes.length === 0 ? null : Math.min(...changes);
    },
    made: () => made.length,
  };
}

function failed(
  outcome: "transient_server" | "overloaded" | "cancelled",
  httpMs: number,
): Extract<ChatResult, { kind: "failure" }> {
  const result = rowFailure(outcome, `simulated: ${outcome}`, httpMs);
  if (result.kind !== "failure") throw new Error("a failure is one");
  return result;
}

/** A standard normal draw. SOURCE: Box and Muller 1958. */
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.fraction())) * Math.cos(2 * Math.PI * random.fraction());
}
