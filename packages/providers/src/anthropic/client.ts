import type { Vendor } from "../attempt.ts";
import { draftAnthropic } from "./request.ts";
import { readAnthropic } from "./response.ts";

/** Longer than any deadline of ours, so that the SDK's own clock never rings first. */
const sdkTimeoutMs = 2_000_000_000;

/** Claude through Anthropic's SDK. `sentFetch` is the recorder's. */
export function openAnthropic(sentFetch: typeof fetch): Vendor {
  return {
    draft: draftAnthropic,
    send: async (draft, _model, endpoint) => {
      // Loaded with the first request: most commands send none.
      const { default: Anthropic } = await import("@anthropic-ai/sdk");
      const client = new Anthropic({
        // The SDK wants some credential; the recorder lets only the real key out.
        apiKey: endpoint.key ?? "none",
        baseURL: endpoint.url,
        fetch: sentFetch,
        maxRetries: 0,
        timeout: sdkTimeoutMs,
        logLevel: "off",
        openTelemetry: false,
      });
      // Not messages.create(): that prints its own warnings of old models, which the plan has told already.
      return client.post("/v1/messages", { body: draft.body, headers: draft.headers }).asResponse();
    },
    read: readAnthropic,
  };
}
