import { HalluMazeError } from "@hallumaze/foundation";

/** A command was asked for something that it cannot do as asked; exit code 2. */
export class UsageError extends HalluMazeError {
  constructor(message: string) {
    super("usage", message);
  }
}

/** Puts an error into plain words: an expected one by its message, an unexpected one with where it happened. */
export function explainError(error: unknown): string {
  if (error instanceof HalluMazeError) return error.message;
  if (error instanceof Error) {
    return `Unexpected error, a defect of this program: ${error.stack ?? error.message}`;
  }
  return `Unexpected error: ${String(error)}`;
}
