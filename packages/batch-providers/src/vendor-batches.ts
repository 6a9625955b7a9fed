import type {
  BatchBody,
  BatchLimits,
  BatchLook,
  BatchRefusal,
  BatchResults,
  BatchVendorPort,
  Submission,
} from "@hallumaze/batching";
import type { ChatRequest } from "@hallumaze/engine";
import { type Endpoint, type Exchange, failureOf, type Wire } from "@hallumaze/providers";

/** What one vendor's batch interface is asked with. */
export interface BatchCall {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** All that differs between the vendors' batch interfaces. */
export interface VendorBatches {
  readonly limits: BatchLimits;
  readonly draft: (request: ChatRequest) => BatchBody;
  readonly submit: (
    call: BatchCall & { readonly batchId: string },
    rows: Parameters<BatchVendorPort["submit"]>[1],
  ) => Promise<Submission>;
  readonly find: (
    call: BatchCall & { readonly batchId: string; readonly rows: number },
    sinceMs: number,
  ) => ReturnType<BatchVendorPort["find"]>;
  readonly look: (call: BatchCall, vendorId: string) => Promise<BatchLook>;
  readonly cancel: (call: BatchCall, vendorId: string) => Promise<unknown>;
  readonly results: (call: BatchCall, vendorId: string) => Promise<BatchResults>;
}

/** Longer than any deadline of ours, so that an SDK's own clock never rings first. */
export const sdkTimeoutMs = 2_000_000_000;
/** Batches a page of a list, newest first, and pages that are read: a lost submission stands on the first. */
export const pageRows = 100;
export const mostPages = 20;

/** A vendor's server has its clock: batches that it says were made so long before the submission may still be it. */
export const clockSkewMs = 5 * 60_000;

/** Longest time from the start of a submission, by our clock, to the moment at which the vendor made a batch of it. */
const submissionMs = 30 * 60_000;

/** Whether a batch that the vendor made at `madeMs` may be of a submission begun at `sinceMs`, by time alone. */
export function isOfTime(madeMs: number, sinceMs: number): boolean {
  return madeMs >= sinceMs - clockSkewMs && madeMs <= sinceMs + submissionMs + clockSkewMs;
}

/** Whether a batch was surely made after a submission's start: a list that shows it has caught up with that. */
export function isAfter(madeMs: number, sinceMs: number): boolean {
  return madeMs > sinceMs + clockSkewMs;
}

/** Ends of rows that were not run, and are not billed. */
export const expired = { outcome: "overloaded", message: "the batch expired before this request was run" } as const;
export const cancelled = {
  outcome: "cancelled",
  message: "the batch was cancelled before this request was run",
} as const;

/** The JSON of a reply; undefined where there is none. */
export function jsonOf({ body }: Pick<Exchange, "body">): unknown {
  try {
    return JSON.parse(body.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}

/** The lines of a JSONL file, one at a time. A line that is no JSON gives undefined. */
export function* jsonLines({ body }: Pick<Exchange, "body">): Generator<unknown, void> {
  for (let start = 0; start < body.length; ) {
    const next = body.indexOf(10, start);
    const end = next === -1 ? body.length : next;
    const line = body.subarray(start, end);
    start = end + 1;
    if (line.length > 1) yield jsonOf({ body: line });
  }
}

/** Why an exchange brought nothing. */
export function refusalOf(exchange: Exchange, redact: Wire["redact"]): BatchRefusal {
  const failure = failureOf(exchange);
  if (failure === null) {
    return {
      outcome: "unparseable_body",
      message: "the reply is not what the interface promises",
      retryAfterMs: null,
      park: null,
    };
  }
  const { outcome, message, retryAfterMs, park } = failure;
  return {
    outcome,
    message: redact(message),
    retryAfterMs,
    park: park === null ? null : { ...park, reason: redact(park.reason) },
  };
}

/** What an error means that a vendor tells of a batch in a reply that is none itself. */
export function refusalOfError(
  error: { readonly code: string; readonly message: string },
  redact: Wire["redact"],
): BatchRefusal {
  return refusalOf(asExchange(400, { error: { ...error, type: "invalid_request_error" } }, 0), redact);
}

/**
 * What an exchange without a batch's id says of the submission: refused where the vendor said so or nothing was sent, else
 * unknown, for the batch may have been made.
 */
export function notAccepted(exchange: Exchange, redact: Wire["redact"]): Submission {
  const refusal = refusalOf(exchange, redact);
  const { status, breakage } = exchange;
  const isUnsent =
    status === null &&
    breakage !== null &&
    ((breakage.kind === "timeout" && breakage.stage === "connect") ||
      /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH/.test(breakage.message));
  // 529 is said at the door.
  const isRefused = status !== null && breakage === null && ((status >= 300 && status < 500) || status === 529);
  if (isUnsent || isRefused) return { kind: "refused", ...refusal, isTooLarge: status === 413 };
  return { kind: "unknown", message: refusal.message };
}

/** A reply inside a batch's results, as if it had come by itself. */
export function asExchange(status: number, json: unknown, turnaroundMs: number): Exchange {
  return {
    status,
    headers: {},
    body: Buffer.from(JSON.stringify(json)),
    httpMs: turnaroundMs,
    ttftMs: null,
    endedAtMs: Date.now(),
    breakage: null,
  };
}

/** What a look that brought nothing means: there is no such thing (`absent` says what that is), or the moment is wrong. */
export function inVain<Absent extends "unknown" | "gone">(
  exchange: Exchange,
  redact: Wire["redact"],
  absent: Absent,
): { readonly kind: Absent; readonly message: string } | ({ readonly kind: "unreachable" } & BatchRefusal) {
  const refusal = refusalOf(exchange, redact);
  return isGone(exchange) ? { kind: absent, message: refusal.message } : { kind: "unreachable", ...refusal };
}

/** Whether a refused look at results means that they are no more, or that the moment is wrong. */
function isGone({ status }: Exchange): boolean {
  return status === 404 || status === 410;
}
