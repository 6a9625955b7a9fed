import { contentId } from "@hallumaze/foundation";

import type { Grid } from "./grid.ts";

/** The canonical id of a maze's size and walls, 32 hexadecimal digits: equal for two seeds that give one maze. */
export function mazeHash(grid: Grid): string {
  const openings = Array.from(grid.openings, (bits) => bits.toString(16)).join("");
  return contentId({ size: grid.size, openings });
}
