import { HalluMazeError } from "@hallumaze/foundation";

/** The house cannot be opened as the environment asks. */
export class RuntimeError extends HalluMazeError {}
