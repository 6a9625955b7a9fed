import type { BatchLimits } from "./ports.ts";

/** What a batch holds so far. */
export interface BatchSize {
  readonly rows: number;
  readonly bytes: number;
  readonly replyBytes: number;
}

/** An empty batch. */
export const emptySize: BatchSize = { rows: 0, bytes: 0, replyBytes: 0 };

/** Bytes that a token of a reply may take in a line of results: a Korean syllable, or an escape. */
const bytesPerToken = 6;
/** What surrounds a request in its batch, and a reply in its line. */
const frameBytes = 200;
const replyFrameBytes = 1500;

/** The size of a batch with one request more. `bodyBytes` is its body in UTF-8, `maxTokens` the reply's limit. */
export function grown(size: BatchSize, bodyBytes: number, maxTokens: number): BatchSize {
  return {
    rows: size.rows + 1,
    bytes: size.bytes + bodyBytes + frameBytes,
    replyBytes: size.replyBytes + maxTokens * bytesPerToken + replyFrameBytes,
  };
}

/** Whether a batch may be of that size. One row always goes: a vendor says better than we what is too large. */
export function fits(size: BatchSize, limits: BatchLimits): boolean {
  if (size.rows <= 1) return true;
  return size.rows <= limits.rows && size.bytes <= limits.bytes && size.replyBytes <= limits.replyBytes;
}
