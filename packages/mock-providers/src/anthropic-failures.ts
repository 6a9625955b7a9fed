import type { Failure, FailureKind, WrittenFailure } from "./dialect.ts";
import { waitHeaders } from "./limit-headers.ts";

const failures: Readonly<Record<FailureKind, readonly [status: number, type: string, message: string]>> = {
  rate_limited: [429, "rate_limit_error", "This request would exceed your organization's rate limit."],
  quota_exhausted: [
    400,
    "invalid_request_error",
    "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
  ],
  daily_quota: [
    400,
    "invalid_request_error",
    "You have reached your specified API usage limits. You will regain access at the start of the next period.",
  ],
  overloaded: [529, "overloaded_error", "Overloaded"],
  server_error: [500, "api_error", "Internal server error"],
  bad_gateway: [502, "api_error", "Bad gateway"],
  unavailable: [503, "api_error", "Service unavailable"],
  gateway_timeout: [504, "timeout_error", "Request timed out"],
  auth: [401, "authentication_error", "invalid x-api-key"],
  forbidden: [403, "permission_error", "Your API key does not have permission to use the specified resource."],
  model_not_found: [404, "not_found_error", "model: {model}"],
  unsupported_parameter: [400, "invalid_request_error", "{param}: Extra inputs are not permitted"],
  bad_request: [400, "invalid_request_error", "{param}: Input should be valid"],
  context_too_long: [400, "invalid_request_error", "prompt is too long: 215000 tokens > 200000 maximum"],
  payload_too_large: [413, "request_too_large", "Request exceeds the maximum size"],
};

/** Words a failure as Anthropic does. SOURCE: Anthropic's error reference; bodies in public issue threads, 2025–2026. */
export function writeAnthropicFailure(failure: Failure): WrittenFailure {
  const [status, type, template] = failures[failure.kind];
  const message = `${failure.message ?? fill(template, failure)}${failure.suffix}`;
  return {
    status,
    headers: { "request-id": failure.requestId, ...waitHeaders(failure, "seconds") },
    body: { type: "error", error: { type, message }, request_id: failure.requestId },
  };
}

/** Puts the model and the parameter into a vendor's sentence. */
export function fill(template: string, failure: Failure): string {
  return template.replaceAll("{model}", failure.model).replaceAll("{param}", failure.param ?? "temperature");
}
