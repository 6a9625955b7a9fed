import { type ErrorContext, HalluMazeError } from "@hallumaze/foundation";
import { explainTlsFailure, redactText, redactUrl } from "@hallumaze/servers";

/** Everything that can go wrong at the limiter's edge. */
export type LimiterErrorCode =
  /** The server did not answer in time, or refused the connection. Retry. */
  | "limiter-unreachable"
  /** The server answered and refused: wrong password, no memory, no right to write. */
  | "limiter-refused"
  /** The server failed in a way that is neither. Retry. */
  | "limiter-failed"
  /** A URL or setting that cannot be used. */
  | "limiter-config"
  /** A limit, count or name that no caller should have sent. */
  | "limiter-input"
  /** The port was closed. */
  | "limiter-closed";

/** Error of the limiter adapter. */
export class LimiterError extends HalluMazeError {
  constructor(
    code: LimiterErrorCode,
    message: string,
    options: { readonly retry?: boolean; readonly context?: ErrorContext; readonly cause?: unknown } = {},
  ) {
    super(code, message, options);
  }
}

/**
 * A server's error in our terms. `url` is what was tried; its password never shows.
 *
 * The cause is kept only as text: drivers attach commands and connection options to their errors.
 */
export function toLimiterError(cause: unknown, url: string): LimiterError {
  if (cause instanceof LimiterError) return cause;
  const reason = redactText(describe(cause), url);
  const address = redactUrl(url);
  const tls = explainTlsFailure(reason, /^redis/i.test(url) ? "REDIS_CA_FILE" : "sslrootcert of the URL");
  if (tls !== null)
    return new LimiterError("limiter-refused", `The limiter at ${address}: ${tls}`, { context: { address } });
  const code = unreachable.test(reason)
    ? "limiter-unreachable"
    : refused.test(reason)
      ? "limiter-refused"
      : "limiter-failed";
  return new LimiterError(
    code,
    `The limiter at ${address} ${outcomes[code]}`.replace("%s", () => reason),
    {
      // A wrong password stays wrong; a full server gets room.
      retry: code !== "limiter-refused" || /OOM |READONLY|MISCONF/.test(reason),
      context: { address },
    },
  );
}

const outcomes = {
  "limiter-unreachable": "cannot be reached: %s. Check that the server runs and that the address is right.",
  "limiter-refused": "refused the request: %s. Check its password, rights and memory.",
  "limiter-failed": "failed: %s.",
} as const;

// Node's codes, then the sentences of ioredis 6, pg 8 and PostgreSQL.
const unreachable =
  /\bE(?:CONN|PIPE|TIMEDOUT|NOTFOUND|AI_AGAIN|HOST|NET)|connection (?:is closed|terminated|ended)|terminating connection|time(?:d )?out|no answer within|max retries per request|slots cache|startup nodes|CLUSTERDOWN|sentinels are unreachable|socket|\b(?:starting up|shutting down|LOADING)\b/i;

const refused =
  /WRONGPASS|NOAUTH|NOPERM|OOM |READONLY|MISCONF|invalid username-password|permission denied|authentication failed|database ".*" does not exist/i;

/** Settles as `promise` does, or rejects with `limiter-unreachable` after `timeoutMs`. The promise itself is left to run. */
export async function withinDeadline<T>(promise: Promise<T>, timeoutMs: number, url: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([promise, deadline]);
  } catch (cause) {
    throw toLimiterError(cause, url);
  } finally {
    clearTimeout(timer);
    promise.catch(() => undefined);
  }
}

/** One printable line about anything thrown, at most 500 characters. */
function describe(thrown: unknown): string {
  const text = thrown instanceof Error ? messageOf(thrown) : String(thrown);
  return (
    text
      .slice(0, 500)
      .replaceAll(/\p{Cs}/gu, "\u{fffd}")
      .replaceAll(/\p{Cc}+/gu, " ")
      .trim() || "an error without a message"
  );
}

/** A refused connection to several addresses is an AggregateError with an empty message. */
function messageOf(error: Error): string {
  // A cluster's error says only that no node answered; why, stands in its last node's.
  const last = "lastNodeError" in error && error.lastNodeError instanceof Error ? error.lastNodeError : null;
  if (last !== null) return `${error.message} ${last.message}`;
  if (error.message !== "") return error.message;
  return error instanceof AggregateError ? error.errors.map((each) => describe(each)).join("; ") : error.name;
}
