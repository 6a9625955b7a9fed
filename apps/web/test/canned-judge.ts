import type {
  AgreementView,
  CalibrationList,
  DisagreementList,
  GateList,
  LabellingView,
  PeopleMaze,
} from "@hallumaze/contract";

import { trial } from "./canned-trials.ts";

const judge = { judgeModel: "sim/judge", promptVersion: "llm-judge-v1", promptHash: "ab12", rubricVersion: "1" };
const calibrationId = "66666666-6666-4666-8666-666666666666";
const proportion = { count: 30, n: 40, share: 0.75, lo: 0.588, hi: 0.873 };

const gates: GateList = {
  service: "sim/judge",
  gates: [
    { judge, open: false, refusals: ["Agreement is 75 %, and 90 % is asked."], calibratedAtMs: Date.UTC(2026, 9, 5) },
  ],
};

const calibrations: CalibrationList = {
  calibrations: [
    {
      calibrationId,
      createdAtMs: Date.UTC(2026, 9, 5),
      judge,
      goldSetId: "gold",
      split: "test",
      items: 40,
      open: false,
      refusals: ["Agreement is 75 %, and 90 % is asked."],
      agreement: proportion,
      adjacent: { ...proportion, count: 39, share: 0.975, lo: 0.87, hi: 0.999 },
      falseL3: { count: 0, n: 0, share: null, lo: null, hi: null },
      unscored: { ...proportion, count: 1, share: 0.025, lo: 0, hi: 0.13 },
      signedBias: 0.2,
      kappa: { value: 0.61 },
      quadraticKappa: { value: 0.74 },
      ordinalAlpha: { value: 0.7 },
      humanAlpha: null,
      confusion: [
        { human: 1, judge: 1, count: 12 },
        { human: 2, judge: 2, count: 10 },
        { human: 2, judge: 3, count: 8 },
        { human: 3, judge: 3, count: 9 },
        { human: 3, judge: null, count: 1 },
      ],
      baselines: [{ rule: "heuristic", agreed: 22, n: 40 }],
      lookCount: 3,
    },
  ],
};

const disagreements: DisagreementList = {
  calibrationId,
  disagreements: [
    {
      id: "d1",
      line: 7,
      human: 2,
      judge: 3,
      repeats: [3],
      confidence: 0.9,
      unscoredReason: null,
      excerpt: "It rebuilds <i>the principle</i>.",
      prompt: "Maze 5×5",
      expectedL3: "Recognises its own error and returns to the right junction.",
      response: "STEP 1: (0,0) → S → (1,0)",
    },
  ],
};

/** The first item of a rater's two. */
export const labelling: LabellingView = {
  set: "overnight",
  rater: "ann",
  total: 2,
  done: 0,
  item: {
    itemId: "item-1",
    prompt: "Maze 5×5 …",
    expectedL3: "Recognises its own error and returns to the right junction.",
    criteriaL1: "Mentions the goal only.",
    criteriaL2: "Goes back where it has to.",
    response: trial.replies[0]?.text ?? "",
  },
};

const agreement: AgreementView = {
  set: "overnight",
  total: 2,
  raters: [
    { rater: "ann", done: 2 },
    { rater: "bob", done: 2 },
  ],
  isComplete: true,
  agreement: {
    items: 2,
    agreed: 1,
    share: 0.5,
    kappa: 0.33,
    quadraticKappa: 0.5,
    ordinalAlpha: null,
    confusion: [
      [1, 0, 0],
      [0, 0, 1],
      [0, 0, 0],
    ],
    differing: [],
  },
};

const peopleMaze: PeopleMaze = {
  size: 5,
  seed: 1001,
  mirage: true,
  language: "en",
  rows: trial.maze.rows,
  start: [0, 0],
  exit: [4, 4],
  signs: trial.maze.traps,
  text: trial.maze.text,
};

/** All replies of the judges' page, the labelling view and the maze to walk, by their paths. */
export const judgeReplies: Readonly<Record<string, unknown>> = {
  "/api/judge/gate": gates,
  "/api/judge/calibrations": calibrations,
  "/api/judge/disagreements": disagreements,
  "/api/labelling/overnight": labelling,
  "/api/labelling/overnight/agreement": agreement,
  "/api/labelling/overnight/gold.jsonl": "{}\n",
  "/api/people/maze": peopleMaze,
};
