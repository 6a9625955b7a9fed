import type { FailureOutcome } from "@hallumaze/engine";
import { z } from "zod";

import { readNamedMoment, readRetryAfter, untilPacificMidnight, type WaitSource } from "./server-waits.ts";

/** An error as a body tells it, whatever its shape. */
export interface ErrorFacts {
  /** An HTTP status that the body names; null where it names none. */
  readonly status: number | null;
  readonly message: string;
  /** The parameter that the body blames; null where it names none. */
  readonly parameter: string | null;
  /** Codes, types, reasons and quota names, in lower case. */
  readonly words: readonly string[];
  /** The error as JSON text: waits are named deep inside. */
  readonly text: string;
}

/** A classified failure. */
export interface Failure {
  readonly outcome: FailureOutcome;
  readonly message: string;
  readonly detail: string | null;
  readonly retryAfterMs: number | null;
  readonly park: { readonly reason: string; readonly resumeAfterMs: number | null } | null;
  /** The parameter that the model does not take: worth one repair. */
  readonly unsupported: string | null;
}

/** Statuses that a body's words stand for; the first word that is known decides. */
const statusOfWord: Readonly<Record<string, number>> = {
  insufficient_quota: 429,
  context_length_exceeded: 400,
  content_filter: 400,
  unsupported_parameter: 400,
  unsupported_value: 400,
  invalid_api_key: 401,
  model_not_found: 404,
  invalid_request_error: 400,
  invalid_argument: 400,
  failed_precondition: 400,
  authentication_error: 401,
  unauthenticated: 401,
  billing_error: 402,
  permission_error: 403,
  permission_denied: 403,
  not_found_error: 404,
  not_found: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  resource_exhausted: 429,
  api_error: 500,
  server_error: 500,
  internal: 500,
  unavailable: 503,
  timeout_error: 504,
  deadline_exceeded: 504,
  overloaded_error: 529,
};

const patterns = {
  noCredit:
    /\b(insufficient_quota|credit_balance_exhausted|billing_error|billing_hard_limit_reached|insufficient_balance|insufficient_funds)\b|credit balance|credits? (are|is) (depleted|exhausted)|insufficient (account )?(balance|credits?|funds)|out of credits|more credits|billing hard limit|spend(ing)? (limit|cap)|usage limits?\b.*regain access|payment required/,
  daily: /per[ _-]?day|\b[rt]pd\b|daily (request|token|usage|quota|limit)|perday/,
  auth: /\b(invalid_api_key|api_key_invalid|authentication_error|unauthenticated|permission_error|permission_denied|account_deactivated|unsupported_country_region_territory)\b|api key not valid|invalid (x-)?api[ -]?key|incorrect api key|user location is not supported/,
  filtered:
    /\b(content_filter|content_policy_violation|invalid_prompt|moderation_blocked)\b|content filter|flagged|content exists risk|safety system|usage polic/,
  model:
    /\bmodel_not_found\b|model:? ?\S* ?(\S+ )?(does not exist|not exist|not found|is not found|is not available|unknown)|not a valid model|unknown model|no such model|no endpoints found/,
  context:
    /context_length_exceeded|context (length|window|limit)|prompt is too long|input token count|too many (input )?tokens|maximum (context|input)|request_too_large|exceeds the maximum number of tokens/,
  rate: /rate.?limit|too many requests/,
  tooLargeForLimit: /request too large/,
  range: /\brange\b|between|at most|or less|less than|greater than|or equal|maximum|minimum/,
  overloaded: /overloaded|at capacity|over capacity|high demand|slow_down|\bbusy\b|insufficient_system_resource/,
  unsupported:
    /unsupported_(parameter|value)|not support|unsupported|unrecognized|unknown (name|parameter|argument|field)|deprecated|no longer|not permitted|extra_forbidden|extra (inputs|fields)|may only be set|is not allowed|cannot be (set|used|specified)|removed/,
} as const;

/** An error in a 200 or a stream that names no status: its words alone decide, and without them the server is to blame. */
const unknownStatus = 0;
/** Statuses below 500 that speak of the moment, not of the request: timeout, conflict, too early, closed by client. */
const passing: ReadonlySet<number> = new Set([408, 409, 425, 499]);

