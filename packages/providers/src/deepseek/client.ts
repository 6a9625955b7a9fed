import type { Vendor } from "../attempt.ts";
import { openOpenAi } from "../openai/client.ts";

/**
 * DeepSeek speaks Chat Completions, so it is OpenAI's SDK at another address. What differs lives in the tables: its
 * families, `max_tokens`, streams for long limits. `reasoning_content`, its cache counts, its filler lines and
 * `insufficient_system_resource` are read wherever they appear, for many compatible servers send them too.
 * SOURCE: api-docs.deepseek.com (read 2026-11-29).
 */
export function openDeepSeek(sentFetch: typeof fetch): Vendor {
  return openOpenAi(sentFetch);
}
