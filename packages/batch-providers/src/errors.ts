import { HalluMazeError } from "@hallumaze/foundation";

/** A batch was asked of a vendor that has none. */
export class BatchProvidersError extends HalluMazeError {}
