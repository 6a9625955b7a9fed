import type { ChatRequest, ChatResult, ProviderPort } from "@hallumaze/engine";

import { openAnthropic } from "./anthropic/client.ts";
import { attempt, type Draft, type ProviderResult, readExchange, unknownUsage, type Vendor } from "./attempt.ts";
import { openDeepSeek } from "./deepseek/client.ts";
import { providerUnknown } from "./errors.ts";
import { openGoogle } from "./google/client.ts";
import {
  type Endpoint,
  findEndpoint,
  findMissingKeys,
  isVendor,
  type ModelAddress,
  openRedactor,
  type Variables,
  type VendorName,
} from "./keys.ts";
import { openOpenAi } from "./openai/client.ts";
import { type Deadlines, defaultDeadlines, type Exchange, openRecorder, type Recorder } from "./recorder.ts";
import { openSim } from "./sim/client.ts";

/** Providers that this version can call. */
export const builtProviders: readonly string[] = ["sim", "anthropic", "openai", "google", "deepseek"];

/** Every provider behind one port. */
export interface Providers extends ProviderPort {
  /** Names every variable that these models need and that is absent or empty; call it before anything is spent. */
  readonly missingKeys: (models: readonly ModelAddress[]) => readonly string[];
  /** Takes known keys out of a text, for whoever prints or stores one. */
  readonly redact: (text: string) => string;
  /** What batches share with single calls: connections, keys, formats. */
  readonly wire: Wire;
  /** Ends the connections; requests under way fail. */
  readonly close: () => Promise<void>;
}

/** The vendors' connections and formats, for whoever asks by other ways than a single call. */
export interface Wire extends Pick<Recorder, "fetch" | "record"> {
  /** A vendor's server with its key; the result to report where the key is missing or cannot stand in a header. */
  readonly endpointOf: (address: ModelAddress & { readonly provider: VendorName }) => Endpoint | ChatResult;
  /** The request as it goes out where its reply is not streamed. */
  readonly draft: (request: ChatRequest & { readonly provider: VendorName }) => Draft;
  /** Reads a reply as that of a single call is read. */
  readonly read: (request: ChatRequest & { readonly provider: VendorName }, exchange: Exchange) => ProviderResult;
  readonly redact: (text: string) => string;
}

/**
 * Opens every provider behind one port; a request names which one it is for. Keys and servers come from `variables`
 * and stay in memory; deadlines that are absent are those that ship.
 */
export function openProviders(
  options: { readonly variables?: Variables; readonly deadlines?: Partial<Deadlines> } = {},
): Providers {
  const variables = options.variables ?? {};
  const redactor = openRedactor(variables);
  const recorder = openRecorder({ ...defaultDeadlines, ...options.deadlines }, redactor.redact);
  const sim = openSim();
  const google = openGoogle(recorder);
  const vendors: Readonly<Record<VendorName, Vendor>> = {
    anthropic: openAnthropic(recorder.fetch),
    openai: openOpenAi(recorder.fetch),
    google,
    deepseek: openDeepSeek(recorder.fetch),
  };
  const endpointOf: Wire["endpointOf"] = (address) => {
    const endpoint = findEndpoint(address, variables);
    const { key, keyVariable } = endpoint;
    if (keyVariable === null) return endpoint;
    if (key === null) return refuseKey(keyVariable, "is not set: set it");
    if (!/^[\x21-\x7e]+$/.test(key)) return refuseKey(keyVariable, "holds characters that no key has: copy it anew");
    redactor.add(keyVariable, key);
    return endpoint;
  };
  return {
    complete: async (request, signal) => {
      if (request.provider === "sim") return sim(request, signal);
      if (!isVendor(request.provider)) throw providerUnknown(request.provider, builtProviders);
      const endpoint = endpointOf({ ...request, provider: request.provider });
      if ("kind" in endpoint) return endpoint;
      return attempt(vendors[request.provider], { recorder, redactor, endpoint }, request, signal);
    },
    missingKeys: (models) => findMissingKeys(models, variables),
    redact: redactor.redact,
    wire: {
      fetch: recorder.fetch,
      record: recorder.record,
      endpointOf,
      draft: (request) => unstreamed(vendors[request.provider].draft(request)),
      read: (request, exchange) => {
        const vendor = vendors[request.provider];
        const draft = unstreamed(vendor.draft(request));
        return readExchange(vendor, exchange, draft, { ...redactor, provider: request.provider });
      },
      redact: redactor.redact,
    },
    close: async () => {
      google.close();
      await recorder.close();
    },
  };
}

/** A reply that is not streamed, whatever its length. */
function unstreamed(draft: Draft): Draft {
  const { stream: _stream, stream_options: _options, ...body } = draft.body;
  return { ...draft, body, stream: false };
}

/** Without a key that can stand in a header a request is not sent at all. */
function refuseKey(variable: string, fault: string): ChatResult {
  const message = `${variable} ${fault} and resume the lane`;
  return {
    kind: "failure",
    outcome: "auth",
    message,
    retryAfterMs: null,
    detail: variable,
    park: { reason: `auth: ${message}`, resumeAfterMs: null },
    rawBody: null,
    servedModel: null,
    servedBy: null,
    nativeFinishReason: null,
    usage: unknownUsage,
    httpMs: 0,
    ttftMs: null,
    effectiveParams: {},
    limits: {},
    sideRequests: [],
  };
}
