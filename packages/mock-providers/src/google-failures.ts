import { fill } from "./anthropic-failures.ts";
import type { Failure, FailureKind, WrittenFailure } from "./dialect.ts";
import { waitHeaders } from "./limit-headers.ts";

const failures: Readonly<Record<FailureKind, readonly [status: number, rpc: string, message: string]>> = {
  rate_limited: [
    429,
    "RESOURCE_EXHAUSTED",
    "You exceeded your current quota, please check your plan and billing details.",
  ],
  quota_exhausted: [
    429,
    "RESOURCE_EXHAUSTED",
    "Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing.",
  ],
  daily_quota: [
    429,
    "RESOURCE_EXHAUSTED",
    "You exceeded your current quota, please check your plan and billing details.",
  ],
  overloaded: [503, "UNAVAILABLE", "The model is overloaded. Please try again later."],
  server_error: [500, "INTERNAL", "An internal error has occurred. Please retry."],
  bad_gateway: [502, "UNAVAILABLE", "Bad gateway"],
  unavailable: [503, "UNAVAILABLE", "The service is currently unavailable."],
  gateway_timeout: [504, "DEADLINE_EXCEEDED", "The request timed out. Please try again."],
  auth: [400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."],
  forbidden: [403, "PERMISSION_DENIED", "Your project has been denied access."],
  model_not_found: [404, "NOT_FOUND", "models/{model} is not found for API version v1beta."],
  unsupported_parameter: [
    400,
    "INVALID_ARGUMENT",
    'Invalid JSON payload received. Unknown name "{param}": Cannot find field.',
  ],
  bad_request: [400, "INVALID_ARGUMENT", "Invalid value at '{param}'"],
  context_too_long: [
    400,
    "INVALID_ARGUMENT",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  ],
  payload_too_large: [413, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."],
};

/**
 * Words a failure as Google does: the wait stands in the body as RetryInfo, a wrong key is a 400 with reason
 * API_KEY_INVALID, and a daily quota differs from a minute's by its quotaId. SOURCE: google.rpc error details; bodies in
 * public issue threads, 2025–2026.
 */
export function writeGoogleFailure(failure: Failure): WrittenFailure {
  const [status, rpc, template] = failures[failure.kind];
  const details = detailsOf(failure);
  const message = `${failure.message ?? fill(template, failure)}${failure.suffix}`;
  return {
    status,
    headers: waitHeaders(failure, "body"),
    body: { error: { code: status, message, status: rpc, ...(details.length > 0 ? { details } : {}) } },
  };
}

function detailsOf(failure: Failure): readonly object[] {
  const type = (name: string): object => ({ "@type": `type.googleapis.com/google.rpc.${name}` });
  const { kind, retryAfterMs, retryAfterForm, dimension, model } = failure;
  if (kind === "auth") {
    const metadata = { service: "generativelanguage.googleapis.com" };
    return [{ ...type("ErrorInfo"), reason: "API_KEY_INVALID", domain: "googleapis.com", metadata }];
  }
  const details: object[] = [];
  if (kind === "rate_limited" || kind === "daily_quota") {
    const span = kind === "daily_quota" ? "PerDay" : "PerMinute";
    const what = dimension === null || dimension === "requests" ? "Requests" : "InputTokens";
    const violation = {
      quotaMetric: "generativelanguage.googleapis.com/generate_content_requests",
      quotaId: `GenerateContent${what}${span}PerProjectPerModel`,
      quotaDimensions: { location: "global", model },
      quotaValue: "60",
    };
    details.push({ ...type("QuotaFailure"), violations: [violation] });
  }
  if (retryAfterMs !== null && (retryAfterForm === "vendor" || retryAfterForm === "body")) {
    details.push({ ...type("RetryInfo"), retryDelay: `${retryAfterMs / 1000}s` });
  }
  return details;
}
