export type { FailureOutcome, Outcome, TrialState } from "./outcomes.ts";
export type { ChatMessage, ChatRequest, ChatResult, ProviderPort, Usage } from "./ports/provider.ts";
export type { Consumer, Delivery, DeliveryResult, Enqueue, LaneDepth, QueuePort } from "./ports/queue.ts";
export type {
  Claim,
  ClaimResult,
  ExchangeRecord,
  FailureGroup,
  InsertReport,
  ModelProgress,
  OpenTrial,
  Provenance,
  RecordedReply,
  ScoredTrial,
  StoredReply,
  StorePort,
  SweepProgress,
  SweepRecord,
  TrialEnd,
  TrialRow,
  TrialSelector,
} from "./ports/store.ts";
