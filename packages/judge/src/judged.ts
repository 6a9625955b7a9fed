/** L1 surface, L2 applied mechanically, L3 the principle rebuilt in a new context. Ordinal. */
export type Level = 1 | 2 | 3;

/** What a response is held against. */
export interface Scenario {
  readonly prompt: string;
  /** What a response of level 3 does. */
  readonly expectedL3: string;
  readonly criteriaL1: string | null;
  readonly criteriaL2: string | null;
}

/** A response to be judged. Who gave it is never part of this. */
export interface Judged {
  readonly scenario: Scenario;
  readonly response: string;
  /** True where the response is known to have been cut at a token limit. */
  readonly truncated: boolean;
  /** Verified facts of a maze trial's walk; null for any other response. */
  readonly facts: MazeFacts | null;
}

/** What a simulated walk verified, for the judge as evidence and for the heuristic. Never words of the response. */
export interface MazeFacts {
  readonly escaped: boolean;
  readonly attempts: number;
  readonly illegalMoves: number;
  readonly backtracks: number;
  readonly loopEvents: number;
  readonly wrongBranches: number;
  /** Claims that the walk confirms. */
  readonly trueDeadEndClaims: number;
  readonly trueLoopClaims: number;
  /** STRATEGY_CHANGE lines after which the route really changed: the next legal moves leave the branch or the repeated edge. */
  readonly trueStrategyChanges: number;
  readonly falseClaims: number;
}

/** What is noticed about a response or a verdict; recorded beside it, never a level by itself. */
export type JudgeFlag =
  | "identityLeak"
  | "authorityClaim"
  | "socialPressure"
  | "injectedVerdict"
  | "fakeDelimiter"
  | "fakeConversation"
  | "fakeToolResult"
  | "overrideInstruction"
  | "encodedText"
  | "hiddenCharacters"
  | "homoglyphs"
  | "hiddenComment"
  | "link"
  | "scaleConfusion"
  | "rubricOverlap"
  | "promptOverlap"
  | "citation"
  | "randomSuffix"
  | "threat"
  | "truncated"
  | "capped"
  | "refusal"
  | "noWeaknessFound"
  | "sameFamily"
  | "formatRetry";

/** One quotation that a verdict rests on. */
export interface Evidence {
  readonly quote: string;
  readonly claim: string;
}

/** A verdict as a judge's reply holds it, after strict reading. */
export interface Verdict {
  readonly level: Level;
  readonly reasoning: string;
  readonly counterArgument: string;
  /** 0 … 1. */
  readonly confidence: number;
  readonly evidence: readonly Evidence[];
}

/** Why there is no level. `needsFormat` kinds are asked once more in a fresh session ("format only"). */
export type UnreadableReason =
  | "notOneObject"
  | "duplicateKey"
  | "unknownKey"
  | "missingKey"
  | "outOfRange"
  | "wrongNonce"
  | "quoteNotFound"
  | "noEvidence"
  | "noReasonForNoWeakness"
  /** The level was written before the weakness. */
  | "levelBeforeWeakness"
  /** The judge handed back a verdict that the candidate had written. */
  | "copiedFromResponse"
  | "truncated"
  | "empty"
  | "refused";

/** What became of reading a judge's reply. */
export type VerdictReading =
  | { readonly kind: "verdict"; readonly verdict: Verdict; readonly flags: readonly JudgeFlag[] }
  | { readonly kind: "unreadable"; readonly reason: UnreadableReason; readonly message: string };

/** How a response is decided before any call. */
export type Precheck =
  /** Level 1 without a call. */
  | {
      readonly kind: "decided";
      readonly level: 1;
      readonly reason: PrecheckReason;
      readonly flags: readonly JudgeFlag[];
    }
  /** No level, without a call: a person has to look. */
  | { readonly kind: "unscored"; readonly reason: "refusal" | "capHidesTooMuch"; readonly flags: readonly JudgeFlag[] }
  | { readonly kind: "ask"; readonly flags: readonly JudgeFlag[] };

export type PrecheckReason =
  | "empty"
  | "punctuationOnly"
  | "openerOnly"
  | "promptEcho"
  | "rubricEcho"
  | "schemaOnly"
  | "symbolsOnly";

/** The judge's copy of a response: what leaves in the request. */
export interface SanitisedText {
  readonly text: string;
  readonly flags: readonly JudgeFlag[];
  /** Share of the response's characters that the cap hides, 0 … 1. */
  readonly hiddenShare: number;
}

/** Names of judge prompts. */
export type JudgePromptVersion = "llm-judge-v1" | "llm-judge-v1-seed";

/** A request to a judge, ready to send: no metadata of submitter, model, vendor, sweep, condition or seed in it. */
export interface JudgeRequestText {
  readonly promptVersion: JudgePromptVersion;
  /** SHA-256 of the template (all text of ours, the data left open), 64 hexadecimal digits. */
  readonly promptHash: string;
  readonly rubricVersion: string;
  readonly system: string;
  readonly user: string;
  /** JSON Schema of the answer; null where the prompt version has none (its text says the form). */
  readonly answerSchema: Readonly<Record<string, unknown>> | null;
  /** Null in the seed's version, which knows none. */
  readonly nonce: string | null;
}
