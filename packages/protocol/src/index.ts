export { buildHint, type Hint, type HintFacts, type HintRequest, hintVersion } from "./ariadne-hints.ts";
export { estimateTokens, expectedLogTokens } from "./estimate-tokens.ts";
export { buildPrompt, type Prompt, type PromptRequest, promptVersion } from "./prompt.ts";
export { isEmptyReply, type ReadOptions, readerVersion, readReply } from "./read-reply.ts";
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
export { promptStyle, type ReplyLine, type ReplyLog, type ReplyStyle, renderReply } from "./render-reply.ts";
