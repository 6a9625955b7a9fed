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
  JudgeRequestRow,
  JudgeRound,
  JudgeStorePort,
  StoredJudgement,
} from "./ports.ts";
export {
  deliverPlanned,
  judgeKey,
  reconcileJudges,
  requestJudgements,
  requestRow,
  type SweepJudging,
} from "./request-judgements.ts";
