export { type ProfileName, type ProfileScores, profileVersions } from "./profiles.ts";
export type { BranchEntry, MoveKind, Relocation, Walk, WalkStep } from "./walk.ts";
export {
  type BrierParts,
  type ConfidenceSummary,
  type Judgement,
  judgementsForEceMin,
  type ReliabilityBin,
  reliabilityBinCount,
  reliabilityBins,
  summariseConfidence,
} from "./confidence.ts";
export {
  type ConfidenceScope,
  type ConfidenceTarget,
  confidenceOfWalk,
  judgementsOfWalk,
  type WalkConfidence,
  type WalkJudgements,
} from "./confidence-of-walk.ts";
export {
  type ConfidencePattern,
  classifyPatterns,
  type PatternAttempt,
  type PatternEvent,
  type PatternThresholds,
  patternAttempts,
  patternThresholds,
} from "./pattern.ts";
export { type PatternShares, patternShares, permutedPatternShares } from "./pattern-shares.ts";
export { type PublishedCounts, publishedFromCounts, scorePublished } from "./published.ts";
