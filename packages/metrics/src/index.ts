export { type ProfileName, type ProfileScores, profileVersions, scoreSeed } from "./profiles.ts";
export { biasResistanceScore } from "./brs.ts";
export { calibrationError } from "./ce.ts";
export { firstErrorFactor } from "./first-error.ts";
export { hallucinationRecognitionRate } from "./hrr.ts";
export { loopEscape } from "./loop-escape.ts";
export { type MeiParts, meiMax, metacognitiveEscapeIndex, tenthsOfMei } from "./mei.ts";
export { type ErrorWeight, reachedShare, type RobustOptions, scoreRobust, shownShare, weighErrors } from "./robust.ts";
export { hallumazeScore } from "./score.ts";
export { isNonAnswer, simulateWalk, type WalkOptions } from "./simulate-walk.ts";
export {
  type BranchEntry,
  isIllegal,
  isJudged,
  type MoveKind,
  type Relocation,
  summariseWalk,
  type Walk,
  type WalkStep,
  type WalkSummary,
} from "./walk.ts";
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
