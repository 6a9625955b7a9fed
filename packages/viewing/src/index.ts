export type {
  CalibrationRow,
  GoldText,
  GridColumn,
  GridRow,
  LabelPort,
  LedgerVersions,
  MazeRow,
  PersonRow,
  StoredExchange,
  StoredLabel,
  SweepCounts,
  TrialDossier,
  ViewPort,
} from "./ports.ts";
export { createSweepCache, type SweepCache } from "./keep-made.ts";
export { type ChangeLog, createChangeLog, type PageEvent } from "./follow-changes.ts";
export { partFileName, viewExperiment } from "./view-experiment.ts";
export {
  peopleRecord,
  peopleTrialId,
  type PeopleMazeWish,
  type PeopleWalk,
  readPeopleTrialId,
  viewPeopleMaze,
} from "./people.ts";
export { viewHumanPair, viewHumanTrial } from "./view-human.ts";
export { createGrid, type GridBuilder, gridColumn } from "./view-grid.ts";
export {
  type ComparisonWish,
  type ConditionFilter,
  viewComparison,
  viewLeaderboard,
} from "./view-leaderboard.ts";
export { viewCalibration, viewDisagreements } from "./view-calibrations.ts";
export { countByRater, goldLine, viewAgreement, viewLabellingItem } from "./label-answers.ts";
export { viewPairs, viewPairsOfPerson } from "./view-pairs.ts";
export { type LaneState, type SweepParts, viewSummary, viewSweep } from "./view-sweep.ts";
export { viewTrial } from "./view-trial.ts";
