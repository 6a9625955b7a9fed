import { detectableDifference, groupsNeeded } from "@hallumaze/statistics";

/**
 * Standard deviation of MEI over mazes where nothing better is known.
 * SOURCE: the published trials of MiniMax-M2.5, 60 mazes: |0.9 - 0.593| / 0.847.
 */
export const publishedMeiSd = 0.362;

/** What a grid can tell apart: two models, or two conditions of one, on the same mazes. */
export interface Detectable {
  /** Distinct mazes: seeds × sizes. */
  readonly mazes: number;
  /** Of a maze's difference, taken as uncorrelated: sd × √2. Mazes that are hard for both make it smaller. */
  readonly sdOfDifference: number;
  /** The smallest mean difference that a two-sided 5 % test finds with power 0.8; null with too few mazes. */
  readonly difference: number | null;
  /** Seeds a size that the wished difference takes; null where none was wished. */
  readonly seedsNeeded: number | null;
}

/** Works out the minimum detectable effect of a grid of `seeds` × `sizes`, and the seeds for a wished one. */
export function planDetectable(
  { seeds, sizes }: { readonly seeds: number; readonly sizes: number },
  { sd, wished }: { readonly sd: number; readonly wished: number | null },
): Detectable {
  const sdOfDifference = sd * Math.SQRT2;
  const mazes = seeds * sizes;
  const needed = wished === null ? null : groupsNeeded(sdOfDifference, wished);
  return {
    mazes,
    sdOfDifference,
    difference: detectableDifference(sdOfDifference, mazes),
    seedsNeeded: needed === null ? null : Math.ceil(needed / sizes),
  };
}
