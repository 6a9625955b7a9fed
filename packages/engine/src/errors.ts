import { type ErrorContext, HalluMazeError } from "@hallumaze/foundation";

/** An invariant of the engine does not hold, or an edge stayed broken beyond its bounded wait. */
export class EngineError extends HalluMazeError {}

/** Makes an EngineError for a ledger that refused to keep a paid reply for too long. */
export function archiveFailed(cause: unknown, context: ErrorContext): EngineError {
  return new EngineError(
    "archive-failed",
    "The database did not take a reply that was already received. The trial stays retryable. " +
      "Free disk space or restore the database, then run the same command again.",
    { retry: true, context, cause },
  );
}
