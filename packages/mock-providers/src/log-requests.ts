import { sha256Hex } from "@hallumaze/foundation";

import type { LoggedRequest } from "./keep-counts.ts";

/** A request in the log, while it can still change. */
export type OpenEntry = { -readonly [Name in keyof LoggedRequest]: LoggedRequest[Name] } & { key: string | null };

/** The newest requests with their headers and bodies. */
export type RequestLog = ReturnType<typeof keepLog>;

/** Keeps the newest `limit` requests. */
export function keepLog(limit: number) {
  let entries: OpenEntry[] = [];
  return {
    add: (entry: OpenEntry): void => {
      entries.push(entry);
      if (entries.length > limit * 2) entries = entries.slice(-limit);
    },
    clear: (): void => {
      entries = [];
    },
    /** Gives the requests, oldest first; keys are replaced by {@link keyName} wherever they stand, unless asked for. */
    list: (withKeys: boolean): readonly LoggedRequest[] =>
      (limit === 0 ? [] : entries.slice(-limit)).map(({ key, ...entry }) =>
        withKeys || key === null || key === "" ? entry : redact(entry, key),
      ),
  };
}

/** Names a key without telling it: the same key has the same name. */
export function keyName(key: string | null): string {
  return key === null ? "none" : `key-${sha256Hex(key).slice(0, 8)}`;
}

const keyHeaders = new Set(["authorization", "x-api-key", "x-goog-api-key"]);
const shortestSecret = 8;

function redact(entry: LoggedRequest, key: string): LoggedRequest {
  // A key of a few letters is no secret, and cleaning would hit words that happen to hold it.
  const replace = (text: string): string => text.replaceAll(key, keyName(key));
  const clean = key.length < shortestSecret ? (text: string): string => text : replace;
  const headers = Object.entries(entry.headers).map(
    ([name, value]) => [name, keyHeaders.has(name) ? replace(value) : clean(value)] as const,
  );
  return {
    ...entry,
    path: clean(entry.path),
    bodyText: clean(entry.bodyText),
    headers: Object.fromEntries(headers),
  };
}
