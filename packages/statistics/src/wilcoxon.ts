import { normalTwoSided } from "./normal-distribution.ts";
import { averageRanks } from "./spearman.ts";

/** Wilcoxon's signed-rank test of paired differences, or of values against a constant (their differences from it). */
export interface SignedRankTest {
  /** Differences that are not zero: those that enter. */
  readonly n: number;
  /** Differences of zero: dropped, as Wilcoxon did. */
  readonly zeros: number;
  /** Sum of the ranks of the positive differences. */
  readonly wPlus: number;
  readonly wMinus: number;
  /** Two-sided; null where n is 0. */
  readonly p: number | null;
  readonly method: "exact" | "normal";
}

/** How the p-value is found. */
export interface SignedRankOptions {
  /** By default exact up to 50 differences (ties included), normal with the tie correction above. */
  readonly method?: "exact" | "normal";
  /** For `normal`: whether the variance is corrected for ties; by default true. The published analysis has it false. */
  readonly tieCorrection?: boolean;
}

/** Up to here scipy.stats.wilcoxon is exact too. */
const exactUpTo = 50;

/**
 * Tests whether differences are symmetric around 0. Zeros are dropped, equal sizes share their mean rank; the normal
 * approximation has no continuity correction. `exact` is the distribution over all sign patterns given the ranks, so that
 * ties need no correction; its time grows with n³. Throws a RangeError on a value that is not finite.
 *
 * SOURCE: Wilcoxon (1945), Biometrics Bulletin 1:80-83; Hollander, Wolfe & Chicken (2014), Nonparametric Statistical
 * Methods, section 3.1 (ties, large samples).
 */
export function wilcoxonSignedRank(differences: readonly number[], options: SignedRankOptions = {}): SignedRankTest {
  if (!differences.every(Number.isFinite)) throw new RangeError("a difference is not finite");
  const nonzero = differences.filter((difference) => difference !== 0);
  const { length: n } = nonzero;
  const ranks = averageRanks(nonzero.map(Math.abs));
  const wPlus = ranks.reduce((sum, rank, at) => ((nonzero[at] ?? 0) > 0 ? sum + rank : sum), 0);
  const wMinus = (n * (n + 1)) / 2 - wPlus;
  const method = options.method ?? (n <= exactUpTo ? "exact" : "normal");
  const statistic = Math.min(wPlus, wMinus);
  const p =
    n === 0
      ? null
      : method === "exact"
        ? exactTwoSided(ranks, statistic)
        : normalTwoSided((statistic - (n * (n + 1)) / 4) / deviation(ranks, options.tieCorrection ?? true));
  return { n, zeros: differences.length - n, wPlus, wMinus, p, method };
}

function deviation(ranks: readonly number[], tieCorrection: boolean): number {
  const { length: n } = ranks;
  // With ties the sum of squared ranks is smaller; without correction it is that of 1 … n.
  const squares = tieCorrection ? ranks.reduce((sum, rank) => sum + rank * rank, 0) : (n * (n + 1) * (2 * n + 1)) / 6;
  return Math.sqrt(squares / 4);
}

/** Twice the chance, over all sign patterns, of a rank sum at or below the smaller one seen. */
function exactTwoSided(ranks: readonly number[], statistic: number): number {
  // Mean ranks are halves: doubled they are whole, and the sums can be counted in an array.
  const doubled = ranks.map((rank) => Math.round(2 * rank));
  const total = doubled.reduce((sum, rank) => sum + rank, 0);
  const chances = new Float64Array(total + 1);
  chances[0] = 1;
  let reached = 0;
  for (const rank of doubled) {
    reached += rank;
    for (let sum = reached; sum >= 0; sum--) {
      chances[sum] = ((chances[sum] ?? 0) + (sum >= rank ? (chances[sum - rank] ?? 0) : 0)) / 2;
    }
  }
  let tail = 0;
  for (let sum = 0; sum <= Math.round(2 * statistic); sum++) tail += chances[sum] ?? 0;
  return Math.min(1, 2 * tail);
}
