import type { Failure, LimitMeter, RetryAfterForm, Vendor } from "./dialect.ts";

/**
 * Tells the wait of a failure in the form that its script asks for, or in the vendor's own. The forms `body` and `reset`
 * give no header here: the body and the limit headers tell them.
 */
export function waitHeaders(failure: Failure, vendorForm: RetryAfterForm): Readonly<Record<string, string>> {
  const { retryAfterMs, nowMs } = failure;
  if (retryAfterMs === null) return {};
  const form = failure.retryAfterForm === "vendor" ? vendorForm : failure.retryAfterForm;
  const seconds = String(Math.ceil(retryAfterMs / 1000));
  switch (form) {
    case "seconds":
      return { "retry-after": seconds };
    case "milliseconds":
      return { "retry-after": seconds, "retry-after-ms": String(Math.ceil(retryAfterMs)) };
    case "date":
      // An HTTP date has whole seconds: rounded up, or the client would come too early.
      return { "retry-after": new Date(Math.ceil((nowMs + retryAfterMs) / 1000) * 1000).toUTCString() };
    default:
      return {};
  }
}

/**
 * The vendor's headers on the state of the limits; empty for vendors that send none, such as Google and DeepSeek.
 * SOURCE: Anthropic's and OpenAI's rate limit pages, 2025.
 */
export function limitHeaders(vendor: Vendor, meters: readonly LimitMeter[], nowMs: number): Record<string, string> {
  if (vendor === "anthropic") return anthropicHeaders(meters, nowMs);
  return vendor === "openai" || vendor === "compatible" ? openaiHeaders(meters) : {};
}

const anthropicNames = {
  requests: "requests",
  tokens: "tokens",
  inputTokens: "input-tokens",
  outputTokens: "output-tokens",
} as const;

function anthropicHeaders(meters: readonly LimitMeter[], nowMs: number): Record<string, string> {
  const entries = meters.flatMap(({ dimension, limit, remaining, resetMs }) => {
    const prefix = `anthropic-ratelimit-${anthropicNames[dimension]}`;
    // RFC 3339 in whole seconds, rounded up.
    const reset = new Date(Math.ceil((nowMs + resetMs) / 1000) * 1000).toISOString().replace(".000Z", "Z");
    return [
      [`${prefix}-limit`, String(limit)],
      [`${prefix}-remaining`, String(remaining)],
      [`${prefix}-reset`, reset],
    ];
  });
  return Object.fromEntries(entries);
}

function openaiHeaders(meters: readonly LimitMeter[]): Record<string, string> {
  const entries = meters.flatMap(({ dimension, limit, remaining, resetMs }) => {
    const name = dimension === "requests" ? "requests" : "tokens";
    return [
      [`x-ratelimit-limit-${name}`, String(limit)],
      [`x-ratelimit-remaining-${name}`, String(remaining)],
      [`x-ratelimit-reset-${name}`, durationText(resetMs)],
    ];
  });
  return Object.fromEntries(entries);
}

/** Writes a span as OpenAI does: `17ms`, `1.2s`, `6m0s`, `1h2m3s`. */
export function durationText(spanMs: number): string {
  const whole = Math.ceil(spanMs);
  if (whole < 1000) return `${whole}ms`;
  const seconds = whole / 1000;
  if (seconds < 60) return `${Number(seconds.toFixed(3))}s`;
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  return `${hours > 0 ? `${hours}h` : ""}${minutes}m${Math.ceil(seconds % 60)}s`;
}
