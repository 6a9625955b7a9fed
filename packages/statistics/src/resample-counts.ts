import type { Random } from "@hallumaze/foundation";

/**
 * Prepares resamples of items that are only known by how many there are of each kind: each call draws as many items as
 * there are, with replacement, and gives the counts by kind. What `resample` does one item at a time, in a time that grows
 * with the square root of the items instead: a million of them can be bootstrapped.
 *
 * Throws a RangeError on anything but whole counts. SOURCE: the multinomial as a chain of conditional binomials, each by
 * inversion outwards from its mode: Devroye (1986), Non-Uniform Random Variate Generation, ch. X.1 and XI.1.
 */
export function countResampler(counts: readonly number[]): (random: Random) => number[] {
  if (!counts.every((count) => Number.isSafeInteger(count) && count >= 0))
    throw new RangeError("expected whole counts");
  const n = counts.reduce((sum, count) => sum + count, 0);
  const logFactorials = new Float64Array(n + 1);
  for (let item = 1; item <= n; item++) logFactorials[item] = (logFactorials[item - 1] ?? 0) + Math.log(item);
  return (random) => {
    let [items, drawsLeft] = [n, n];
    return counts.map((count) => {
      const drawn = drawBinomial(drawsLeft, items === 0 ? 0 : count / items, random, logFactorials);
      items -= count;
      drawsLeft -= drawn;
      return drawn;
    });
  };
}

/** How many of `draws` succeed that each do with this chance. */
function drawBinomial(draws: number, chance: number, random: Random, logFactorials: Float64Array): number {
  if (chance <= 0 || draws === 0) return 0;
  if (chance >= 1) return draws;
  const odds = chance / (1 - chance);
  const mode = Math.floor((draws + 1) * chance);
  const logOf = (item: number): number => logFactorials[item] ?? 0;
  const atMode = Math.exp(
    logOf(draws) - logOf(mode) - logOf(draws - mode) + mode * Math.log(chance) + (draws - mode) * Math.log1p(-chance),
  );
  let left = random.fraction() - atMode;
  let [below, above, atBelow, atAbove] = [mode, mode, atMode, atMode];
  while (left >= 0 && (below > 0 || above < draws)) {
    if (above < draws) {
      atAbove *= (odds * (draws - above)) / (above + 1);
      above += 1;
      left -= atAbove;
      if (left < 0) return above;
    }
    if (below > 0) {
      atBelow *= below / (odds * (draws - below + 1));
      below -= 1;
      left -= atBelow;
      if (left < 0) return below;
    }
  }
  // Reached at once by the mode itself, or once in about 10^13 draws by what rounding left over.
  return mode;
}
