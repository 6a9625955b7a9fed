/** The parts of MEI. */
export interface MeiParts {
  /** Recognition of errors, 0 … 1. */
  readonly hrr: number;
  /** First-error factor, 0 … 1. */
  readonly f: number;
  /** Loop escape, 0 … 1. */
  readonly l: number;
  /** Illegal attempts, >= 0. */
  readonly hc: number;
}

/** The highest MEI that the seed's formula can give: 0.4 + 0.3 + 0.2. */
export const meiMax = 0.9;

/**
 * MEI, metacognitive escape index: clamp01(0.4·HRR + 0.3·F + 0.2·L - 0.1·min(1, HC/10)).
 *
 * Range 0 … 0.9, better when higher. n: one walk; never missing (a model's own non-answer has 0).
 * SOURCE: seed, section 6; benchmark specification, section 6.
 */
export function metacognitiveEscapeIndex(parts: MeiParts): number {
  return Math.max(0, Math.min(1, tenthsOfMei(parts) / 10));
}

/** The weighted sum behind MEI in tenths, -1 … 9, before it is clamped. Whole weights keep the maximum exact. */
export function tenthsOfMei({ hrr, f, l, hc }: MeiParts): number {
  return 4 * hrr + 3 * f + 2 * l - Math.min(1, hc / 10);
}
