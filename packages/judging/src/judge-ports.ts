import type {
  CallFacts,
  ChatRequest,
  LimiterPort,
  ProviderPort,
  RequestAdmission,
  RetryPolicy,
  StartPermit,
  Usage,
} from "@hallumaze/engine";
import type { Clock } from "@hallumaze/foundation";
import type { JudgeRequestText } from "@hallumaze/judge";

import type { JudgeClaim, JudgeEnd, JudgeModel, JudgeStorePort } from "./ports.ts";

/** What running one request to a judge needs from outside. */
export interface JudgePorts {
  readonly store: Pick<
    JudgeStorePort,
    | "claimJudge"
    | "findJudgeClaim"
    | "releaseJudge"
    | "openJudgeCall"
    | "recordJudgement"
    | "addJudgement"
    | "endJudge"
    | "blockJudgeLane"
    | "findResult"
    | "requestJudgements"
  >;
  /** A client of the judges' own: no connection or conversation is shared with what is judged. */
  readonly provider: ProviderPort;
  /** Shared limits of a judge's lane; null where nothing limits it. */
  readonly limiterOf: (limiterLane: string) => LimiterPort | null;
  readonly settingsOf: (claim: JudgeClaim) => Promise<JudgeSettings>;
  /** Asks after a wait, for which the claim does not vouch. */
  readonly mayStart: (claim: JudgeClaim) => Promise<StartPermit>;
  readonly now: Clock;
  /** A random number in [0, 1), for jitter only. */
  readonly fraction: () => number;
  /** Random hexadecimal digits for boundaries and nonces: from a source that nobody can guess. */
  readonly hex: (digits: number) => string;
  /** Waits; rejects when the signal fires. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly workerId: string;
  readonly leaseMs: number;
  /** Longest time for one call, from sending to the last byte. */
  readonly callTimeoutMs: number;
  /** How long a received verdict is held in memory while the database refuses it. */
  readonly archivePatienceMs: number;
  readonly retry: RetryPolicy;
  readonly maxTries: number;
  /** Longest wait for a limit that is spent in the slot. */
  readonly patienceMs: number;
  /** True once no further request may go out: what is not yet asked is given back. */
  readonly isDraining?: () => boolean;
  readonly observe: JudgeObserver;
  /** Takes a call over instead of making it, claim and all: it will be asked in a batch. Absent: it is made. */
  readonly defer?: (claim: JudgeClaim, call: JudgeCall, settings: JudgeSettings) => Promise<RequestAdmission>;
}

/** One call of a judgement: a fresh session of its own, wherever it is asked. */
export interface JudgeCall {
  /** 1-based: the second asks for the format only. */
  readonly attempt: number;
  readonly tryNumber: number;
  readonly request: ChatRequest;
  /** What its reply is read with. */
  readonly text: Pick<JudgeRequestText, "nonce" | "promptHash">;
  /** Most that it can cost, exact decimal US dollars; null where no price is known. */
  readonly boundUsd: string | null;
}

/** What a sweep's spec, or the service's own settings, say of a judge. */
export interface JudgeSettings {
  /** Whose share of the lane it is: judges are a tenant of their own beside the trials. */
  readonly tenant: string;
  /** The sweep's weight, above 0. */
  readonly weight: number;
  readonly costOf: (usage: Usage) => { readonly usd: string; readonly priceDate: string | null } | null;
  /** Most that a call of so many tokens can cost, exact decimal US dollars; "0" where it costs nothing, null unknown. */
  readonly boundOf: (inputTokens: number, outputTokens: number) => string | null;
  /** Asked where the first is unsure or disagrees with itself; the first again where none is named. */
  readonly secondJudge: { readonly judge: JudgeModel; readonly lane: string } | null;
  readonly consensusBelow: number;
  /** How often the first judge is asked, 1 or more. */
  readonly repeats: number;
}

/** Is told of each state change, with ids; never of texts. */
export interface JudgeObserver {
  readonly claimed: (claim: JudgeClaim) => void;
  readonly reserved: (claim: JudgeClaim, lane: string, reservationId: string) => void;
  readonly released: (claim: JudgeClaim) => void;
  /** A call came back, answered or not. */
  readonly called: (claim: JudgeClaim, call: CallFacts) => void;
  readonly ended: (claim: JudgeClaim, end: JudgeEnd) => void;
  readonly late: (claim: JudgeClaim) => void;
  /** The ledger refuses a write for now. */
  readonly trouble: (claim: JudgeClaim, error: unknown) => void;
  readonly parked: (lane: string, reason: string, blocked: number) => void;
}

/** How a request ended for the deliverer. */
export type JudgeResult =
  | { readonly kind: "done" }
  | { readonly kind: "retry-later"; readonly afterMs: number }
  | { readonly kind: "give-up"; readonly reason: "not-ours" | "lost-lease" };