const errorSchema = z.looseObject({
  code: z.union([z.string(), z.number()]).nullish(),
  type: z.string().nullish(),
  status: z.union([z.string(), z.number()]).nullish(),
  message: z.string().nullish(),
  param: z.string().nullish(),
  details: z
    .array(z.looseObject({ reason: z.string().optional(), violations: z.array(z.unknown()).optional() }))
    .nullish(),
});

/**
 * Finds the error in a reply's JSON; null where there is none. Bodies differ: `{error: {…}}`, `{error: "text"}`, a list
 * of one, `{detail: [...]}`, a failed response object, an object of type "error".
 */
export function findError(json: unknown): ErrorFacts | null {
  if (Array.isArray(json)) return json.length === 1 ? findError(json[0]) : null;
  if (typeof json !== "object" || json === null) return null;
  const body = json as Readonly<Record<string, unknown>>;
  const error = body["error"];
  if (typeof error === "string" && error !== "") return factsOf({ message: error }, body);
  if (typeof error === "object" && error !== null) return factsOf(error, body);
  if (body["type"] === "error" || body["object"] === "error") return factsOf(body, body);
  if (["choices", "candidates", "content", "output"].some((key) => body[key] !== undefined)) return null;
  const detail = body["detail"];
  if (typeof detail === "string") return factsOf({ message: detail }, body);
  if (Array.isArray(detail)) return factsOf({ message: JSON.stringify(detail), param: lastPlace(detail) }, body);
  return null;
}

/**
 * Classifies a refusal: the body's words first, then its status, then HTTP's (spec/sweeps.md section 5). `facts` is
 * null where the body is no error that can be read.
 */
export function classifyFailure(
  httpStatus: number,
  facts: ErrorFacts | null,
  source: Omit<WaitSource, "errorText">,
): Failure {
  const status = effectiveStatus(httpStatus, facts);
  const text = facts === null ? "" : `${facts.words.join(" ")} ${facts.message}`.toLowerCase();
  const waits: WaitSource = { ...source, errorText: facts?.text ?? "" };
  const retryAfterMs = readRetryAfter(waits);
  const said = facts?.message.trim();
  const number = status === unknownStatus ? httpStatus : status;
  const message = `${number}: ${said === undefined || said === "" ? "no message" : said.slice(0, 600)}`;
  const failure = (outcome: FailureOutcome, detail: string | null = null): Failure => ({
    outcome,
    message,
    detail,
    retryAfterMs,
    park: null,
    unsupported: null,
  });
  const parked = (outcome: FailureOutcome, resumeAfterMs: number | null): Failure => ({
    ...failure(outcome),
    park: { reason: `${outcome}: ${message}`, resumeAfterMs },
  });

  // A redirect is not followed: the key would go where the spec did not send it.
  if (httpStatus >= 300 && httpStatus < 400) return failure("bad_request", "baseUrl");
  if (status === 402 || patterns.noCredit.test(text)) {
    return parked("quota_exhausted", readNamedMoment(facts?.message ?? "", source.nowMs));
  }
  if (status === 429 && patterns.daily.test(text)) {
    // Google sends a RetryInfo of seconds with a daily quota; the quota comes back at midnight.
    const isGoogle = facts?.words.includes("resource_exhausted") === true;
    return parked("quota_exhausted", isGoogle ? untilPacificMidnight(source.nowMs) : retryAfterMs);
  }
  if (isRefusal(status) && patterns.filtered.test(text)) return failure("filtered", filterKind(facts));
  if (status === 401 || (isRefusal(status) && patterns.auth.test(text))) return parked("auth", null);
  if (status === 404 || (isRefusal(status) && patterns.model.test(text))) return parked("model_not_found", null);
  if (status === 403) return parked("auth", null);
  if (status === 413 || (isRefusal(status) && patterns.context.test(text))) return failure("context_too_long");
  // One request that is larger than a whole minute's limit: no wait helps.
  if (status === 429 && patterns.tooLargeForLimit.test(text)) return failure("context_too_long");
  if (status === 429 || (status === unknownStatus && patterns.rate.test(text))) return failure("rate_limited");
  if (status === 529 || (isServers(status) && patterns.overloaded.test(text))) return failure("overloaded");
  if (isServers(status) || passing.has(status)) return failure("transient_server");
  const parameter = facts?.parameter ?? null;
  return { ...failure("bad_request", parameter), unsupported: isUnsupported(text) ? parameter : null };
}

