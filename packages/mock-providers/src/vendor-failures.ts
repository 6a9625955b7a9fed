import type { Failure, FailureKind, LimitDimension, WrittenFailure } from "./dialect.ts";
import { waitHeaders } from "./limit-headers.ts";

const anthropic: Readonly<Record<FailureKind, readonly [status: number, type: string, message: string]>> = {
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
  const [status, type, template] = anthropic[failure.kind];
  const message = `${failure.message ?? fill(template, failure)}${failure.suffix}`;
  return {
    status,
    headers: { "request-id": failure.requestId, ...waitHeaders(failure, "seconds") },
    body: { type: "error", error: { type, message }, request_id: failure.requestId },
  };
}

/** Puts the model and the parameter into a vendor's sentence. */
function fill(template: string, failure: Failure): string {
  return template.replaceAll("{model}", failure.model).replaceAll("{param}", failure.param ?? "temperature");
}

interface Wording {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
}

const openai: Readonly<Record<FailureKind, Wording>> = {
  rate_limited: {
    status: 429,
    type: "tokens",
    code: "rate_limit_exceeded",
    message: "Rate limit reached for {model} on {dimension} per min. Please try again in {wait}.",
  },
  quota_exhausted: {
    status: 429,
    type: "insufficient_quota",
    code: "insufficient_quota",
    message: "You exceeded your current quota, please check your plan and billing details.",
  },
  daily_quota: {
    status: 429,
    type: "requests",
    code: "rate_limit_exceeded",
    message: "Rate limit reached for {model} on requests per day (RPD): Limit 200, Used 200, Requested 1.",
  },
  overloaded: {
    status: 503,
    type: "server_error",
    code: null,
    message: "The engine is currently overloaded, please try again later",
  },
  server_error: {
    status: 500,
    type: "server_error",
    code: null,
    message: "The server had an error while processing your request. Sorry about that!",
  },
  bad_gateway: { status: 502, type: "server_error", code: null, message: "Bad gateway" },
  unavailable: { status: 503, type: "server_error", code: null, message: "Service unavailable" },
  gateway_timeout: { status: 504, type: "server_error", code: null, message: "Gateway timeout" },
  auth: { status: 401, type: "invalid_request_error", code: "invalid_api_key", message: "Incorrect API key provided." },
  forbidden: {
    status: 403,
    type: "invalid_request_error",
    code: "model_not_found",
    message: "Project does not have access to model `{model}`",
  },
  model_not_found: {
    status: 404,
    type: "invalid_request_error",
    code: "model_not_found",
    message: "The model `{model}` does not exist or you do not have access to it.",
  },
  unsupported_parameter: {
    status: 400,
    type: "invalid_request_error",
    code: "unsupported_parameter",
    message: "Unsupported parameter: '{param}' is not supported with this model.",
  },
  bad_request: {
    status: 400,
    type: "invalid_request_error",
    code: "invalid_value",
    message: "Invalid value for '{param}'.",
  },
  context_too_long: {
    status: 400,
    type: "invalid_request_error",
    code: "context_length_exceeded",
    message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens.",
  },
  payload_too_large: { status: 413, type: "invalid_request_error", code: null, message: "Request too large" },
};

const dimensionWords: Readonly<Record<LimitDimension, string>> = {
  requests: "requests",
  tokens: "tokens",
  inputTokens: "input tokens",
  outputTokens: "output tokens",
  concurrency: "concurrent requests",
};

/** Words a failure as OpenAI does. SOURCE: OpenAI's error codes guide; bodies in public issue threads, 2024–2026. */
export function writeOpenaiFailure(failure: Failure): WrittenFailure {
  const wording = openai[failure.kind];
  const dimension = failure.dimension ?? "requests";
  const type = failure.kind === "rate_limited" && dimension === "requests" ? "requests" : wording.type;
  const wait = `${((failure.retryAfterMs ?? 1000) / 1000).toFixed(3)}s`;
  const text = fill(wording.message, failure)
    .replaceAll("{dimension}", dimensionWords[dimension])
    .replaceAll("{wait}", wait);
  return written(failure, wording, { type, message: `${failure.message ?? text}${failure.suffix}` }, "x-request-id");
}

const deepseek: Readonly<Partial<Record<FailureKind, Partial<Wording>>>> = {
  rate_limited: { type: "rate_limit_error", code: null, message: "Rate limit reached" },
  quota_exhausted: {
    status: 402,
    type: "unknown_error",
    code: "invalid_request_error",
    message: "Insufficient Balance",
  },
  daily_quota: { status: 402, type: "unknown_error", code: "invalid_request_error", message: "Insufficient Balance" },
  overloaded: {
    status: 503,
    type: "service_unavailable_error",
    code: "service_unavailable",
    message: "Service is too busy.",
  },
  auth: {
    type: "authentication_error",
    code: "invalid_request_error",
    message: "Authentication Fails, Your api key is invalid",
  },
  model_not_found: { status: 400, code: "invalid_request_error", message: "Model Not Exist" },
  unsupported_parameter: { code: "invalid_request_error", message: "{param} is not supported" },
  context_too_long: {
    code: "invalid_request_error",
    message: "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens.",
  },
};

/** Words a failure as DeepSeek does: 402 without balance, 400 for an unknown model. SOURCE: DeepSeek's error code page. */
export function writeDeepseekFailure(failure: Failure): WrittenFailure {
  const wording = { ...openai[failure.kind], ...deepseek[failure.kind] };
  const text = fill(wording.message, failure);
  return written(
    failure,
    wording,
    { type: wording.type, message: `${failure.message ?? text}${failure.suffix}` },
    "x-ds-trace-id",
  );
}

function written(
  failure: Failure,
  wording: Wording,
  { type, message }: { readonly type: string; readonly message: string },
  idHeader: string,
): WrittenFailure {
  const namesParam = failure.kind === "unsupported_parameter" || failure.kind === "bad_request";
  return {
    status: wording.status,
    headers: {
      [idHeader]: failure.requestId,
      ...waitHeaders(failure, idHeader === "x-request-id" ? "milliseconds" : "none"),
    },
    body: {
      error: {
        message,
        type,
        param: namesParam ? (failure.param ?? "temperature") : failure.param,
        code: wording.code,
      },
    },
  };
}

const google: Readonly<Record<FailureKind, readonly [status: number, rpc: string, message: string]>> = {
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
  const [status, rpc, template] = google[failure.kind];
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
