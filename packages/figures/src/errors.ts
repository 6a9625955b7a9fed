import { HalluMazeError } from "@hallumaze/foundation";

/**
 * A figure cannot be drawn: `figure-external` where its specification loads anything, `figure-too-wide` where the column
 * does not hold it, `figure-invalid` where it is no vega-lite specification.
 */
export class FigureError extends HalluMazeError {
  declare readonly code: "figure-external" | "figure-too-wide" | "figure-invalid";

  constructor(code: FigureError["code"], message: string, cause?: unknown) {
    super(code, message, { cause });
  }
}
