import { type AriadneRecord, type AriadneRow, type AriadneSummary, summariseAriadne } from "@hallumaze/ariadne";
import { createRandom } from "@hallumaze/foundation";
import { answerKind } from "@hallumaze/trials";

import type { ReportPages, ReportRow } from "./report-row.ts";

/** How Ariadne's Thread is summarised. */
export interface AriadneOptions {
  /** Bootstrap replicates; 10,000 unless told. */
  readonly replicates?: number;
  /** Seed of the bootstrap: the same rows and seed give the same interval. */
  readonly seed?: string;
}

/**
 * Summarises the groups A, B and C of a sweep, one summary a model; empty where the sweep has no trial of B or C. Memory
 * grows with the trials, by a few numbers each.
 */
export async function ariadneSummaries(
  pages: ReportPages,
  options: AriadneOptions = {},
): Promise<readonly AriadneSummary[]> {
  const rows: AriadneRow[] = [];
  let hasHints = false;
  for await (const page of pages) {
    for (const row of page) {
      hasHints ||= row.plan.group !== "A";
      rows.push(toAriadneRow(row));
    }
  }
  if (!hasHints) return [];
  const { replicates, seed = "ariadne" } = options;
  return summariseAriadne(rows, {
    random: createRandom(seed),
    ...(replicates === undefined ? {} : { resamples: replicates }),
  });
}

/** Trials of one maze are compared across groups only where all else of their condition is the same. */
function toAriadneRow(row: ReportRow): AriadneRow {
  const { generator, placement, size, seed, mirage, language, confidence, group } = row.plan;
  const isMissing = answerKind(row) === "missing";
  return {
    model: row.alias,
    mazeKey: [generator, placement, size, seed, mirage, language, confidence].join(" "),
    group,
    meiSeed: isMissing ? null : (row.scores.seed?.mei ?? null),
    record: isMissing || row.readingJson === null ? null : recordOf(row.readingJson),
  };
}

function recordOf(readingJson: string): AriadneRecord | null {
  return (JSON.parse(readingJson) as { readonly ariadne?: AriadneRecord }).ariadne ?? null;
}

/** The heads of the table of Ariadne's Thread. */
export const ariadneHeads = ["model", "triggered", "NRS", "NRS - shadow", "HIR", "TI", "TI norm", "ΔMEI B-A"] as const;

/** One model's cells of that table. What is not known is a dash. */
export function ariadneCells(summary: AriadneSummary): readonly string[] {
  const { groups, nrs, nrsGain, hir, ti, tiNorm, deltaMei, noDetectableEffect } = summary;
  const { triggered, records } = groups.B;
  const interval = deltaMei.lo === null || deltaMei.hi === null ? "" : ` [${two(deltaMei.lo)}, ${two(deltaMei.hi)}]`;
  return [
    summary.model,
    `${triggered}/${records}`,
    nrs.censored > 0 && nrs.lo !== null && nrs.hi !== null
      ? `${two(nrs.mean)} (${two(nrs.lo)}–${two(nrs.hi)})`
      : two(nrs.mean),
    two(nrsGain),
    hir.rate === null ? "-" : `${two(hir.rate)} (${hir.ignored}/${hir.given})`,
    `${two(ti.value)}${ti.level === "high" || ti.level === "low" ? ` ${ti.level}` : ""}`,
    two(tiNorm.value),
    `${two(deltaMei.mean)}${interval}${noDetectableEffect === true ? " no detectable effect" : ""}`,
  ];
}

/** Why figures of the table are dashes, or cannot be what one hopes for: one sentence each. */
export function ariadneNotes(summary: AriadneSummary): readonly string[] {
  const { model, ti, tiNorm } = summary;
  const why = (what: string, reason: keyof typeof reasons): string => `${model}: no ${what}: ${reasons[reason]}`;
  return [
    ...(ti.why === null ? [] : [why("TI", ti.why)]),
    ...(tiNorm.why === null ? [] : [why("TI norm", tiNorm.why)]),
    ...(ti.cannotBeHigh === true ? [`${model}: MEI of group A is above 0.69, so TI cannot pass 0.3`] : []),
  ];
}

const reasons = {
  noCommonMaze: "no maze has a result in both groups",
  noHint: "no hint was given",
  allCensored: "every answer to a hint was cut off",
  baselineTooLow: "MEI of group A is 0.01 or less",
  baselineAtMaximum: "nothing was left to gain",
  noShadow: "group A has no shadow turn to compare with",
} as const;

function two(value: number | null): string {
  return value === null ? "-" : value.toFixed(2);
}
