import type { HalluMazeError } from "@hallumaze/foundation";

import { QueueError } from "./errors.ts";

/** Takes an error to tell somebody about. Never throws. */
export type ReportError = (error: QueueError) => void;

/**
 * Passes errors on, each kind (code and message) at once and then at most every `intervalMs`.
 *
 * A worker whose server is away raises about a hundred errors a second (measured on BullMQ 6.7.0); the first says it
 * all. How many were left out is in the next one's context as `repeats`.
 */
export function createErrorReport(
  onError: (error: HalluMazeError) => void,
  intervalMs: number,
  now: () => number = Date.now,
): ReportError {
  const kinds = new Map<string, { readonly atMs: number; repeats: number }>();
  return (error) => {
    const kind = `${error.code} ${error.message}`;
    const last = kinds.get(kind);
    if (last !== undefined && now() - last.atMs < intervalMs) {
      last.repeats += 1;
      return;
    }
    // Messages may carry ids: the map must not grow with them.
    if (kinds.size >= 200) kinds.clear();
    kinds.set(kind, { atMs: now(), repeats: 0 });
    const repeats = last?.repeats ?? 0;
    try {
      onError(repeats === 0 ? error : withRepeats(error, repeats));
    } catch {
      // A listener that throws would end BullMQ's loop; its own failure is not ours to handle.
    }
  };
}

function withRepeats(error: QueueError, repeats: number): QueueError {
  const { code, message, retry, context, cause } = error;
  return new QueueError(code as ConstructorParameters<typeof QueueError>[0], message, {
    retry,
    context: { ...context, repeats },
    cause,
  });
}
