import { HalluMazeError } from "@hallumaze/foundation";

/** A request that no built provider can take. */
export class ProviderError extends HalluMazeError {}
