import type { Vendor } from "../attempt.ts";
import { draftOpenAi } from "./request.ts";
import { readChat } from "./response.ts";
import { readResponse } from "./responses-api.ts";

/** Longer than any deadline of ours, so that the SDK's own clock never rings first. */
const sdkTimeoutMs = 2_000_000_000;

/** OpenAI, and any server that speaks its Chat Completions, through OpenAI's SDK. `sentFetch` is the recorder's. */
export function openOpenAi(sentFetch: typeof fetch): Vendor {
  return {
    draft: draftOpenAi,
    send: async (draft, _model, endpoint) => {
      // Loaded with the first request: most commands send none.
      const { default: OpenAI } = await import("openai");
      const client = new OpenAI({
        // The SDK wants some credential; the recorder lets only the real key out.
        apiKey: endpoint.key ?? "none",
        adminAPIKey: null,
        organization: null,
        project: null,
        webhookSecret: null,
        baseURL: endpoint.url,
        fetch: sentFetch,
        maxRetries: 0,
        timeout: sdkTimeoutMs,
        logLevel: "off",
      });
      const path = draft.api === "responses" ? "/responses" : "/chat/completions";
      return client.post(path, { body: draft.body }).asResponse();
    },
    read: (body, draft) => (draft.api === "responses" ? readResponse(body) : readChat(body)),
  };
}
