import { HalluMazeError } from "@hallumaze/foundation";

/** What was wrong with a maze that was asked for. */
export type MazeErrorCode = "maze-size" | "maze-seed" | "maze-generator" | "maze-placement";

/** A maze that cannot be built as asked. `context.got` is the value that was given. */
export class MazeError extends HalluMazeError {
  declare readonly code: MazeErrorCode;

  constructor(code: MazeErrorCode, message: string, got: unknown) {
    super(code, message, { context: { got: String(got) } });
  }
}
