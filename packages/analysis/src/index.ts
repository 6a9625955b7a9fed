export { type Detectable, planDetectable, publishedMeiSd } from "./detectable.ts";
export { type AnalysisData, gatherData, type GatherOptions, rescored, walkStepOf } from "./gather.ts";
export { experimentNames, experimentTitles, runExperiment, whyNot, withoutPeople } from "./run-experiments.ts";
export {
  type Conversation,
  figureRecords,
  joinReplies,
  judgedTrials,
  type ReplySourceStore,
  type TrialRecord,
  trialRecords,
  type TrialSourceStore,
} from "./trial-record.ts";
