export type { LaneControl, LimitChange, Precedence, SteeringPort, TrialSelector } from "./ports.ts";
export { limitsUnder, parkLane, resumeLane } from "./steer-lanes.ts";
export { cancelSweep, prioritizeSweep, resumeSweep, retryTrials } from "./steer-sweep.ts";
