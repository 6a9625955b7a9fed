import type { JudgeIdentity, Level } from "@hallumaze/judge";
import { describe, expect, it } from "vitest";

import { defaultVerdict, gateStateOf, judgeVerdict } from "./default-verdict.ts";
import { measureFitness } from "./fitness.ts";
import { heuristicJudgement } from "./judgement-records.ts";
import type { CalibrationRecord, StoredJudgement } from "./ports.ts";

const judge: JudgeIdentity = {
  judgeModel: "openai/judge",
  promptVersion: "llm-judge-v1",
  promptHash: "a".repeat(64),
  rubricVersion: "levels-1",
};
const consensus = { consensusBelow: 0.6, repeats: 1 };
const judged = {
  scenario: { prompt: "Why?", expectedL3: "fairness, admission, backpressure", criteriaL1: null, criteriaL2: null },
  response: "fairness",
  truncated: false,
  facts: null,
};
const heuristic = stored(heuristicJudgement({ resultId: "r" }, judged, { outage: null }));
const bridge = stored(heuristicJudgement({ resultId: "r" }, judged, { outage: "timeout: total" }));

function stored(judgement: Omit<StoredJudgement, "judgementId" | "createdAtMs">): StoredJudgement {
  return { ...judgement, judgementId: "j", createdAtMs: 0 };
}

function said(level: Level | null, change: Partial<StoredJudgement> = {}): StoredJudgement {
  return {
    ...heuristic,
    ...judge,
    scoredBy: "LLM-JUDGE-v1",
    decidedBy: "judge",
    modelAsked: judge.judgeModel,
    status: level === null ? "unscored" : "verdict",
    level,
    unscoredReason: level === null ? "notOneObject: two objects" : null,
    confidence: level === null ? null : 0.9,
    paramsJson: '{"generation":0}',
    ...change,
  };
}

function stands(
  judgements: readonly StoredJudgement[],
  given: { readonly open?: boolean; readonly requests?: number } = {},
) {
  const { open = true, requests = 0 } = given;
  return defaultVerdict({ judgements, openRequests: requests, judge, gate: { open }, consensus });
}

describe("the verdict that stands", () => {
  it("is the heuristic's while the gate is closed, whatever a judge said", () => {
    expect(stands([heuristic, said(3)], { open: false })).toMatchObject({
      level: 2,
      basis: heuristic,
      provisional: false,
    });
    expect(stands([said(3)], { open: false })).toBeNull();
  });

  it("is the judge's once the gate is open, and of no other model, prompt or rubric", () => {
    expect(stands([heuristic, said(3)])).toMatchObject({ level: 3, confidence: 0.9, spread: 0, needsHuman: false });
    for (const change of [
      { modelAsked: "openai/other" },
      { promptHash: "b".repeat(64) },
      { promptVersion: "llm-judge-v1-seed" },
      { rubricVersion: "levels-2" },
      { round: "dryRun" as const },
    ]) {
      expect(stands([heuristic, said(3, change)]), JSON.stringify(change)).toBeNull();
    }
  });

  it("is the first opinion, provisionally, until the second that it needs is there", () => {
    const first = said(3, { confidence: 0.4 });
    expect(stands([first], { requests: 1 })).toMatchObject({ level: 3, provisional: true, unscoredReason: null });
    const second = said(3, { round: "second", modelAsked: "google/other" });
    expect(stands([first, second])).toMatchObject({ level: 3, provisional: false, spread: 0 });
  });

  it("is for a person where three judges differ", () => {
    const opinions = [said(1, { confidence: 0.4 }), said(2, { round: "second" }), said(3, { round: "third" })];
    expect(stands(opinions)).toMatchObject({ level: null, unscoredReason: "needs_human", needsHuman: true });
  });

  it("is no level, with the reason, where the judge could not be read", () => {
    expect(stands([heuristic, said(null)])).toMatchObject({ level: null, unscoredReason: "notOneObject" });
  });

  it("takes what was decided before any call, which has no prompt's hash", () => {
    const precheck = said(1, { decidedBy: "precheck", promptHash: "", confidence: null });
    expect(stands([precheck])).toMatchObject({ level: 1, confidence: null, needsHuman: false });
    const refusal = said(null, { decidedBy: "precheck", promptHash: "", unscoredReason: "refusal" });
    expect(stands([refusal])).toMatchObject({ level: null, unscoredReason: "refusal", needsHuman: true });
  });

  it("is bridged by the heuristic during an outage, as long as the judge's request is open", () => {
    expect(stands([heuristic, bridge], { requests: 1 })).toMatchObject({ level: 2, fallback: true, provisional: true });
    expect(stands([heuristic, bridge])).toBeNull();
    expect(stands([heuristic, bridge, said(3)], { requests: 1 })).toMatchObject({ level: 3, fallback: false });
    expect(stands([heuristic], { requests: 1 })).toBeNull();
  });

  it("follows a judge that was asked again, and no mix of both", () => {
    const again = said(2, { paramsJson: '{"generation":1}' });
    expect(stands([said(3), again])).toMatchObject({ level: 2, spread: 0 });
    expect(judgeVerdict([again, said(3)], judge, consensus)).toMatchObject({ level: 2 });
  });
});

const calibration: CalibrationRecord & { readonly createdAtMs: number } = {
  goldSetId: "g",
  split: "test",
  ...judge,
  items: 54,
  agreed: 53,
  open: true,
  refusals: [],
  reportJson: JSON.stringify({
    confusion: {
      counts: [
        [18, 0, 0],
        [1, 17, 0],
        [0, 0, 18],
      ],
      unscored: [0, 0, 0],
    },
  }),
  createdAtMs: 5,
};

describe("the gate", () => {
  it("is that of the newest calibration, closed before the first and for another prompt version", async () => {
    const gateOf = (found: typeof calibration | null) => gateStateOf({ findCalibration: async () => found }, judge);
    expect(await gateOf(calibration)).toEqual({ open: true, refusals: [], calibratedAtMs: 5 });
    expect(await gateOf({ ...calibration, open: false, refusals: ["Too few."] })).toMatchObject({
      open: false,
      refusals: ["Too few."],
    });
    expect(await gateOf(null)).toMatchObject({ open: false, calibratedAtMs: null });
    expect(await gateOf({ ...calibration, promptVersion: "llm-judge-v1-seed" })).toMatchObject({ open: false });
  });
});

describe("fitness", () => {
  const measure = (found: typeof calibration | null, pages: readonly (readonly StoredJudgement[])[]) =>
    measureFitness(
      {
        findCalibration: async () => found,
        findResult: async () => null,
        judgementsOfSweep: async function* () {
          yield pages.map((judgements, at) => ({ trialId: String(at), judgements }));
        },
      },
      { judge, consensus, scope: { kind: "sweep", sweepId: "s" }, samePopulation: false },
      new AbortController().signal,
    );

  it("counts what has no final level of this judge as missing, and gives the same numbers again", async () => {
    const pages = [[said(3)], [said(1)], [said(null)], [said(3, { confidence: 0.4 })], [heuristic]];
    const fitness = await measure(calibration, pages);
    expect(fitness).toMatchObject({ kind: "fitness", n: 2, missing: 3, judgeMean: 2, goldItems: 54 });
    expect(await measure(calibration, pages)).toEqual(fitness);
  });

  it("is refused while the gate is closed", async () => {
    for (const found of [null, { ...calibration, open: false, refusals: ["Too few."] }]) {
      expect(await measure(found, [[said(3)]])).toMatchObject({ kind: "refused", reason: "gateClosed" });
    }
  });
});
