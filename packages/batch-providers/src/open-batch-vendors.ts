import type { BatchAddress, BatchRefusal, BatchVendorPort } from "@hallumaze/batching";
import { isVendor, type Providers } from "@hallumaze/providers";

import { openAnthropicBatches } from "./anthropic.ts";
import { BatchProvidersError } from "./errors.ts";
import { openGoogleBatches } from "./google.ts";
import { openOpenAiBatches } from "./openai.ts";
import type { BatchCall, VendorBatches } from "./vendor-batches.ts";

/** Opens the batch interfaces of the vendors that have one, over the connections and keys of `providers`. */
export function openBatchVendors({ wire }: Pick<Providers, "wire">): BatchVendorPort {
  const vendors: Readonly<Record<string, VendorBatches>> = {
    anthropic: openAnthropicBatches(wire),
    openai: openOpenAiBatches(wire),
    google: openGoogleBatches(wire),
  };
  const vendorOf = (provider: string): VendorBatches => {
    const vendor = vendors[provider];
    if (vendor === undefined)
      throw new BatchProvidersError("no-batches", `Provider ${provider} is not asked in batches.`);
    return vendor;
  };
  /** The call, or why there is none: without its key nothing is sent. */
  const callOf = (
    batch: BatchAddress,
    signal: AbortSignal,
  ): { readonly call: BatchCall } | { readonly refusal: BatchRefusal } => {
    const { provider, model, keyEnv, headers } = batch;
    if (!isVendor(provider))
      throw new BatchProvidersError("no-batches", `Provider ${provider} is not asked in batches.`);
    const endpoint = wire.endpointOf({ provider, baseUrl: null, keyEnv });
    if (!("kind" in endpoint)) return { call: { endpoint, model, headers, signal } };
    if (endpoint.kind === "reply") throw new BatchProvidersError("no-batches", "A missing key was taken for a reply.");
    const { outcome, message, retryAfterMs, park } = endpoint;
    return { refusal: { outcome, message, retryAfterMs, park } };
  };
  return {
    limitsOf: (provider) => vendorOf(provider).limits,
    draft: (request) => vendorOf(request.provider).draft(request),
    submit: async (batch, rows, signal) => {
      const asked = callOf(batch, signal);
      if ("refusal" in asked) return { kind: "refused", ...asked.refusal, isTooLarge: false };
      return vendorOf(batch.provider).submit({ ...asked.call, batchId: batch.batchId }, rows);
    },
    find: async (batch, sinceMs, signal) => {
      const asked = callOf(batch, signal);
      if ("refusal" in asked) return { kind: "unreachable", ...asked.refusal };
      return vendorOf(batch.provider).find({ ...asked.call, batchId: batch.batchId, rows: batch.rows }, sinceMs);
    },
    look: async (batch, vendorId, signal) => {
      const asked = callOf(batch, signal);
      if ("refusal" in asked) return { kind: "unreachable", ...asked.refusal };
      return vendorOf(batch.provider).look(asked.call, vendorId);
    },
    cancel: async (batch, vendorId, signal) => {
      const asked = callOf(batch, signal);
      // Whatever comes of it, the next look tells.
      if ("call" in asked) await vendorOf(batch.provider).cancel(asked.call, vendorId);
    },
    results: async (batch, vendorId, signal) => {
      const asked = callOf(batch, signal);
      if ("refusal" in asked) return { kind: "unreachable", ...asked.refusal };
      return vendorOf(batch.provider).results(asked.call, vendorId);
    },
  };
}
