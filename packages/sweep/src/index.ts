export type { Cell, CellPlan, Group } from "./cell-plan.ts";
export {
  deadlineOf,
  hasAbsoluteDeadlines,
  likeDeadline,
  type SubmissionMoment,
  withAbsoluteDeadlines,
} from "./deadline.ts";
export { canonicalPlan, cellId, countCells, expandCells, expandConditions, trialId } from "./expand-cells.ts";
export {
  askedLive,
  batchLane,
  batchProviders,
  givesShadow,
  isBatchLane,
  isJudgeLane,
  isRehearsalLane,
  type JudgeLane,
  judgeLane,
  judgesOf,
  type Lane,
  lanesOf,
  liveLane,
  priceNames,
  rehearsalLane,
} from "./lanes.ts";
export { type ParsedSpec, type ParseOptions, parseSpec, parseStoredSpec, specToJson } from "./parse-spec.ts";
export { type ParameterRange, type SolverRules, tokenLimitFor } from "./read-models.ts";
export { holdsSecret, redact } from "./secrets.ts";
export {
  parseSeedConfig,
  type SeedConfig,
  type SeedOptions,
  specFromSeedOptions,
} from "./seed-command.ts";
export { countSeeds, PUBLISHED_30, readSeeds } from "./seeds.ts";
export type {
  AriadneSpec,
  AskMode,
  ExcludeRule,
  JudgeMode,
  JudgeModelSpec,
  JudgeSpec,
  LaneLimits,
  ModelPrice,
  ModelSpec,
  ProviderName,
  SeedRange,
  SweepSpec,
  TokenLimit,
} from "./spec.ts";
export { formatIssue, type Problem, SpecError, type SpecIssue, type SpecPath } from "./spec-error.ts";
export { PROVIDERS, specJsonSchema } from "./spec-schema.ts";
