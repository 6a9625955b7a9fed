import type { GenerateContentRequest } from "@google/generative-ai";

import type { Vendor } from "../attempt.ts";
import type { Recorder } from "../recorder.ts";
import { draftGoogle } from "./request.ts";
import { readGoogle } from "./response.ts";

/**
 * Gemini through @google/generative-ai. That SDK takes no fetch: it calls the global one, which is therefore ours for as
 * long as a provider is open. Outside a recorded call ours hands on to the platform's, so nothing else notices.
 */
export function openGoogle(recorder: Pick<Recorder, "fetch" | "isRecording">): Vendor & { readonly close: () => void } {
  divertGlobalFetch(recorder);
  return {
    draft: draftGoogle,
    send: async (draft, model, endpoint) => {
      const { GoogleGenerativeAI } = await import("@google/generative-ai");
      const client = new GoogleGenerativeAI(endpoint.key ?? "none");
      const options = { baseUrl: endpoint.url, apiVersion: "v1beta" };
      const sdk = client.getGenerativeModel({ model }, options);
      const request = draft.body as unknown as GenerateContentRequest;
      if (!draft.stream) return sdk.generateContent(request);
      const { response } = await sdk.generateContentStream(request);
      return response;
    },
    read: readGoogle,
    close: () => restoreGlobalFetch(recorder),
  };
}

/** Several may be open at once, and close in any order: the global fetch is replaced once, and put back with the last. */
const diverted = new Set<Pick<Recorder, "fetch" | "isRecording">>();
const platformFetch = globalThis.fetch;
const divertingFetch: typeof fetch = (input, init) => {
  for (const recorder of diverted) if (recorder.isRecording()) return recorder.fetch(input, init);
  return platformFetch(input, init);
};

function divertGlobalFetch(recorder: Pick<Recorder, "fetch" | "isRecording">): void {
  diverted.add(recorder);
  globalThis.fetch = divertingFetch;
}

function restoreGlobalFetch(recorder: Pick<Recorder, "fetch" | "isRecording">): void {
  diverted.delete(recorder);
  if (diverted.size === 0 && globalThis.fetch === divertingFetch) globalThis.fetch = platformFetch;
}
