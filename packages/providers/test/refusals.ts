import { ask, dialectOf, never, openFor } from "./dialects.ts";
import { type Answer, startScriptedServer } from "./scripted-server.ts";

/** What one refusal becomes; the server counts. */
export async function refuse(name: string, answer: Answer, changes = {}) {
  const dialect = dialectOf(name);
  await using server = await startScriptedServer(answer);
  await using providers = openFor(server.url);
  const result = await providers.complete(ask(dialect, server.url, changes), never);
  return { result, requests: server.seen.length };
}

/** An error as OpenAI words it. */
export const openAiError = (
  message: string,
  code: string | null,
  type = "invalid_request_error",
  param: string | null = null,
) => ({
  error: { message, type, code, param },
});
/** An error as Anthropic words it. */
export const claudeError = (type: string, message: string) => ({
  type: "error",
  error: { type, message },
  request_id: "req_1",
});
/** An error as Google words it. */
export const googleError = (code: number, status: string, message: string, details: readonly unknown[] = []) => ({
  error: { code, status, message, details },
});
/** Google's note of which quota is used up. */
export const quota = (quotaId: string) => ({
  "@type": "type.googleapis.com/google.rpc.QuotaFailure",
  violations: [{ quotaMetric: "generativelanguage.googleapis.com/requests", quotaId, quotaValue: "250" }],
});
/** Google's note of how long to wait. */
export const retryInfo = (retryDelay: string) => ({ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay });
