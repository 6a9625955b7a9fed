export {
  type CalibrationOutcome,
  type CalibrationPorts,
  type CalibrationWish,
  calibrateJudge,
} from "./calibrate-judge.ts";
export {
  autoScore,
  type AutoScoreAnswer,
  type AutoScorePorts,
  type AutoScoreSettings,
  type ServiceJudge,
  serviceGate,
  sourceOfResponse,
  standingVerdict,
} from "./auto-score.ts";
export {
  type Consensus,
  type DefaultVerdict,
  defaultVerdict,
  type GateState,
  gateStateOf,
  judgeVerdict,
} from "./default-verdict.ts";
export { type FitnessAnswer, type FitnessScope, measureFitness } from "./fitness.ts";
export { judgedOf, mazeFacts } from "./maze-facts.ts";
export {
  heuristicJudgement,
  heuristicName,
  inputHash,
  judgementOf,
  judgeName,
  paramsJsonOf,
  precheckJudgement,
} from "./judgement-records.ts";
export type { JudgeCall, JudgeObserver, JudgePorts, JudgeResult, JudgeSettings } from "./judge-ports.ts";
export type {
  CalibrationRecord,
  JudgeClaim,
  JudgeClaimResult,
  JudgedResult,
  JudgedSource,
  JudgeEnd,
  JudgementRecord,
  JudgementStatus,
  JudgeModel,
  JudgePlan,
  JudgeProgress,
  JudgeRequestRow,
  JudgeRound,
  JudgeStorePort,
  StoredJudgement,
} from "./ports.ts";
export {
  deliverPlanned,
  judgeKey,
  reconcileJudges,
  refillJudgeQueue,
  requestJudgements,
  requestRow,
  type SweepJudging,
} from "./request-judgements.ts";
export { type LandedCall, landJudgement, limiterLaneOf, runJudgement, toJudgeDelivery } from "./run-judgement.ts";
export { sweepLevels, type TrialLevel, trialLevel } from "./sweep-levels.ts";
export { askFurther, asOpinion, countedVerdicts } from "./seek-consensus.ts";
