import type { AgreementView, LabellingView } from "@hallumaze/contract";
import { judgedOf } from "@hallumaze/judging";
import { cohenKappa, krippendorffAlphaOrdinal } from "@hallumaze/statistics";

import type { StoredLabel, TrialDossier } from "./ports.ts";

/** An answer as a rater sees it: what was asked and answered, nothing of who answered or under which condition. */
export function viewLabellingItem(itemId: string, trial: TrialDossier): NonNullable<LabellingView["item"]> {
  const { plan, conversation } = trial;
  // A shadow of group A is no part of its answer.
  const scored = plan.group === "A" ? conversation.slice(0, 1) : conversation;
  const replies = scored.map(({ text, finishReason }) => ({ text: text ?? "", finishReason }));
  const { scenario, response } = judgedOf({ kind: "trial", plan, replies });
  return { itemId, ...scenario, response };
}

/** How many items each rater has labelled, by name. */
export function countByRater(labels: readonly StoredLabel[]): AgreementView["raters"] {
  const counts = new Map<string, number>();
  for (const { rater } of labels) counts.set(rater, (counts.get(rater) ?? 0) + 1);
  return [...counts].map(([rater, done]) => ({ rater, done })).sort((a, b) => (a.rater < b.rater ? -1 : 1));
}

/**
 * What raters said of a set: numbers only once two of them have labelled every item, so that nobody sees another's labels
 * while labelling. Raters who have not finished are left out.
 */
export function viewAgreement(set: string, total: number, labels: readonly StoredLabel[]): AgreementView {
  const raters = countByRater(labels);
  const finished = raters.filter(({ done }) => done === total && total > 0).map(({ rater }) => rater);
  const isComplete = finished.length >= 2;
  return { set, total, raters, isComplete, agreement: isComplete ? measure(finished, labels) : null };
}

function measure(raters: readonly string[], labels: readonly StoredLabel[]): NonNullable<AgreementView["agreement"]> {
  const items = byItem(labels.filter(({ rater }) => raters.includes(rater)));
  const [first = "", second = ""] = raters;
  const table = [1, 2, 3].map((row) =>
    [1, 2, 3].map(
      (column) => items.filter(({ levels }) => levels.get(first) === row && levels.get(second) === column).length,
    ),
  );
  const differing = items.filter(({ levels }) => new Set(levels.values()).size > 1);
  const agreed = items.length - differing.length;
  return {
    items: items.length,
    agreed,
    share: items.length === 0 ? null : agreed / items.length,
    kappa: cohenKappa(table).value,
    quadraticKappa: cohenKappa(table, "quadratic").value,
    ordinalAlpha: krippendorffAlphaOrdinal(items.map(({ levels }) => [...levels.values()])).value,
    confusion: table,
    differing: differing.map(({ itemId, levels }) => ({
      itemId,
      labels: [...levels].map(([rater, level]) => ({ rater, level })),
    })),
  };
}

interface LabelledItem {
  readonly itemId: string;
  readonly trialId: string;
  readonly levels: Map<string, number>;
  readonly reasons: string[];
}

function byItem(labels: readonly StoredLabel[]): readonly LabelledItem[] {
  const items = new Map<string, LabelledItem>();
  for (const { itemId, trialId, rater, level, reason } of labels) {
    const item = items.get(itemId) ?? { itemId, trialId, levels: new Map<string, number>(), reasons: [] };
    items.set(itemId, item);
    item.levels.set(rater, level);
    if (reason !== null && reason.trim() !== "") item.reasons.push(`${rater}: ${reason}`);
  }
  return [...items.values()];
}

/** One line of a gold set for an item that all of these raters have labelled; as `judge calibrate` reads it. */
export function goldLine(trial: TrialDossier, labels: readonly StoredLabel[]): string {
  const [item] = byItem(labels);
  const { itemId: _itemId, response, ...scenario } = viewLabellingItem("", trial);
  return JSON.stringify({
    scenario,
    response,
    labels: [...(item?.levels ?? [])].map(([rater, level]) => ({ rater, level })),
    ...(item !== undefined && item.reasons.length > 0 ? { reason: item.reasons.join(" | ") } : {}),
  });
}
