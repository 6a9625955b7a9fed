import { HalluMazeError } from "@hallumaze/foundation";

/** A command was asked for something that it cannot do as asked; exit code 2. */
export class UsageError extends HalluMazeError {
  constructor(message: string) {
    super("usage", message);
  }
}
