import { type GenerateContentRequest, GoogleGenerativeAI } from "@google/generative-ai";

import type { Vendor } from "../attempt.ts";
import { draftGoogle } from "./request.ts";
import { readGoogle } from "./response.ts";

/**
 * Gemini through @google/generative-ai. That SDK takes no fetch: it calls the global one, which is therefore replaced
 * by the recorder's for as long as this provider is open. Outside a recorded call the recorder's fetch is the
 * platform's, so nothing else in the process notices.
 */
export function openGoogle(sentFetch: typeof fetch): Vendor & { readonly close: () => void } {
  const restore = replaceGlobalFetch(sentFetch);
  return {
    draft: draftGoogle,
    send: async (draft, model, endpoint) => {
      const client = new GoogleGenerativeAI(endpoint.key ?? "none");
      const options = { baseUrl: endpoint.url, apiVersion: "v1beta" };
      const sdk = client.getGenerativeModel({ model }, options);
      const request = draft.body as unknown as GenerateContentRequest;
      if (!draft.stream) return sdk.generateContent(request);
      const { response } = await sdk.generateContentStream(request);
      return response;
    },
    read: readGoogle,
    close: restore,
  };
}

/** Several may be open at once: each hands on to the one before, and leaves it in place when it closes. */
function replaceGlobalFetch(sentFetch: typeof fetch): () => void {
  const before = globalThis.fetch;
  globalThis.fetch = sentFetch;
  return () => {
    if (globalThis.fetch === sentFetch) globalThis.fetch = before;
  };
}
