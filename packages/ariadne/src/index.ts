export { type ConversationReply, type ConversationSetting, type GivenTurn, nextTurn, type Turn } from "./converse.ts";
export type { Trigger } from "./find-triggers.ts";
export type { HintResponse } from "./judge-response.ts";
export {
  type AriadneRecord,
  type ConversationResult,
  type HintOutcome,
  readConversation,
  type ShadowOutcome,
} from "./read-conversation.ts";
export type { ResponseRate } from "./response-rates.ts";
export {
  type AriadneRow,
  type AriadneSummary,
  type GroupSummary,
  type IgnoreRate,
  summariseAriadne,
  type SummaryOptions,
} from "./summarise-ariadne.ts";
export type { NormalisedTrainability, NullReason, Trainability } from "./trainability.ts";
