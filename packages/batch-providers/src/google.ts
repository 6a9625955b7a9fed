import { type BatchResult, rowFailure } from "@hallumaze/batching";
import type { Exchange, Wire } from "@hallumaze/providers";
import { z } from "zod";

import {
  asExchange,
  type BatchCall,
  cancelled,
  expired,
  isAfter,
  inVain,
  jsonOf,
  notAccepted,
  refusalOf,
  type VendorBatches,
  mostPages,
  pageRows,
} from "./vendor-batches.ts";

const statusSchema = z.looseObject({ code: z.number().nullish(), message: z.string().nullish() });
const entrySchema = z.looseObject({
  metadata: z.looseObject({ key: z.string().nullish() }).nullish(),
  response: z.unknown().optional(),
  error: statusSchema.nullish(),
});
const operationSchema = z.looseObject({
  name: z.string().min(1),
  metadata: z
    .looseObject({
      state: z.string().nullish(),
      displayName: z.string().nullish(),
      createTime: z.string().nullish(),
    })
    .nullish(),
  error: statusSchema.nullish(),
  response: z
    .looseObject({ inlinedResponses: z.looseObject({ inlinedResponses: z.array(z.unknown()).nullish() }).nullish() })
    .nullish(),
});
const pageSchema = z.looseObject({
  operations: z.array(operationSchema).nullish(),
  nextPageToken: z.string().nullish(),
});

/** What a status of google.rpc is in HTTP. SOURCE: google/rpc/code.proto. */
const httpOfRpc: Readonly<Record<number, number>> = {
  3: 400,
  5: 404,
  7: 403,
  8: 429,
  9: 400,
  11: 400,
  14: 503,
  16: 401,
};

/**
 * Gemini's batches over HTTP: the SDK of this project has none. Requests stand in the call itself (20 MB at most; the other
 * way, a file of up to 2 GB, is not taken: batches here are smaller); the batch is an operation whose reply holds the
 * answers, twice (its metadata repeats them), and where they are too many can never be fetched: hence half of the others'
 * `replyBytes`. Its display name holds our id, by which a lost one is found. What has not run after 48 hours expires
 * without answers. Half of the standard price. SOURCE: ai.google.dev/api/batch-api, ai.google.dev/gemini-api/docs/batch-api,
 * discuss.ai.google.dev/t/174261 (read 2026-11-30).
 */
export function openGoogleBatches(wire: Wire): VendorBatches {
  const ask = ({ endpoint, signal }: BatchCall, path: string, body?: string): Promise<Exchange> =>
    wire.record(endpoint.key, signal, () =>
      wire.fetch(`${endpoint.url}/v1beta/${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { "content-type": "application/json", "x-goog-api-key": endpoint.key ?? "none" },
        ...(body === undefined ? {} : { body }),
      }),
    );
  return {
    limits: { rows: 2000, bytes: 18_000_000, replyBytes: 24_000_000 },
    draft: (request) => {
      const { body, headers } = wire.draft({ ...request, provider: "google" });
      return { text: JSON.stringify(body), headers, variant: "generateContent" };
    },
    submit: async (call, rows) => {
      const requests = rows.map(({ customId, body }) => `{"request":${body},"metadata":{"key":"${customId}"}}`);
      const exchange = await ask(
        call,
        `models/${encodeURIComponent(call.model)}:batchGenerateContent`,
        `{"batch":{"displayName":"${displayNameOf(call.batchId)}","inputConfig":{"requests":{"requests":[${requests.join()}]}}}}`,
      );
      const operation = operationSchema.safeParse(jsonOf(exchange));
      if (exchange.status === 200 && operation.success) return { kind: "accepted", vendorId: operation.data.name };
      return notAccepted(exchange, wire.redact);
    },
    find: async (call, sinceMs) => {
      const named: string[] = [];
      let isPast = false;
      let token = "";
      for (let page = 0; page < mostPages; page++) {
        const exchange = await ask(call, `batches?pageSize=${pageRows}&pageToken=${encodeURIComponent(token)}`);
        const read = pageSchema.safeParse(jsonOf(exchange));
        if (exchange.status !== 200 || !read.success)
          return { kind: "unreachable", ...refusalOf(exchange, wire.redact) };
        const operations = read.data.operations ?? [];
        const ours = operations.filter(({ metadata }) => metadata?.displayName === displayNameOf(call.batchId));
        named.push(...ours.map(({ name }) => name));
        isPast ||= operations.some(({ metadata }) => isAfter(Date.parse(metadata?.createTime ?? ""), sinceMs));
        token = read.data.nextPageToken ?? "";
        if (token === "" || named.length > 0) break;
      }
      return { kind: "found", named, alike: [], isPast };
    },
    look: async (call, vendorId) => {
      const exchange = await ask(call, pathOf(vendorId));
      const operation = operationSchema.safeParse(jsonOf(exchange));
      if (exchange.status !== 200 || !operation.success) {
        return inVain(exchange, wire.redact, "unknown");
      }
      switch (stateOf(operation.data)) {
        case "SUCCEEDED":
        case "EXPIRED":
        case "CANCELLED":
          return { kind: "ended" };
        case "FAILED": {
          const { code, message } = operation.data.error ?? {};
          const error = { code: httpOfRpc[code ?? 13] ?? 500, message: message ?? "the batch failed" };
          const refusal = refusalOf(asExchange(error.code, { error }, 0), wire.redact);
          return { kind: "refused", ...refusal, isTooLarge: false, lines: [] };
        }
        default:
          return { kind: "running" };
      }
    },
    cancel: (call, vendorId) => ask(call, `${pathOf(vendorId)}:cancel`, "{}"),
    results: async (call, vendorId) => {
      const exchange = await ask(call, pathOf(vendorId));
      const operation = operationSchema.safeParse(jsonOf(exchange));
      if (exchange.status !== 200 || exchange.breakage !== null || !operation.success) {
        return inVain(exchange, wire.redact, "gone");
      }
      const entries = operation.data.response?.inlinedResponses?.inlinedResponses ?? [];
      const results = readEntries(wire, entries);
      switch (stateOf(operation.data)) {
        case "EXPIRED":
          return { kind: "rows", results, rest: expired };
        case "CANCELLED":
          return { kind: "rows", results, rest: cancelled };
        default:
          return { kind: "rows", results };
      }
    },
  };
}

function displayNameOf(batchId: string): string {
  return `hallumaze-${batchId}`;
}

/** `batches/…`, each part made safe. */
function pathOf(vendorId: string): string {
  return vendorId.split("/").map(encodeURIComponent).join("/");
}

/** BATCH_STATE_SUCCEEDED, or JOB_STATE_SUCCEEDED as some versions say. */
function stateOf({ metadata }: z.infer<typeof operationSchema>): string {
  return (metadata?.state ?? "").replace(/^(?:BATCH|JOB)_STATE_/, "");
}

function* readEntries(wire: Wire, entries: readonly unknown[]): Generator<BatchResult, void> {
  for (const json of entries) {
    const entry = entrySchema.safeParse(json);
    yield {
      customId: entry.success ? (entry.data.metadata?.key ?? null) : null,
      read: (request, turnaroundMs) => {
        if (!entry.success) return rowFailure("unparseable_body", "a result that cannot be read", turnaroundMs);
        const ofGoogle = { ...request, provider: "google" } as const;
        const { error, response } = entry.data;
        if (!error) return wire.read(ofGoogle, asExchange(200, response ?? null, turnaroundMs));
        return wire.read(ofGoogle, asExchange(httpOfRpc[error.code ?? 13] ?? 500, { error }, turnaroundMs));
      },
    };
  }
}
