export type {
  Attempt,
  AttemptFlag,
  Claim,
  FinishReason,
  Language,
  Reading,
  ReadingFlag,
  ReadingMode,
  ReadingOutcome,
} from "./reading.ts";
