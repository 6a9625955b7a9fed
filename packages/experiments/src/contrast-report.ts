import { type Contrast, estimateOf } from "@hallumaze/trials";

import type { Column, FigureData, TableCell } from "./result.ts";
import { count, pValue, two, withInterval } from "./wording.ts";

/** The columns that every paired difference is shown in; `label` heads the difference. */
export function contrastColumns(label: string): readonly Column[] {
  return [
    { key: "mazes", label: "Common mazes", kind: "count" },
    { key: "unpaired", label: "Others", kind: "count" },
    { key: "difference", label, kind: "interval" },
    { key: "bounds", label: "its bounds", kind: "bounds" },
    { key: "standardised", label: "in SD", kind: "value" },
    { key: "p", label: "p", kind: "p" },
    { key: "wilcoxonP", label: "p (Wilcoxon)", kind: "p" },
    { key: "holm", label: "p (Holm)", kind: "p" },
    { key: "detectable", label: "Detectable", kind: "value" },
  ];
}

/** A paired difference as the cells of those columns. `holm` is its p-value, corrected over the table. */
export function contrastCells(effect: Contrast, holm: number | null): Readonly<Record<string, TableCell>> {
  const { mazes, unpaired, bounds, standardised, p, wilcoxonP, detectable } = effect;
  return { mazes, unpaired, difference: estimateOf(effect), bounds, standardised, p, wilcoxonP, holm, detectable };
}

/** Paired differences as points with intervals against 0. */
export function contrastFigure(figure: {
  readonly name: string;
  readonly title: string;
  readonly valueLabel: string;
  readonly effects: readonly { readonly category: string; readonly series: string; readonly effect: Contrast }[];
}): FigureData {
  const { name, title, valueLabel, effects } = figure;
  return {
    kind: "intervals",
    name,
    title,
    valueLabel,
    references: [{ at: 0, label: "no effect" }],
    points: effects.map(({ category, series, effect }) => ({ category, series, ...estimateOf(effect) })),
  };
}

/** Says in a sentence what a paired difference shows, or that it shows none and what it could have shown. */
export function contrastSentence(
  who: string,
  effect: Contrast | null,
  words: {
    readonly metric: string;
    /** What is said of a difference above 0, of one below, and of none. */
    readonly up: string;
    readonly down: string;
    readonly none: string;
    readonly alpha: number;
    readonly further?: string;
  },
): string {
  const { metric, up, down, none, alpha, further = "" } = words;
  if (effect === null || effect.value === null) return `${who}: nothing to compare.`;
  const { value, lo, hi, mazes, p, detectable } = effect;
  const on = `on ${count(mazes, "maze")}`;
  const isClear = lo !== null && hi !== null && (lo > 0 || hi < 0) && p !== null && p < alpha;
  if (isClear) {
    const size = withInterval(value < 0 ? { value: -value, lo: -hi, hi: -lo } : effect);
    return `${who}: ${value > 0 ? up : down} ${size} ${metric} (${on}, ${pValue(p)}).${further}`;
  }
  const could =
    detectable === null || detectable === 0
      ? ""
      : `; a difference of ${two(detectable)} would have been found four times in five`;
  return `${who}: ${none} (${metric} ${withInterval(effect)}, ${on}, ${pValue(p)}${could}).${further}`;
}
