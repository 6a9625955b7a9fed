import type Anthropic from "@anthropic-ai/sdk";
import { type BatchResult, type FoundBatches, rowFailure } from "@hallumaze/batching";
import { type Endpoint, type Exchange, type Wire } from "@hallumaze/providers";
import { z } from "zod";

import {
  asExchange,
  type BatchCall,
  cancelled,
  clockSkewMs,
  expired,
  isAfter,
  inVain,
  isOfTime,
  jsonLines,
  jsonOf,
  notAccepted,
  refusalOf,
  type VendorBatches,
  mostPages,
  pageRows,
  sdkTimeoutMs,
} from "./vendor-batches.ts";

const batchSchema = z.looseObject({
  id: z.string().min(1),
  processing_status: z.string(),
  created_at: z.string(),
  request_counts: z.record(z.string(), z.number()).nullish(),
});
const pageSchema = z.looseObject({
  data: z.array(batchSchema),
  has_more: z.boolean().nullish(),
  last_id: z.string().nullish(),
});
const lineSchema = z.looseObject({
  custom_id: z.string(),
  result: z.looseObject({ type: z.string(), message: z.unknown().optional(), error: z.unknown().optional() }),
});

/**
 * Message Batches through Anthropic's SDK. At most 100,000 requests and 256 MB a batch, ended within 24 hours, results kept
 * for 29 days after it was made, of which nothing is told before the end; half of the standard price. No name, metadata or
 * key of idempotency goes with it: `find` tells what may be ours, its results what is. SOURCE: @anthropic-ai/sdk 1.14.0
 * `resources/messages/batches`; platform.claude.com/docs/en/build-with-claude/batch-processing and
 * platform.claude.com/docs/en/api/cli/beta/messages/batches (read 2026-11-30). Ours are smaller: their results are read whole.
 */
export function openAnthropicBatches(wire: Wire): VendorBatches {
  const ask = async (
    { endpoint, headers, signal }: BatchCall,
    send: (client: Anthropic) => PromiseLike<unknown>,
  ): Promise<Exchange> =>
    wire.record(endpoint.key, signal, async () => send(await openClient(wire, endpoint, headers)));
  return {
    limits: { rows: 2000, bytes: 30_000_000, replyBytes: 48_000_000 },
    draft: (request) => {
      const { body, headers } = wire.draft({ ...request, provider: "anthropic" });
      return { text: JSON.stringify(body), headers, variant: "messages" };
    },
    submit: async (call, rows) => {
      const requests = rows.map(({ customId, body }) => ({ custom_id: customId, params: JSON.parse(body) as unknown }));
      const exchange = await ask(call, (client) =>
        client.post("/v1/messages/batches", { body: { requests } }).asResponse(),
      );
      const batch = batchSchema.safeParse(jsonOf(exchange));
      if (exchange.status === 200 && batch.success) return { kind: "accepted", vendorId: batch.data.id };
      return notAccepted(exchange, wire.redact);
    },
    find: async (call, sinceMs) => {
      const alike: FoundBatches["alike"][number][] = [];
      let isPast = false;
      let after: string | null = null;
      for (let page = 0; page < mostPages; page++) {
        const query: Record<string, string | number> = {
          limit: pageRows,
          ...(after === null ? {} : { after_id: after }),
        };
        const exchange = await ask(call, (client) => client.get("/v1/messages/batches", { query }).asResponse());
        const read = pageSchema.safeParse(jsonOf(exchange));
        if (exchange.status !== 200 || !read.success)
          return { kind: "unreachable", ...refusalOf(exchange, wire.redact) };
        const young = read.data.data.filter(({ created_at: at }) => Date.parse(at) >= sinceMs - clockSkewMs);
        for (const { id, request_counts: counts, created_at: at, processing_status: status } of young) {
          const madeMs = Date.parse(at);
          isPast ||= isAfter(madeMs, sinceMs);
          const rows = Object.values(counts ?? {}).reduce((sum, count) => sum + count, 0);
          if (rows === call.rows && isOfTime(madeMs, sinceMs))
            alike.push({ vendorId: id, hasEnded: status === "ended" });
        }
        after = read.data.last_id ?? read.data.data.at(-1)?.id ?? null;
        if (read.data.has_more !== true || young.length < read.data.data.length || after === null) break;
      }
      return { kind: "found", named: [], alike, isPast };
    },
    look: async (call, vendorId) => {
      const exchange = await ask(call, (client) => client.get(addressOf(vendorId)).asResponse());
      const batch = batchSchema.safeParse(jsonOf(exchange));
      if (exchange.status === 200 && batch.success) {
        return { kind: batch.data.processing_status === "ended" ? "ended" : "running" };
      }
      return inVain(exchange, wire.redact, "unknown");
    },
    cancel: (call, vendorId) => ask(call, (client) => client.post(`${addressOf(vendorId)}/cancel`).asResponse()),
    results: async (call, vendorId) => {
      // Not batches.results(): that looks at the batch first, and follows whatever address the reply names.
      const exchange = await ask(call, (client) => client.get(`${addressOf(vendorId)}/results`).asResponse());
      if (exchange.status === 200 && exchange.breakage === null)
        return { kind: "rows", results: readLines(wire, exchange) };
      return inVain(exchange, wire.redact, "gone");
    },
  };
}

async function openClient(wire: Wire, endpoint: Endpoint, headers: BatchCall["headers"]): Promise<Anthropic> {
  const { default: Client } = await import("@anthropic-ai/sdk");
  return new Client({
    apiKey: endpoint.key ?? "none",
    baseURL: endpoint.url,
    fetch: wire.fetch,
    maxRetries: 0,
    timeout: sdkTimeoutMs,
    logLevel: "off",
    openTelemetry: false,
    defaultHeaders: headers,
  });
}

function addressOf(vendorId: string): string {
  return `/v1/messages/batches/${encodeURIComponent(vendorId)}`;
}

function* readLines(wire: Wire, exchange: Exchange): Generator<BatchResult, void> {
  for (const json of jsonLines(exchange)) {
    const line = lineSchema.safeParse(json);
    yield {
      customId: line.success ? line.data.custom_id : null,
      read: (request, turnaroundMs) => {
        if (!line.success)
          return rowFailure("unparseable_body", "a line of the results that cannot be read", turnaroundMs);
        const { type, message, error } = line.data.result;
        const ofAnthropic = { ...request, provider: "anthropic" } as const;
        switch (type) {
          case "succeeded":
            return wire.read(ofAnthropic, asExchange(200, message ?? null, turnaroundMs));
          case "errored":
            return wire.read(ofAnthropic, asExchange(200, error ?? { type: "error" }, turnaroundMs));
          case "expired":
            // Not billed, by the vendor's word.
            return rowFailure(expired.outcome, expired.message, turnaroundMs);
          case "canceled":
            return rowFailure(cancelled.outcome, cancelled.message, turnaroundMs);
          default:
            return rowFailure("unparseable_body", `a result of an unknown kind: ${type.slice(0, 60)}`, turnaroundMs);
        }
      },
    };
  }
}