/** Tells whether a refusal is about a parameter as such; a value out of range is the spec's to mend, not ours. */
export function isUnsupported(message: string): boolean {
  const text = message.toLowerCase();
  return patterns.unsupported.test(text) && !patterns.range.test(text);
}

/** Finds which of these dotted names a message speaks of: quoted, then as a word, then in words; null where none. */
export function findBlamed(message: string, names: readonly string[]): string | null {
  const quoted = [...message.matchAll(/[`'"]([\w.]+)[`'"]/g)].map(([, word]) => word ?? "");
  for (const word of [...quoted, ...message.split(/[^\w.]+/)]) {
    const last = bare(word.split(".").filter(Boolean).at(-1) ?? "");
    const found = names.find((name) => leaf(name) === last);
    if (found !== undefined) return found;
  }
  // "Thinking budget is not supported": only names long enough to mean nothing else.
  return names.find((name) => leaf(name).length >= 8 && bare(message).includes(leaf(name))) ?? null;
}

function leaf(name: string): string {
  return bare(name.split(".").at(-1) ?? "");
}

function bare(text: string): string {
  return text.replace(/[^a-z0-9]/gi, "").toLowerCase();
}

function factsOf(error: object, body: Readonly<Record<string, unknown>>): ErrorFacts {
  const read = errorSchema.safeParse(error);
  const { code, type, status, message, param, details } = read.success
    ? read.data
    : ({} as z.infer<typeof errorSchema>);
  const reasons = (details ?? []).flatMap((detail) => [detail.reason ?? "", ...quotaNames(detail.violations ?? [])]);
  const words = [code, type, status, ...reasons].filter((word) => typeof word === "string" && word !== "");
  const numbers = [code, status, body["code"], body["status"]].map(Number);
  return {
    status: numbers.find((value) => Number.isInteger(value) && value >= 400 && value < 600) ?? null,
    message: message ?? JSON.stringify(error),
    parameter: param ?? null,
    words: words.map((word) => String(word).toLowerCase()),
    text: JSON.stringify(error),
  };
}

function quotaNames(violations: readonly unknown[]): readonly string[] {
  return violations.map((violation) => {
    if (typeof violation !== "object" || violation === null) return "";
    const { quotaId, quotaMetric } = violation as { quotaId?: unknown; quotaMetric?: unknown };
    return typeof quotaId === "string" ? quotaId : typeof quotaMetric === "string" ? quotaMetric : "";
  });
}

/** Where a validator of the FastAPI kind saw the fault: the last word of its place. */
function lastPlace(detail: readonly unknown[]): string | null {
  const first = detail[0];
  const place = typeof first === "object" && first !== null && "loc" in first ? first.loc : null;
  const last: unknown = Array.isArray(place) ? place.at(-1) : null;
  return typeof last === "string" ? last : null;
}

function effectiveStatus(httpStatus: number, facts: ErrorFacts | null): number {
  if (facts === null) return httpStatus;
  if (facts.status !== null) return facts.status;
  const named = facts.words.map((word) => statusOfWord[word]).find((status) => status !== undefined);
  if (httpStatus < 400) return named ?? unknownStatus;
  // A generic type such as invalid_request_error must not hide what the status says.
  return named === 529 ? named : httpStatus;
}

function isRefusal(status: number): boolean {
  return status === unknownStatus || (status >= 400 && status < 500 && status !== 429);
}

function isServers(status: number): boolean {
  return status === unknownStatus || status >= 500;
}

function filterKind(facts: ErrorFacts | null): string {
  const known = facts?.words.find((word) => /filter|policy|prompt|moderation|safety/.test(word));
  return `prompt:${known ?? "flagged"}`;
}
