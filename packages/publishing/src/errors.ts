import { HalluMazeError } from "@hallumaze/foundation";

/** A folder cannot be published or checked: `manifest-invalid`, `manifest-path`, `manifest-missing`. */
export class PublishingError extends HalluMazeError {
  declare readonly code: "manifest-invalid" | "manifest-path" | "manifest-missing";

  constructor(code: PublishingError["code"], message: string, cause?: unknown) {
    super(code, message, { cause });
  }
}
