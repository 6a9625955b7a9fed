import type { LimitReading, LimitReadings } from "@hallumaze/engine";

type Headers = Readonly<Record<string, string>>;

/** What a reply tells about waiting. */
export interface WaitSource {
  readonly headers: Headers;
  /** The body's error, as text to search: message and details. */
  readonly errorText: string;
  /** Wall clock when the reply came, in milliseconds since the Unix epoch. */
  readonly nowMs: number;
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const dimensions = [
  ["requests", "requests"],
  ["tokens", "tokens"],
  ["inputTokens", "input-tokens"],
  ["outputTokens", "output-tokens"],
] as const;

/**
 * How long the server asks to wait, in milliseconds; null where it does not say. In this order: `retry-after-ms`,
 * `retry-after` (seconds or a date), the body (Google's RetryInfo, "try again in 7m12s"), and the reset of the limits
 * whose remaining is 0: the reset of a limit that is not used up says nothing about this refusal.
 */
export function readRetryAfter(source: WaitSource): number | null {
  const { headers, nowMs } = source;
  const milliseconds = headers["retry-after-ms"];
  if (milliseconds !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(milliseconds)) return Math.ceil(Number(milliseconds));
  const header = headers["retry-after"];
  const fromHeader = header === undefined ? null : readMoment(header, serverNow(headers, nowMs));
  return fromHeader ?? readBodyDelay(source.errorText, nowMs) ?? readEmptyLimits(headers, nowMs);
}

/** Reads a vendor's limit headers: Anthropic's, OpenAI's (and those that copy it), and the plain `x-ratelimit-*`. */
export function readLimits(headers: Headers, nowMs: number): LimitReadings {
  const readings: Record<string, LimitReading> = {};
  for (const [name, word] of dimensions) {
    const reading =
      readDimension(headers, (part) => `anthropic-ratelimit-${word}-${part}`, nowMs) ??
      readDimension(headers, (part) => `x-ratelimit-${part}-${word}`, nowMs) ??
      (name === "requests" ? readDimension(headers, (part) => `x-ratelimit-${part}`, nowMs) : null);
    if (reading !== null) readings[name] = reading;
  }
  return readings;
}

/** Milliseconds until the next midnight of the Pacific coast, where Google's daily quotas start anew. */
export function untilPacificMidnight(nowMs: number): number {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone: "America/Los_Angeles",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  }).formatToParts(new Date(nowMs));
  const value = (type: string): number => Number(parts.find((part) => part.type === type)?.value ?? 0);
  const passedMs = ((value("hour") * 60 + value("minute")) * 60 + value("second")) * 1000;
  return 86_400_000 - passedMs;
}

/** Milliseconds until a moment that an error text names in words ("regain access on 2026-12-01 at 00:00 UTC"); null where none. */
export function readNamedMoment(text: string, nowMs: number): number | null {
  const found = /(?:regain access|resets?|available again)[^.]{0,20}?(\d{4}-\d\d-\d\d)(?: at |T| )(\d\d:\d\d)/i.exec(
    text,
  );
  const momentMs = found === null ? Number.NaN : Date.parse(`${found[1]}T${found[2]}:00Z`);
  return Number.isNaN(momentMs) ? null : Math.max(0, momentMs - nowMs);
}

function readDimension(headers: Headers, nameOf: (part: string) => string, nowMs: number): LimitReading | null {
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((part) => headers[nameOf(part)]);
  if (limit === undefined && remaining === undefined) return null;
  return {
    limit: readCount(limit),
    remaining: readCount(remaining),
    resetMs: reset === undefined ? null : readMoment(reset, serverNow(headers, nowMs)),
  };
}

function readEmptyLimits(headers: Headers, nowMs: number): number | null {
  const resets = Object.values(readLimits(headers, nowMs) as Record<string, LimitReading>)
    .filter(({ remaining }) => remaining === 0)
    .map(({ resetMs }) => resetMs)
    .filter((resetMs) => resetMs !== null);
  return resets.length === 0 ? null : Math.max(...resets);
}

function readBodyDelay(text: string, nowMs: number): number | null {
  const info = /"retryDelay"\s*:\s*"([^"]+)"/.exec(text)?.[1];
  const infoMs = info === undefined ? null : readDuration(info);
  if (infoMs !== null) return infoMs;
  // Aggregators wrap the headers of the host that they asked.
  const wrapped = /"(?:x-ratelimit-reset|retry-after)"\s*:\s*"?(\d+(?:\.\d+)?)/i.exec(text)?.[1];
  if (wrapped !== undefined) return readMoment(wrapped, nowMs);
  const words =
    /(?:try again|retry|wait)\s+(?:in|after|for)?\s*((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|s|seconds?|secs?|m|minutes?|mins?|h|hours?|d|days?)(?![a-z])\s*)+)/i;
  const phrase = words.exec(text)?.[1];
  return phrase === undefined ? null : readDuration(shortUnits(phrase));
}

/** "7 minutes 12 seconds" → "7 m 12 s". */
function shortUnits(phrase: string): string {
  return phrase.replace(/milliseconds?/gi, "ms").replace(/(ms|[smhd])[a-z]*/gi, (_, unit: string) => unit);
}

/** A wait as seconds, a duration (`6m0s`, `20ms`), a Unix time in seconds or milliseconds, or a date. */
function readMoment(text: string, nowMs: number): number | null {
  const trimmed = text.trim();
  if (/^\d+(\.\d+)?$/.test(trimmed)) {
    const value = Number(trimmed);
    if (value > 1e11) return Math.max(0, Math.ceil(value - nowMs));
    if (value > 1e9) return Math.max(0, Math.ceil(value * 1000 - nowMs));
    return Math.ceil(value * 1000);
  }
  const durationMs = readDuration(trimmed);
  if (durationMs !== null) return durationMs;
  const dateMs = /\d{4}/.test(trimmed) ? Date.parse(trimmed) : Number.NaN;
  return Number.isNaN(dateMs) ? null : Math.max(0, dateMs - nowMs);
}

function readDuration(text: string): number | null {
  const compact = text.replaceAll(/\s/g, "").toLowerCase();
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(compact)) return null;
  let sumMs = 0;
  for (const [, amount, unit] of compact.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)) {
    sumMs += Number(amount) * (unitMs[unit ?? ""] ?? 0);
  }
  return Math.ceil(sumMs);
}

function readCount(text: string | undefined): number | null {
  const value = text === undefined || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) && value >= 0 ? value : null;
}

/** Dates in headers are the server's: measured against its own clock where it tells it. */
function serverNow(headers: Headers, nowMs: number): number {
  const dateMs = headers["date"] === undefined ? Number.NaN : Date.parse(headers["date"]);
  return Number.isNaN(dateMs) ? nowMs : dateMs;
}
