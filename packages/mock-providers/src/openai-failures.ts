import { fill } from "./anthropic-failures.ts";
import type { Failure, FailureKind, LimitDimension, WrittenFailure } from "./dialect.ts";
import { waitHeaders } from "./limit-headers.ts";

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
