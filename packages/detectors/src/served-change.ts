import type { ServedTally, SweepAggregates } from "./aggregates.ts";
import type { Finding } from "./finding.ts";
import { thresholds } from "./thresholds.ts";
import { countOf, groupBy, moment, sumOf } from "./wording.ts";

/** A model, host or fingerprint under one name that was not the same through the sweep: when, and how many replies of each. */
export function findServedChange({ served }: SweepAggregates): readonly Finding[] {
  return [...groupBy(served, ({ alias, kind }) => JSON.stringify([alias, kind])).values()].flatMap((tallies) => {
    const byTime = tallies.toSorted((a, b) => a.firstMs - b.firstMs);
    const [before, after] = byTime;
    if (before === undefined || after === undefined) return [];
    const n = sumOf(byTime, ({ replies }) => replies);
    const gaveWay = hasGivenWay(byTime, n);
    const { alias, kind } = before;
    const what = kind === "model" ? "served model" : "host or fingerprint";
    const parts = byTime.map(({ name, replies }) => `${name} (${countOf(replies)} replies)`);
    return [
      {
        detector: "served-change",
        severity: kind === "model" || gaveWay ? "warning" : "info",
        model: alias,
        condition: what,
        observed: byTime.length,
        expected: 1,
        n,
        message: gaveWay
          ? `the ${what} changed at ${moment(after.firstMs)}: ${parts.slice(0, 6).join(", then ")}`
          : `the ${what} was not the same throughout: ${parts.slice(0, 6).join(", ")}, in turns since ${moment(after.firstMs)}`,
        advice:
          kind === "model"
            ? "ask for a dated model name, and run one of the two parts again with --fresh: figures over both mix two models"
            : gaveWay
              ? "compare the figures of both parts; pin the host where the vendor allows it"
              : "nothing, unless figures differ by host; pin the host where the vendor allows it",
        examples: [],
      } satisfies Finding,
    ];
  });
}

/** Whether one name followed the other, give or take the replies under way, and not as chance would mix them. */
function hasGivenWay(tallies: readonly ServedTally[], n: number): boolean {
  const turns = sumOf(tallies, ({ runs }) => runs) - 1;
  const byChance = n * (1 - sumOf(tallies, ({ replies }) => (replies / n) ** 2));
  return turns <= tallies.length - 1 || turns <= byChance * thresholds.switchTurnsShareMax;
}
