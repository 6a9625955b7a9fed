import { type BatchResult, rowFailure } from "@hallumaze/batching";
import type { ChatRequest } from "@hallumaze/engine";
import type { Endpoint, Exchange, Wire } from "@hallumaze/providers";
import type OpenAI from "openai";
import { z } from "zod";

import {
  asExchange,
  type BatchCall,
  cancelled,
  clockSkewMs,
  expired,
  isAfter,
  inVain,
  jsonLines,
  jsonOf,
  notAccepted,
  refusalOf,
  refusalOfError,
  type VendorBatches,
  mostPages,
  pageRows,
  sdkTimeoutMs,
} from "./vendor-batches.ts";

/** The name under which a batch's metadata holds our id of it. */
const metadataName = "hallumaze_batch";

const errorSchema = z.looseObject({
  code: z.string().nullish(),
  message: z.string().nullish(),
  line: z.number().nullish(),
});
const batchSchema = z.looseObject({
  id: z.string().min(1),
  status: z.string(),
  created_at: z.number(),
  output_file_id: z.string().nullish(),
  error_file_id: z.string().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  errors: z.looseObject({ data: z.array(errorSchema).nullish() }).nullish(),
});
const pageSchema = z.looseObject({ data: z.array(batchSchema), has_more: z.boolean().nullish() });
const fileSchema = z.looseObject({ id: z.string().min(1) });
const lineSchema = z.looseObject({
  custom_id: z.string(),
  response: z.looseObject({ status_code: z.number(), body: z.unknown() }).nullish(),
  error: errorSchema.nullish(),
});

type Batch = z.infer<typeof batchSchema>;

/**
 * OpenAI's Batch interface through its SDK: a file of requests, a batch over it, a file of answers and one of errors. At
 * most 50,000 requests and 200 MB a batch, done within 24 hours, at half of the standard price; what of it has not run then
 * is cancelled, what has is paid. Each tier bounds the input tokens that a model has enqueued: a batch beyond that is `failed`
 * with `token_limit_exceeded`. Files of answers stay for 30 days at the most. Its metadata holds our id, by which a lost one
 * is found. SOURCE: openai 6.49.0 `resources/batches`, `resources/files`; developers.openai.com "Batch";
 * help.openai.com/en/articles/9197833 (read 2026-11-30). Ours are smaller: their results are read whole.
 */
export function openOpenAiBatches(wire: Wire): VendorBatches {
  const ask = async (
    { endpoint, signal }: BatchCall,
    send: (client: OpenAI) => PromiseLike<unknown>,
  ): Promise<Exchange> => wire.record(endpoint.key, signal, async () => send(await openClient(wire, endpoint)));
  const lookAt = async (call: BatchCall, vendorId: string): Promise<Exchange> =>
    ask(call, (client) => client.batches.retrieve(vendorId).asResponse());
  return {
    limits: { rows: 2000, bytes: 30_000_000, replyBytes: 48_000_000 },
    draft: (request) => {
      const { body, headers, api } = wire.draft({ ...request, provider: "openai" });
      return { text: JSON.stringify(body), headers, variant: api };
    },
    submit: async (call, rows) => {
      const endpoint = endpointOf(rows[0]?.body ?? "");
      const lines = rows.map(
        ({ customId, body }) => `{"custom_id":"${customId}","method":"POST","url":"${endpoint}","body":${body}}\n`,
      );
      const uploaded = await ask(call, async (client) => {
        const file = new File(lines, `hallumaze-${call.batchId}.jsonl`, { type: "application/jsonl" });
        return client.files.create({ file, purpose: "batch" }).asResponse();
      });
      const file = fileSchema.safeParse(jsonOf(uploaded));
      if (uploaded.status !== 200 || !file.success) {
        const answer = notAccepted(uploaded, wire.redact);
        // A file is no batch: whatever became of it, nothing was made that costs.
        return answer.kind === "unknown"
          ? { kind: "refused", ...refusalOf(uploaded, wire.redact), isTooLarge: false }
          : answer;
      }
      const exchange = await ask(call, (client) =>
        client.batches
          .create({
            completion_window: "24h",
            endpoint,
            input_file_id: file.data.id,
            metadata: { [metadataName]: call.batchId },
          })
          .asResponse(),
      );
      const batch = batchSchema.safeParse(jsonOf(exchange));
      if (exchange.status === 200 && batch.success) return { kind: "accepted", vendorId: batch.data.id };
      return notAccepted(exchange, wire.redact);
    },
    find: async (call, sinceMs) => {
      const named: string[] = [];
      let isPast = false;
      let after: string | null = null;
      for (let page = 0; page < mostPages; page++) {
        const query = { limit: pageRows, ...(after === null ? {} : { after }) };
        const exchange = await ask(call, (client) => client.batches.list(query).asResponse());
        const read = pageSchema.safeParse(jsonOf(exchange));
        if (exchange.status !== 200 || !read.success)
          return { kind: "unreachable", ...refusalOf(exchange, wire.redact) };
        const { data } = read.data;
        named.push(...data.filter(({ metadata }) => metadata?.[metadataName] === call.batchId).map(({ id }) => id));
        isPast ||= data.some(({ created_at: seconds }) => isAfter(seconds * 1000, sinceMs));
        after = data.at(-1)?.id ?? null;
        const isOld = data.some(({ created_at: seconds }) => seconds * 1000 < sinceMs - clockSkewMs);
        if (read.data.has_more !== true || isOld || after === null) break;
      }
      return { kind: "found", named, alike: [], isPast };
    },
    look: async (call, vendorId) => {
      const exchange = await lookAt(call, vendorId);
      const batch = batchSchema.safeParse(jsonOf(exchange));
      if (exchange.status !== 200 || !batch.success) {
        return inVain(exchange, wire.redact, "unknown");
      }
      const { status } = batch.data;
      if (status === "failed") return refusedWhole(batch.data, wire);
      return { kind: ["completed", "expired", "cancelled"].includes(status) ? "ended" : "running" };
    },
    cancel: (call, vendorId) => ask(call, (client) => client.batches.cancel(vendorId).asResponse()),
    results: async (call, vendorId) => {
      const seen = await lookAt(call, vendorId);
      const batch = batchSchema.safeParse(jsonOf(seen));
      if (seen.status !== 200 || !batch.success) {
        return inVain(seen, wire.redact, "gone");
      }
      const files: Exchange[] = [];
      for (const id of [batch.data.output_file_id, batch.data.error_file_id]) {
        if (typeof id !== "string" || id === "") continue;
        const exchange = await ask(call, (client) => client.files.content(id).asResponse());
        if (exchange.status === 200 && exchange.breakage === null) files.push(exchange);
        else {
          return inVain(exchange, wire.redact, "gone");
        }
      }
      const results = readLines(wire, files);
      switch (batch.data.status) {
        case "expired":
          return { kind: "rows", results, rest: expired };
        case "cancelled":
          return { kind: "rows", results, rest: cancelled };
        default:
          return { kind: "rows", results };
      }
    },
  };
}

