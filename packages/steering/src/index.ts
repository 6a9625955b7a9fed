export { type DefaultLimits, type KnownLane, knownLanes, namedLanes } from "./known-lanes.ts";
export {
  cancelNamed,
  checkRetry,
  type OperatorPorts,
  pauseNamed,
  type ResumeReport,
  resumeNamed,
  retryNamed,
  type RetryReport,
} from "./operate-sweep.ts";
export type { LaneControl, LimitChange, Precedence, SteeringPort, TrialSelector } from "./ports.ts";
export { readDurationMs, readSelector, type SelectorWords } from "./read-selector.ts";
export { checkWord, SteeringError } from "./refusal.ts";
export { limitsUnder, parkLane, resumeLane } from "./steer-lanes.ts";
export { cancelSweep, prioritizeSweep, resumeSweep, retryTrials } from "./steer-sweep.ts";
