export { canonicalJson, type Json } from "./canonical-json.ts";
export type { Clock } from "./clock.ts";
export { contentId, sha256Hex } from "./content-id.ts";
export { type ErrorContext, HalluMazeError } from "./errors.ts";
export { createRandom, type Random } from "./random.ts";
