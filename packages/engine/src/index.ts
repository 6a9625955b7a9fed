export { analyseReply, analyseWalk, type ReplyAnalysis, type ReplyConditions } from "./analyse-reply.ts";
export {
  type AskedRequest,
  boundOf,
  callFactsOf,
  callProvider,
  exchangeOf,
  mayBeBilled,
  operatorReason,
  refusalOf,
  tryNumberOf,
  type TurnRequest,
  type TurnResult,
} from "./ask-turn.ts";
export { insist, type InsistPorts } from "./insist.ts";
export { EngineError } from "./errors.ts";
export type { Interval, ReplyHistory, ReplyRecord } from "./estimate-cells.ts";
export {
  type BindingLimit,
  type EstimatePorts,
  type LaneEstimate,
  type ModelEstimate,
  picoDollars,
  type PlanEstimate,
  type PlanPrice,
  usdOf,
} from "./estimate-sweep.ts";
export { decideEmpty, decideFailure, defaultRetryPolicy, type RetryPolicy } from "./failure-policy.ts";
export { type FailureOutcome, failureOutcomes, type Outcome, type RowPart, type TrialState } from "./outcomes.ts";
export {
  type ActualUse,
  comparePlan,
  laneHours,
  type ModelPlan,
  openLiveEstimator,
  type PlanError,
  planSweep,
  type SweepPlan,
} from "./plan-sweep.ts";
export type {
  LaneLimits,
  LaneUse,
  LimitDimension,
  LimiterPort,
  ReservationAnswer,
  ReservationRequest,
} from "./ports/limiter.ts";
export type {
  ChatMessage,
  ChatRequest,
  ChatResult,
  LimitReading,
  LimitReadings,
  ProviderPort,
  SideRequest,
  Usage,
} from "./ports/provider.ts";
export type {
  BatchStanding,
  Consumer,
  Delivery,
  DeliveryResult,
  Enqueue,
  LaneDepth,
  LanePlaces,
  QueuePort,
} from "./ports/queue.ts";
export type {
  Claim,
  ClaimResult,
  ExchangeRecord,
  FailureGroup,
  InsertReport,
  ModelProgress,
  OpenTrial,
  Provenance,
  RecordedFailure,
  RecordedReply,
  RequestAdmission,
  RequestIntent,
  RequestTally,
  ScoredTrial,
  StoredReply,
  StorePort,
  SweepMoney,
  SweepProgress,
  SweepRecord,
  TrialEnd,
  TrialRow,
} from "./ports/store.ts";
export { conversationOf, mazeOf, prepareTrial } from "./prepare-trial.ts";
export { reconcile, type ReconcileReport, refillQueue } from "./reconcile.ts";
export { type RescoreReport, rescoreSweep } from "./rescore-sweep.ts";
export { type Admission, admitRequest, type PacePorts, settleRequest } from "./pace-request.ts";
export { runTrial, toDeliveryResult } from "./run-trial.ts";
export type { CallFacts, ModelSettings, StartPermit, TrialObserver, TrialPorts, TrialResult } from "./trial-ports.ts";
export { scoreConversation, scoreReply } from "./score-reply.ts";
export {
  enqueuePlanned,
  enqueueTrials,
  type SubmitProgress,
  type SubmitReport,
  submitSweep,
} from "./submit-sweep.ts";
