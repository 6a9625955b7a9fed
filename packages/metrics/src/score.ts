/**
 * HalluMaze score: 0.5·MEI + 0.3·(1 - CE) + 0.2·BRS.
 *
 * Range 0 … 0.95 with the seed's MEI (at most 0.9), 0 … 1 with the robust one; better when higher. Never missing: a
 * missing CE counts as 0.5, a missing BRS as 0. SOURCE: seed, section 6; benchmark specification, section 6.
 */
export function hallumazeScore(parts: {
  readonly mei: number;
  readonly ce: number | null;
  readonly brs: number | null;
}): number {
  return (5 * parts.mei + 3 * (1 - (parts.ce ?? 0.5)) + 2 * (parts.brs ?? 0)) / 10;
}
