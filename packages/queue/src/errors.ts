import { type ErrorContext, HalluMazeError } from "@hallumaze/foundation";
import { explainTlsFailure, redactText, redactUrl } from "@hallumaze/servers";

/** Everything that can go wrong at the queue's edge. */
export type QueueErrorCode =
  /** The back end did not answer in time, or refused the connection. Retry. */
  | "queue-unreachable"
  /** The back end answered and refused: wrong password, no memory, no right to write. */
  | "queue-refused"
  /** The back end failed in a way that is neither. Retry. */
  | "queue-failed"
  /** A worker lost its hold on a delivery, after a long pause or a lost connection; it is delivered again. */
  | "queue-lock"
  /** A URL that cannot be used. */
  | "queue-config"
  /** A lane, delivery or number that no caller should have sent. */
  | "queue-input"
  /** A job whose payload this version cannot read; it stays in the queue. */
  | "queue-payload"
  /** A handler threw; the delivery comes again. */
  | "queue-handler"
  /** Work waits, slots are free and nothing starts: the worker is rebuilt. */
  | "queue-stuck"
  /** The lane is paused in the back end, by hand or by a board. */
  | "queue-paused"
  /** The port or consumer is closing. */
  | "queue-closed"
  /** A setting of the server that loses work. */
  | "queue-server";

/** Error of the queue adapter. */
export class QueueError extends HalluMazeError {
  constructor(
    code: QueueErrorCode,
    message: string,
    options: { readonly retry?: boolean; readonly context?: ErrorContext; readonly cause?: unknown } = {},
  ) {
    super(code, message, options);
  }
}

/**
 * A back end's error in our terms. `url` is what was tried; its password never shows.
 *
 * The cause is kept only as text: drivers attach whole commands and connection options to their errors.
 */
export function toQueueError(cause: unknown, url: string): QueueError {
  if (cause instanceof QueueError) return cause;
  const reason = redactText(describe(cause), url);
  const address = redactUrl(url);
  if (lostLock.test(reason)) {
    // The reason names the job: in the message, each one would be an error of its own kind.
    return new QueueError(
      "queue-lock",
      `A worker of the queue at ${address} lost its hold on a delivery; it is delivered again.`,
      { retry: true, context: { address, reason } },
    );
  }
  const tls = explainTlsFailure(reason, /^redis/i.test(url) ? "REDIS_CA_FILE" : "sslrootcert of the URL");
  if (tls !== null) return new QueueError("queue-refused", `The queue at ${address}: ${tls}`, { context: { address } });
  const code = unreachable.test(reason) ? "queue-unreachable" : refused.test(reason) ? "queue-refused" : "queue-failed";
  return new QueueError(
    code,
    `The queue at ${address} ${outcomes[code]}`.replace("%s", () => reason),
    {
      // A wrong password stays wrong; a full server gets room.
      retry: code !== "queue-refused" || /OOM |READONLY|MISCONF/.test(reason),
      context: { address },
    },
  );
}

const outcomes = {
  "queue-unreachable": "cannot be reached: %s. Check that the server runs and that the address is right.",
  "queue-refused": "refused the request: %s. Check its password, rights and memory.",
  "queue-failed": "failed: %s.",
} as const;

// What BullMQ 6.7.0 says on Redis and on Postgres (classes/finished-errors.ts, classes/lock-manager.ts).
const lostLock =
  /could not renew lock|missing lock|missing key for job|not in the active state|lock mismatch|not active/i;

// Node's codes, then the sentences of ioredis 6, pg 8 and PostgreSQL.
const unreachable =
  /\bE(?:CONN|PIPE|TIMEDOUT|NOTFOUND|AI_AGAIN|HOST|NET)|connection (?:is closed|terminated|ended)|terminating connection|time(?:d )?out|no answer within|max retries per request|slots cache|startup nodes|CLUSTERDOWN|sentinels are unreachable|socket|\b(?:starting up|shutting down|LOADING)\b/i;

const refused =
  /WRONGPASS|NOAUTH|NOPERM|OOM |READONLY|MISCONF|invalid username-password|permission denied|authentication failed|does not exist/i;

/** Settles as `promise` does, or rejects with `queue-unreachable` after `timeoutMs`. The promise itself is left to run. */
export async function withinDeadline<T>(promise: Promise<T>, timeoutMs: number, url: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(toQueueError(new Error(`no answer within ${timeoutMs} ms`), url)), timeoutMs);
  });
  try {
    return await Promise.race([promise, deadline]);
  } catch (cause) {
    throw toQueueError(cause, url);
  } finally {
    clearTimeout(timer);
    promise.catch(() => undefined);
  }
}

/** One line about anything thrown: printable, without NUL or lone surrogates, at most 500 characters. Never throws. */
export function describe(thrown: unknown): string {
  // Cut first: a cut through a pair leaves a lone surrogate.
  const line = textOf(thrown)
    .slice(0, 500)
    .replaceAll(/\p{Cs}/gu, "\u{fffd}")
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim();
  return line === "" ? "an error without a message" : line;
}

function textOf(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  try {
    return thrown instanceof Error ? messageOf(thrown) : "an unknown error";
  } catch {
    return "an unknown error";
  }
}

/** A refused connection to several addresses is an AggregateError with an empty message. */
function messageOf(error: Error): string {
  // A cluster's error says only that no node answered; why, stands in its last node's.
  const last = "lastNodeError" in error && error.lastNodeError instanceof Error ? error.lastNodeError : null;
  if (last !== null) return `${error.message} ${last.message}`;
  if (error.message !== "") return error.message;
  if (error instanceof AggregateError) return error.errors.map((each) => describe(each)).join("; ");
  return error.name;
}
