/** A correction for many tests. Holm and Bonferroni hold the chance of any false alarm, BH their share among the alarms. */
export type Correction = "bonferroni" | "holm" | "bh";

/**
 * Adjusts p-values for how many of them there are: each may then be compared with the level itself. In the order given;
 * null (no test could be made) stays null and is not counted. Throws a RangeError on a value outside [0, 1].
 *
 * SOURCE: Holm (1979), Scandinavian Journal of Statistics 6:65-70; Benjamini & Hochberg (1995), JRSS B 57:289-300; the
 * adjusted form as R's p.adjust has it.
 */
export function adjustPValues(pValues: readonly (number | null)[], correction: Correction): (number | null)[] {
  const known = pValues.flatMap((p, at) => (p === null ? [] : [{ p, at }]));
  const wrong = known.find(({ p }) => !(p >= 0 && p <= 1));
  if (wrong !== undefined) throw new RangeError(`expected p-values in 0 … 1, got ${wrong.p}`);
  const { length: count } = known;
  const adjusted: (number | null)[] = pValues.map(() => null);
  const ascending = known.sort((a, b) => a.p - b.p);
  switch (correction) {
    case "bonferroni":
      for (const { p, at } of ascending) adjusted[at] = Math.min(1, count * p);
      return adjusted;
    case "holm": {
      let most = 0;
      for (const [rank, { p, at }] of ascending.entries()) {
        most = Math.max(most, Math.min(1, (count - rank) * p));
        adjusted[at] = most;
      }
      return adjusted;
    }
    case "bh": {
      let least = 1;
      for (let rank = count; rank >= 1; rank--) {
        const test = ascending[rank - 1];
        if (test === undefined) continue;
        least = Math.min(least, (count * test.p) / rank);
        adjusted[test.at] = least;
      }
      return adjusted;
    }
  }
}
