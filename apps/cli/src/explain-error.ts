import { HalluMazeError } from "@hallumaze/foundation";

/** Puts an error into plain words: an expected one by its message, an unexpected one with where it happened. */
export function explainError(error: unknown): string {
  if (error instanceof HalluMazeError) return error.message;
  if (error instanceof Error) {
    return `Unexpected error, a defect of this program: ${error.stack ?? error.message}`;
  }
  return `Unexpected error: ${String(error)}`;
}
