import { type CalibrationView, calibrationView, type DisagreementList, disagreementList } from "@hallumaze/contract";
import { goldItemId } from "@hallumaze/judge";

import type { CalibrationRow, GoldText } from "./ports.ts";

const shape = calibrationView.shape;
const noProportion = { count: 0, n: 0, share: null, lo: null, hi: null };
const noCoefficient = { value: null };

/** A calibration as it is looked at. What an older program did not report is not known, and never 0. */
export function viewCalibration(row: CalibrationRow): CalibrationView {
  const report = fieldsOf(parse(row.reportJson));
  const { judgeModel, promptVersion, promptHash, rubricVersion } = row;
  const humans = fieldsOf(report["humanAgreement"]);
  return {
    calibrationId: row.calibrationId,
    createdAtMs: row.createdAtMs,
    judge: { judgeModel, promptVersion, promptHash, rubricVersion },
    goldSetId: row.goldSetId,
    split: row.split,
    items: row.items,
    open: row.open,
    refusals: [...row.refusals],
    agreement: shape.agreement.catch(noProportion).parse(report["agreement"]),
    adjacent: shape.adjacent.catch(noProportion).parse(report["adjacent"]),
    falseL3: shape.falseL3.catch(noProportion).parse(report["falseL3"]),
    unscored: shape.unscored.catch(noProportion).parse(report["unscored"]),
    signedBias: shape.signedBias.catch(null).parse(report["signedBias"]),
    kappa: shape.kappa.catch(noCoefficient).parse(report["kappa"]),
    quadraticKappa: shape.quadraticKappa.catch(noCoefficient).parse(report["quadraticKappa"]),
    ordinalAlpha: shape.ordinalAlpha.catch(noCoefficient).parse(report["ordinalAlpha"]),
    humanAlpha: shape.humanAlpha.catch(null).parse(humans["ordinalAlpha"] ?? null),
    confusion: confusionOf(fieldsOf(report["confusion"])),
    baselines: baselinesOf(fieldsOf(report["baselines"]), row.items),
    lookCount: shape.lookCount.catch(1).parse(report["lookCount"]),
  };
}

function confusionOf({ counts, unscored }: Fields): CalibrationView["confusion"] {
  const cells: CalibrationView["confusion"] = [];
  for (const [human, row] of (Array.isArray(counts) ? counts : []).entries()) {
    for (const [judge, count] of (Array.isArray(row) ? row : []).entries()) {
      if (typeof count === "number") cells.push({ human: human + 1, judge: judge + 1, count });
    }
  }
  for (const [human, count] of (Array.isArray(unscored) ? unscored : []).entries()) {
    if (typeof count === "number") cells.push({ human: human + 1, judge: null, count });
  }
  return cells;
}

function baselinesOf(baselines: Fields, n: number): CalibrationView["baselines"] {
  return ["majority", "heuristic", "length"].flatMap((name) => {
    const { rule, agreed } = fieldsOf(baselines[name]);
    return typeof rule === "string" && typeof agreed === "number" ? [{ rule, agreed, n }] : [];
  });
}

type Disagreement = DisagreementList["disagreements"][number];

const told = disagreementList.shape.disagreements.element.omit({ prompt: true, expectedL3: true, response: true });

/** The items on which judge and people differ, with their texts where the ledger has them. */
export function viewDisagreements(row: CalibrationRow | null, texts: readonly GoldText[]): DisagreementList {
  if (row === null) return { calibrationId: null, disagreements: [] };
  const byId = new Map(texts.map((text) => [goldItemId(text), text]));
  const { disagreements } = fieldsOf(parse(row.reportJson));
  const list = (Array.isArray(disagreements) ? disagreements : []).flatMap((one): readonly Disagreement[] => {
    const read = told.safeParse(one);
    if (!read.success) return [];
    const text = byId.get(read.data.id);
    const { prompt = null, expectedL3 = null } = text?.scenario ?? {};
    return [{ ...read.data, prompt, expectedL3, response: text?.response ?? null }];
  });
  return { calibrationId: row.calibrationId, disagreements: list };
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
