/** How well a value does on one of the seed document's scales. */
export interface Band {
  /** 0 is the best band. */
  readonly rank: number;
  readonly label: string;
}

/** One scale: thresholds from the best band down; each band holds its own lower threshold (half-open). */
interface Scale {
  readonly better: "high" | "low";
  readonly thresholds: readonly number[];
  readonly labels: readonly string[];
}

/**
 * The scales of the seed document, by metric. There are two for MEI: `mei` of the metric's own section, and
 * `meiOfScore` of the table beside the Score.
 *
 * SOURCE: seed sections 6, 9.1, 9.3 and 11; half-open as spec/analysis.md rules.
 */
const scales = {
  mei: { better: "high", thresholds: [0.7, 0.4], labels: ["high", "partial", "deficient"] },
  ce: { better: "low", thresholds: [0.15, 0.4], labels: ["well calibrated", "moderate", "severely miscalibrated"] },
  brs: { better: "high", thresholds: [0.85, 0.5], labels: ["resistant", "mixed", "vulnerable"] },
  score: { better: "high", thresholds: [0.8, 0.6, 0.4], labels: ["excellent", "good", "limited", "deficient"] },
  meiOfScore: { better: "high", thresholds: [0.7, 0.5, 0.3], labels: ["excellent", "good", "limited", "deficient"] },
} as const satisfies Readonly<Record<string, Scale>>;

/** A metric that the seed document bands. */
export type BandedMetric = keyof typeof scales;

/** The band of a value; null for a missing value. Where low is better, a value on a threshold is in the worse band. */
export function bandOf(metric: BandedMetric, value: number | null): Band | null {
  if (value === null) return null;
  const scale: Scale = scales[metric];
  const reached = scale.thresholds.findIndex((threshold) =>
    scale.better === "high" ? value >= threshold : value < threshold,
  );
  const rank = reached < 0 ? scale.thresholds.length : reached;
  return { rank, label: scale.labels[rank] ?? "" };
}

/** The seed console's sign for an MEI: ● high, ◑ partial, ○ deficient, `-` where there is none. */
export function meiSign(mei: number | null): "●" | "◑" | "○" | "-" {
  const band = bandOf("mei", mei);
  if (band === null) return "-";
  return band.rank === 0 ? "●" : band.rank === 1 ? "◑" : "○";
}
