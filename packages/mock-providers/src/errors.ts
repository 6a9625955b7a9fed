import { HalluMazeError } from "@hallumaze/foundation";

/** A server that could not start, or a wait for its counts that ran out. */
export class MockProvidersError extends HalluMazeError {}