async function openClient(wire: Wire, endpoint: Endpoint): Promise<OpenAI> {
  const { default: Client } = await import("openai");
  return new Client({
    apiKey: endpoint.key ?? "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: endpoint.url,
    // With its class of replies at hand the SDK needs no request to find it.
    fetch: Object.assign((...given: Parameters<typeof fetch>) => wire.fetch(...given), { Response }),
    maxRetries: 0,
    timeout: sdkTimeoutMs,
    logLevel: "off",
  });
}

/** All requests of a batch go to one interface; a request of Responses has `input`. */
function endpointOf(body: string): "/v1/responses" | "/v1/chat/completions" {
  const parsed = JSON.parse(body) as object;
  return "input" in parsed ? "/v1/responses" : "/v1/chat/completions";
}

/** The vendor refused the whole file after taking it: nothing of it was run. It names lines, where lines are to blame. */
function refusedWhole({ errors }: Batch, wire: Wire) {
  const data = errors?.data ?? [];
  const lines = data.flatMap(({ line }) => (typeof line === "number" && line >= 1 ? [line - 1] : []));
  const [first] = data;
  const code = first?.code ?? "";
  const refusal = refusalOfError({ code, message: first?.message ?? "the batch failed" }, wire.redact);
  // The organisation's queue is full: the same batch is taken when it has run down.
  if (/token_limit_exceeded|enqueued/i.test(`${code} ${refusal.message}`)) {
    return { kind: "refused" as const, ...refusal, outcome: "rate_limited" as const, isTooLarge: false, lines: [] };
  }
  return { kind: "refused" as const, ...refusal, isTooLarge: /too_large|file_size/i.test(code), lines };
}

function* readLines(wire: Wire, files: readonly Exchange[]): Generator<BatchResult, void> {
  for (const file of files) {
    for (const json of jsonLines(file)) {
      const line = lineSchema.safeParse(json);
      yield line.success
        ? { customId: line.data.custom_id, read: (request, ms) => readLine(wire, line.data, request, ms) }
        : {
            customId: null,
            read: (_, ms) => rowFailure("unparseable_body", "a line of the results that cannot be read", ms),
          };
    }
  }
}

function readLine(wire: Wire, line: z.infer<typeof lineSchema>, request: ChatRequest, turnaroundMs: number) {
  const ofOpenAi = { ...request, provider: "openai" } as const;
  const { response, error } = line;
  if (response) return wire.read(ofOpenAi, asExchange(response.status_code, response.body, turnaroundMs));
  switch (error?.code) {
    case "batch_expired":
      return rowFailure(expired.outcome, expired.message, turnaroundMs);
    case "batch_cancelled":
      return rowFailure(cancelled.outcome, cancelled.message, turnaroundMs);
    default:
      return wire.read(ofOpenAi, asExchange(500, { error: error ?? { message: "no response" } }, turnaroundMs));
  }
}
