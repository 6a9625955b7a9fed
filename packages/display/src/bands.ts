/** One of the original document's scales: thresholds from the best band down; each band holds its own (half-open). */
interface Scale {
  readonly better: "high" | "low";
  readonly thresholds: readonly number[];
}

/**
 * The original document's scales, by metric. MEI has two: its own, and that of the table beside the Score.
 *
 * SOURCE: seed sections 6, 9.1, 9.3; analysis specification, bands.
 */
const scales = {
  mei: { better: "high", thresholds: [0.7, 0.4] },
  meiOfScore: { better: "high", thresholds: [0.7, 0.5, 0.3] },
  ce: { better: "low", thresholds: [0.15, 0.4] },
  brs: { better: "high", thresholds: [0.85, 0.5] },
  score: { better: "high", thresholds: [0.8, 0.6, 0.4] },
} as const satisfies Readonly<Record<string, Scale>>;

/** A value's band: its place from the best (0), its sign, and its name's key below `band`. */
export interface Band {
  readonly rank: number;
  readonly sign: string;
  readonly name: string;
}

const signs: Readonly<Record<number, readonly string[]>> = { 3: ["●", "◑", "○"], 4: ["●", "◕", "◑", "○"] };

/**
 * The bands of a metric's value in the profile `seed`: two for MEI, one for CE, BRS and Score, none for what has no scale or is
 * not known. Where low is better, a value on a threshold is in the worse band.
 */
export function bandsOf(metric: string, value: number | null): readonly Band[] {
  if (value === null) return [];
  const names = metric === "mei" ? (["mei", "meiOfScore"] as const) : [metric];
  return names.flatMap((name) => {
    const scale: Scale | undefined = Object.getOwnPropertyDescriptor(scales, name)?.value;
    if (scale === undefined) return [];
    const { better, thresholds } = scale;
    const reached = thresholds.findIndex((threshold) => (better === "high" ? value >= threshold : value < threshold));
    const rank = reached < 0 ? thresholds.length : reached;
    return [{ rank, sign: signs[thresholds.length + 1]?.[rank] ?? "", name: `${name}${rank}` }];
  });
}
