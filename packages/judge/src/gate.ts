import { contentId } from "@hallumaze/foundation";

import type { CalibrationReport, JudgeIdentity } from "./calibration.ts";
import type { Baseline } from "./calibration-baselines.ts";

/** Why a gate stays closed. */
export type GateRefusal =
  | "noItems"
  | "notHeldOut"
  | "agreementBelow90"
  | "lowerBoundBelow90"
  | "levelAbsent"
  | "levelNeverFound"
  | "notAboveMajority"
  | "heuristicNotRun"
  | "notAboveHeuristic"
  | "notAboveLength";

/** Whether a judge's verdicts may be the default. */
export interface GateDecision {
  readonly open: boolean;
  /** One sentence each, for people; empty where open. */
  readonly refusals: readonly string[];
  /** The same refusals for programs, in the same order; a code may stand twice, once for each level. */
  readonly codes: readonly GateRefusal[];
}

/**
 * Decides whether a calibration opens the gate: agreement of 90 % observed and as the lower bound of its two-sided 95 %
 * Clopper–Pearson interval, every level present and found, and more agreement than the majority's level, the heuristic
 * and length reach on the same items. All that fails is listed.
 *
 * Items on which the prompt was worked cannot open it: neither the dev split, nor all items of a set whose file says
 * itself what is held out. SOURCE: the seed, section 6 (90 %); 36 of 36, 53 of 54, 96 of 100 and 170 of 180 are enough.
 */
export function decideGate(report: CalibrationReport): GateDecision {
  const found: [GateRefusal, string][] = [
    ...heldOutRefusals(report),
    ...agreementRefusals(report),
    ...levelRefusals(report),
    ...baselineRefusals(report),
  ];
  return { open: found.length === 0, refusals: found.map(([, text]) => text), codes: found.map(([code]) => code) };
}

/** Names the judge that a gate stands for: a change of model, prompt or rubric gives another key, and a closed gate. */
export function gateKey({ judgeModel, promptVersion, promptHash, rubricVersion }: JudgeIdentity): string {
  return contentId({ judgeModel, promptVersion, promptHash, rubricVersion });
}

function heldOutRefusals({ n, split, goldSet }: CalibrationReport): [GateRefusal, string][] {
  if (n === 0) return [["noItems", "No item was measured."]];
  if (split === "dev")
    return [["notHeldOut", "The dev split was measured: the prompt was worked on with these items."]];
  if (split === "test" || !goldSet.splitsDeclared) return [];
  return [["notHeldOut", "All items were measured, though the gold set holds some out: measure the test split."]];
}

function agreementRefusals({ agreement }: CalibrationReport): [GateRefusal, string][] {
  const { count, n, share, lo } = agreement;
  const refusals: [GateRefusal, string][] = [];
  // In whole numbers: 0.9 is no double, and 9 of 10 must do.
  if (count * 10 < n * 9) {
    refusals.push(["agreementBelow90", `Agreement is ${count} of ${n} (${percent(share)}): 90 % is needed.`]);
  }
  if (lo !== null && lo < 0.9) {
    const text = `The lower 95 % bound of ${count} of ${n} is ${lo.toFixed(4)}: 0.90 is needed, such as by 36 of 36 or 96 of 100.`;
    refusals.push(["lowerBoundBelow90", text]);
  }
  return refusals;
}

function levelRefusals({ perLevel }: CalibrationReport): [GateRefusal, string][] {
  return perLevel.flatMap(({ level, n, recall }): [GateRefusal, string][] => {
    if (n === 0)
      return [["levelAbsent", `No measured item is of level L${level}: whether the judge knows it is open.`]];
    return recall === 0 ? [["levelNeverFound", `The judge finds none of the ${n} items of level L${level}.`]] : [];
  });
}

function baselineRefusals({ agreement, baselines }: CalibrationReport): [GateRefusal, string][] {
  const isBeaten = (baseline: Baseline): boolean => agreement.count > baseline.agreed;
  const refuse = (code: GateRefusal, { rule, agreed }: Baseline): [GateRefusal, string] => [
    code,
    `The judge agrees on ${agreement.count} of ${agreement.n} items, a rule without understanding (${rule}) on ${agreed}: more is needed.`,
  ];
  const { majority, heuristic, length } = baselines;
  const refusals: [GateRefusal, string][] = [];
  if (!isBeaten(majority)) refusals.push(refuse("notAboveMajority", majority));
  if (heuristic === null) refusals.push(["heuristicNotRun", "The heuristic was not run on these items."]);
  else if (!isBeaten(heuristic)) refusals.push(refuse("notAboveHeuristic", heuristic));
  if (!isBeaten(length)) refusals.push(refuse("notAboveLength", length));
  return refusals;
}

function percent(share: number | null): string {
  return share === null ? "of nothing" : `${(share * 100).toFixed(1)} %`;
}
