import { adjustPValues, fisherExact } from "@hallumaze/statistics";
import type { Condition, TrialTable } from "@hallumaze/trials";

import type { Warning } from "./result.ts";
import { count, percent, pValue } from "./wording.ts";

/** A part of the trials that lost more answers than the rest. */
export interface MissingCluster {
  /** What the part has in common, as `size=11` or `gpt-4o, mirage=on`. */
  readonly part: string;
  readonly missing: number;
  readonly trials: number;
  readonly missingShare: number;
  readonly restShare: number;
  /** Fisher's exact test against the rest, adjusted by Holm over all parts looked at. */
  readonly p: number;
}

/** Below this adjusted p-value a part raises the alarm. */
const alarmBelow = 0.01;

/**
 * Looks whether missing answers are concentrated in a model, in a level of a factor, or in a model under one condition:
 * then the answers that are there are no fair sample, and a mean over them is not what the whole would give. The worst
 * part first; empty where nothing stands out.
 */
export function findMissingClusters(table: TrialTable): readonly MissingCluster[] {
  const parts = new Map<string, { missing: number; trials: number }>();
  const all = { missing: 0, trials: 0 };
  for (const model of table.models()) {
    // By condition first: there are few of them, however many trials.
    const conditions = new Map<Condition, { missing: number; trials: number }>();
    for (const { condition, kind } of table.ofModel(model)) {
      const own = conditions.get(condition) ?? { missing: 0, trials: 0 };
      conditions.set(condition, own);
      own.missing += kind === "missing" ? 1 : 0;
      own.trials += 1;
    }
    for (const [condition, { missing, trials }] of conditions) {
      all.missing += missing;
      all.trials += trials;
      for (const part of partsOf(model, condition)) {
        const entry = parts.get(part) ?? { missing: 0, trials: 0 };
        parts.set(part, entry);
        entry.missing += missing;
        entry.trials += trials;
      }
    }
  }
  // A part that is the whole has no rest to compare with.
  const looked = [...parts].filter(([, { trials }]) => trials < all.trials).sort(([a], [b]) => (a < b ? -1 : 1));
  const tests = looked.map(([part, { missing, trials }]) => {
    const rest = { hits: all.missing - missing, trials: all.trials - trials };
    const p = fisherExact({ hits: missing, trials }, rest);
    return { part, missing, trials, missingShare: missing / trials, restShare: rest.hits / rest.trials, p };
  });
  const adjusted = adjustPValues(
    tests.map(({ p }) => p),
    "holm",
  );
  return tests
    .map((test, at) => ({ ...test, p: adjusted[at] ?? 1 }))
    .filter(({ p, missingShare, restShare }) => p < alarmBelow && missingShare > restShare)
    .sort((a, b) => b.missingShare - a.missingShare || a.p - b.p);
}

/** What is to be said of missing answers: how many there are, and where they are concentrated. */
export function missingWarnings(table: TrialTable): readonly Warning[] {
  const warnings: Warning[] = [];
  for (const model of table.models()) {
    const trials = table.ofModel(model);
    const answered = trials.filter(({ kind }) => kind !== "missing").length;
    if (answered < 0.95 * trials.length) {
      warnings.push({
        code: "low-coverage",
        message: `${model}: ${answered} of ${trials.length} planned trials have an answer (${percent(answered / trials.length)}). Read its means with their bounds, or run retry --failed.`,
      });
    }
  }
  const worst = findMissingClusters(table)[0];
  if (worst !== undefined) {
    const { part, missing, trials, restShare, p } = worst;
    warnings.push({
      code: "missing-not-at-random",
      message: `Missing answers are concentrated in ${part}: ${missing} of ${count(trials, "trial")} (${percent(missing / trials)}) against ${percent(restShare)} elsewhere (Fisher, Holm-adjusted ${pValue(p)}). Means over the rest are no fair sample of it; the bounds hold whatever the reason.`,
    });
  }
  return warnings;
}

function partsOf(model: string, condition: Condition): readonly string[] {
  const levels = levelsOf(condition);
  return [`model ${model}`, ...levels, `model ${model}, ${levels.join(", ")}`];
}

/** A condition in words, factor by factor. */
export function levelsOf({ size, group, mirage, language, confidence }: Condition): readonly string[] {
  return [
    `size=${size}`,
    `group=${group}`,
    `mirage=${mirage ? "on" : "off"}`,
    `language=${language}`,
    `confidence=${confidence ? "on" : "off"}`,
  ];
}
