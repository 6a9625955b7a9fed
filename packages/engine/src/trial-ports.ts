import type { Clock } from "@hallumaze/foundation";

import type { RetryPolicy } from "./failure-policy.ts";
import type { TurnRequest, TurnResult } from "./ask-turn.ts";
import type { FailureOutcome } from "./outcomes.ts";
import type { LimiterPort } from "./ports/limiter.ts";
import type { ProviderPort, Usage } from "./ports/provider.ts";
import type { Claim, StorePort, TrialEnd } from "./ports/store.ts";

/** What running one trial needs from outside. */
export interface TrialPorts {
  readonly store: Pick<
    StorePort,
    "claim" | "recordExchange" | "endTry" | "release" | "blockLane" | "openRequest" | "cancelRequest"
  >;
  readonly provider: ProviderPort;
  /** Asks before a request that its claim does not vouch for: after a wait, and before a further turn. */
  readonly mayStart: (claim: Claim) => Promise<StartPermit>;
  /** Shared limits of a lane; null where nothing limits it. */
  readonly limiterOf: (lane: string) => LimiterPort | null;
  /** Plumbing of a model that its plan does not hold. */
  readonly settingsOf: (claim: Claim) => Promise<ModelSettings>;
  readonly now: Clock;
  /** A random number in [0, 1), for jitter only. */
  readonly fraction: () => number;
  /** Waits; rejects when the signal fires. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly workerId: string;
  readonly leaseMs: number;
  /** Longest time for one request, from sending to the last byte. */
  readonly callTimeoutMs: number;
  /** How long a received reply is held in memory while the database refuses it. */
  readonly archivePatienceMs: number;
  readonly retry: RetryPolicy;
  /** Longest wait for a limit that is spent in the slot. */
  readonly patienceMs: number;
  /** True once no further request may go out: what is not yet asked is given back, replies that came stand. */
  readonly isDraining?: () => boolean;
  readonly observe: TrialObserver;
  /** Takes a request over instead of sending it, claim and all: it will be asked in a batch. Absent: it is sent. */
  readonly defer?: (claim: Claim, settings: ModelSettings, turn: TurnRequest) => Promise<TurnResult>;
}

/** `held`: an operator paused the sweep or parked the lane meanwhile, or the claim is lost; `cancelled`: the trial. */
export type StartPermit = "go" | "held" | "cancelled";

/** What a spec says of a model beside its plan. */
export interface ModelSettings {
  /** Name of the variable with its key; null for the provider's own. */
  readonly keyEnv: string | null;
  /** The sweep's name: its share of a lane is its own. */
  readonly tenant: string;
  /** Its weight beside other sweeps, above 0. */
  readonly weight: number;
  /** Reply tokens to expect of it, for the reservation. */
  readonly expectedOutputTokens: number;
  /** The lane in which it is asked live where a batch would miss its deadline; null or absent: in batches only, or never. */
  readonly liveLane?: string | null;
  /** Whether a triggered trial of group A gets its neutral turn. */
  readonly shadow: boolean;
  /** What an exchange cost; null where no price is known. `priceDate` null: the spec's own price. */
  readonly costOf: (usage: Usage) => { readonly usd: string; readonly priceDate: string | null } | null;
  /** Most that a request of so many tokens can cost, exact decimal US dollars; "0" where it costs nothing, null unknown. */
  readonly boundOf: (inputTokens: number, outputTokens: number) => string | null;
}

/** Is told of each state change, with ids; never of prompts or replies. */
export interface TrialObserver {
  readonly claimed: (claim: Claim) => void;
  /** The claim's request under way holds this reservation of its lane. */
  readonly reserved: (claim: Claim, reservationId: string) => void;
  readonly released: (claim: Claim) => void;
  readonly ended: (claim: Claim, end: TrialEnd, fate: "ended" | "lost") => void;
  /** A call came back, answered or not; its usage sharpens the next reservation. */
  readonly called: (claim: Claim, call: CallFacts) => void;
  readonly late: (claim: Claim) => void;
  /** The lane was parked by this trial's failure; said once a park. */
  readonly parked: (claim: Claim, reason: string, blocked: number) => void;
  readonly archiveTrouble: (claim: Claim, error: unknown) => void;
}

/** One call that came back: figures, never words. */
export interface CallFacts {
  /** Null for a reply. */
  readonly outcome: FailureOutcome | null;
  readonly usage: Usage;
  /** Exact decimal US dollars; null where no price or no usage is known. */
  readonly costUsd: string | null;
  /** It may be on the bill, at a cost that is not known. */
  readonly isCostUnknown: boolean;
  readonly httpMs: number;
}

/** How a try ended for the deliverer: nothing more to do, or again after a while. */
export type TrialResult =
  | { readonly kind: "done" }
  | { readonly kind: "retry-later"; readonly afterMs: number }
  | { readonly kind: "give-up"; readonly reason: "not-ours" | "lost-lease" };
