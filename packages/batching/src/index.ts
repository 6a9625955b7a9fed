export { type BatchSize, emptySize, fits, grown } from "./batch-size.ts";
export { customIdOf, positionOf } from "./custom-ids.ts";
export type {
  Batch,
  BatchAddress,
  BatchBody,
  BatchDraft,
  BatchLimits,
  BatchLook,
  BatchReckoning,
  BatchRefusal,
  BatchResult,
  BatchResults,
  BatchRow,
  BatchState,
  BatchStorePort,
  BatchVendorPort,
  FoundBatches,
  OpenCount,
  Submission,
  TrialRow,
} from "./ports.ts";
export { driveBatch } from "./drive-batch.ts";
export { type DriveObserver, type DrivePorts, type DriveTimes, driveTimes, type JudgingPort } from "./drive-ports.ts";
export { type AutoModelPlan, type AutoPlan, type DeadlineRisk, joinAuto, type PlannedAuto } from "./join-auto.ts";
export { type AutoModel, turnLive, type TurnLivePorts } from "./turn-live.ts";
export {
  type Gatherer,
  type GatherPorts,
  type GatherSource,
  type HandedOver,
  openGatherer,
  trialSource,
} from "./gather.ts";
export { rowFailure } from "./row-failures.ts";
export { expiresAtMs } from "./standing.ts";
