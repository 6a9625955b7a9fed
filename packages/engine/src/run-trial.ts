import type { Clock } from "@hallumaze/foundation";
import type { CellPlan } from "@hallumaze/sweep";

import { openCallDeadline } from "./call-deadline.ts";
import { archiveFailed } from "./errors.ts";
import { decideEmpty, decideFailure, type RetryPolicy } from "./failure-policy.ts";
import { type Admission, admitRequest, settleRequest } from "./pace-request.ts";
import type { FailureOutcome } from "./outcomes.ts";
import type { LimiterPort } from "./ports/limiter.ts";
import { buildRequest, type PreparedTrial, prepareTrial } from "./prepare-trial.ts";
import type { ChatRequest, ChatResult, ProviderPort, Usage } from "./ports/provider.ts";
import type { Delivery, DeliveryResult } from "./ports/queue.ts";
import type { Claim, ExchangeRecord, RecordedFailure, RecordedReply, StorePort, TrialEnd } from "./ports/store.ts";
import { isPromptCut } from "./prompt-cut.ts";
import { scoreReply } from "./score-reply.ts";

/** What running one trial needs from outside. */
export interface TrialPorts {
  readonly store: Pick<StorePort, "claim" | "recordExchange" | "endTry" | "release" | "blockLane">;
  readonly provider: ProviderPort;
  /** Shared limits of a lane; null where nothing limits it. */
  readonly limiterOf: (lane: string) => LimiterPort | null;
  /** Plumbing of a model that its plan does not hold. */
  readonly settingsOf: (claim: Claim) => Promise<ModelSettings>;
  /** What an exchange cost; null where no price is known. */
  readonly costOf: (plan: CellPlan, usage: Usage) => { readonly usd: string; readonly priceDate: string } | null;
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
  readonly observe: TrialObserver;
}

/** What a spec says of a model beside its plan. */
export interface ModelSettings {
  /** Name of the variable with its key; null for the provider's own. */
  readonly keyEnv: string | null;
  /** The sweep's name: its share of a lane is its own. */
  readonly tenant: string;
  /** Reply tokens to expect of it, for the reservation. */
  readonly expectedOutputTokens: number;
}

/** Is told of each state change, with ids; never of prompts or replies. */
export interface TrialObserver {
  readonly claimed: (claim: Claim) => void;
  readonly released: (claim: Claim) => void;
  readonly ended: (claim: Claim, end: TrialEnd, fate: "ended" | "lost") => void;
  /** A reply came; its usage sharpens the next reservation. */
  readonly replied: (claim: Claim, usage: Usage) => void;
  readonly late: (claim: Claim) => void;
  /** The lane was parked by this trial's failure; said once a park. */
  readonly parked: (claim: Claim, reason: string, blocked: number) => void;
  readonly archiveTrouble: (claim: Claim, error: unknown) => void;
}

/** How a try ended for the deliverer: nothing more to do, or again after a while. */
export type TrialResult =
  | { readonly kind: "done" }
  | { readonly kind: "retry-later"; readonly afterMs: number }
  | { readonly kind: "give-up"; readonly reason: "not-ours" | "lost-lease" };

/**
 * Runs one trial: claim, ask (or take the reply that an earlier run recorded), record, read, score, end.
 *
 * Safe to call twice or at once from several processes for one trial: the claim's fence decides whose writes count.
 * Rejects only where the ledger is out of reach; the trial then stays retryable. When `signal` fires before the reply
 * is there, the claim is given back unspent.
 */
export async function runTrial(ports: TrialPorts, delivery: Delivery, signal: AbortSignal): Promise<TrialResult> {
  const answer = await ports.store.claim({ ...delivery, workerId: ports.workerId, leaseMs: ports.leaseMs });
  if (answer.kind === "nothing") return { kind: "give-up", reason: "not-ours" };
  if (answer.kind === "later") return { kind: "retry-later", afterMs: answer.afterMs };
  const { claim } = answer;
  ports.observe.claimed(claim);
  try {
    return await runClaimed(ports, claim, signal);
  } finally {
    ports.observe.released(claim);
  }
}

/** Translates a trial's result into what the queue must do with the delivery. */
export function toDeliveryResult(result: TrialResult): DeliveryResult {
  return result.kind === "retry-later" ? { kind: "again", afterMs: result.afterMs } : { kind: "done" };
}

async function runClaimed(ports: TrialPorts, claim: Claim, signal: AbortSignal): Promise<TrialResult> {
  const trial = prepareTrial(claim.plan);
  const recorded = claim.recorded.find((reply) => reply.turn === 0);
  if (recorded) return endWith(ports, claim, judgeReply(ports, claim, trial, recorded), signal);
  // A crash between the record of a failure and the end of its try must not give the trial a request for nothing.
  if (claim.recordedFailure) return endWith(ports, claim, judgeFailure(ports, claim, claim.recordedFailure), signal);

  const settings = await ports.settingsOf(claim);
  const request = buildRequest(claim.plan, trial, settings.keyEnv);
  const limiter = ports.limiterOf(claim.lane);
  const reservationId = reservationIdOf(claim);
  let limiterMs: number | null = null;
  if (limiter !== null) {
    const reservation = {
      id: reservationId,
      inputTokens: trial.promptTokens,
      outputTokens: Math.min(settings.expectedOutputTokens, claim.plan.maxTokens),
      tenant: settings.tenant,
      weight: 1,
    };
    const admission = await admitRequest({ ...ports, limiter }, claim.lane, reservation, signal).catch(
      async (error: unknown) => {
        // Nothing was sent: a limiter out of reach must not look like a lost worker.
        await ports.store.release(claim.trialId, claim.fence);
        throw error;
      },
    );
    if (admission.kind !== "admitted") return turnAway(ports, claim, admission, signal);
    limiterMs = admission.limiterMs;
  }
  const result = await ask(ports, request, signal);
  if (result === "interrupted") {
    // The request may have reached the provider: its reservation stays charged until it expires.
    await ports.store.release(claim.trialId, claim.fence);
    return { kind: "retry-later", afterMs: 0 };
  }
  const kept = await archive(ports, claim, exchangeOf(ports, claim, request, result, limiterMs), signal);
  if (limiter !== null) await settle(ports, claim, limiter, reservationId, result);
  if (result.kind === "reply") ports.observe.replied(claim, result.usage);
  if (kept === "late") {
    ports.observe.late(claim);
    return { kind: "give-up", reason: "lost-lease" };
  }
  return endWith(ports, claim, judgeResult(ports, claim, trial, result), signal);
}

/** The id of a try at the limiter: the same through all its waits, so that a try keeps its place in the lane. */
export function reservationIdOf(claim: Pick<Claim, "trialId" | "tries" | "waits" | "emptyRetries">): string {
  return `${claim.trialId}~${tryNumberOf(claim)}`;
}

/** 1-based number of the request in the trial's budget. */
function tryNumberOf({ tries, waits, emptyRetries }: Pick<Claim, "tries" | "waits" | "emptyRetries">): number {
  return tries + waits + emptyRetries + 1;
}

/** Gives a trial back that its lane does not admit now; no try is spent and nothing is held. */
async function turnAway(
  ports: TrialPorts,
  claim: Claim,
  admission: Exclude<Admission, { readonly kind: "admitted" }>,
  signal: AbortSignal,
): Promise<TrialResult> {
  switch (admission.kind) {
    case "never":
      return endWith(ports, claim, { kind: "failed", outcome: "bad_request", message: admission.message }, signal);
    case "parked":
      return endWith(ports, claim, await parkedEnd(ports, claim), signal);
    case "later":
    case "interrupted":
      await ports.store.release(claim.trialId, claim.fence);
      return { kind: "retry-later", afterMs: admission.kind === "later" ? admission.afterMs : 0 };
  }
}

const parkingOutcomes: readonly FailureOutcome[] = ["auth", "model_not_found", "quota_exhausted"];

/** The end of a trial whose lane another trial has parked: its reason begins with the outcome that parked it. */
async function parkedEnd(ports: TrialPorts, claim: Claim): Promise<TrialEnd> {
  const [use] = (await ports.limiterOf(claim.lane)?.use([claim.lane])) ?? [];
  const reason = use?.parked?.reason ?? "";
  const outcome = parkingOutcomes.find((known) => reason.startsWith(known)) ?? "quota_exhausted";
  return { kind: "blocked", outcome, message: reason === "" ? "the lane is parked" : reason };
}

/** Tells the limiter what a request took. A limiter out of reach loses no reply: the reservation expires by itself. */
async function settle(
  ports: TrialPorts,
  claim: Claim,
  limiter: LimiterPort,
  reservationId: string,
  result: ChatResult,
): Promise<void> {
  try {
    const restMs = ports.retry.baseDelayMs * (1 + ports.fraction());
    const reason = await settleRequest(limiter, claim.lane, reservationId, result, restMs);
    if (reason === null || result.kind === "reply") return;
    const blocked = await ports.store.blockLane(claim.lane, result.outcome, result.message);
    ports.observe.parked(claim, reason, blocked);
  } catch (error) {
    ports.observe.archiveTrouble(claim, error);
  }
}

/** The end that a result leads to, just received or recorded by a lost run. Pure but for the jitter. */
function judgeResult(ports: TrialPorts, claim: Claim, trial: PreparedTrial, result: ChatResult): TrialEnd {
  if (result.kind === "failure") return decideFailure(result, claim, ports.retry, ports.fraction());
  return judgeReply(ports, claim, trial, { ...result, inputTokens: result.usage.inputTokens });
}

function judgeFailure(ports: TrialPorts, claim: Claim, failure: RecordedFailure): TrialEnd {
  // Whether the lost run had parked the lane is not known: the trial waits, and asks again where it had not.
  const park = parkingOutcomes.includes(failure.outcome);
  return decideFailure({ ...failure, retryAfterMs: null, park }, claim, ports.retry, ports.fraction());
}

type ReceivedReply = Pick<RecordedReply, "text" | "finishReason" | "inputTokens">;

function judgeReply(ports: TrialPorts, claim: Claim, trial: PreparedTrial, reply: ReceivedReply): TrialEnd {
  const cut = isPromptCut(trial.promptTokens, reply.inputTokens);
  if (cut)
    return decideFailure({ outcome: "prompt_truncated", message: cut, retryAfterMs: null }, claim, ports.retry, 0);
  const end = scoredEnd(claim, reply);
  if (end.kind !== "done" || end.scored.outcome !== "empty") return end;
  return decideEmpty(claim, ports.retry, ports.fraction()) ?? end;
}

function scoredEnd(claim: Claim, reply: Pick<RecordedReply, "text" | "finishReason">): TrialEnd {
  try {
    return { kind: "done", scored: scoreReply(claim.plan, reply.text, reply.finishReason) };
  } catch (error) {
    // The reply is recorded, so a mended program scores it later without asking again.
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: "failed", outcome: "internal", message: `scoring failed: ${reason}` };
  }
}

async function ask(ports: TrialPorts, request: ChatRequest, signal: AbortSignal): Promise<ChatResult | "interrupted"> {
  using deadline = openCallDeadline(signal, ports.callTimeoutMs);
  const startedMs = ports.now();
  try {
    // A provider that does not heed its signal must not hold the slot.
    return await Promise.race([ports.provider.complete(request, deadline.signal), deadline.fired]);
  } catch (error) {
    if (signal.aborted) return "interrupted";
    const timedOut = deadline.timedOut();
    return {
      kind: "failure",
      outcome: timedOut ? "timeout" : "internal",
      message: timedOut ? `timeout(total): no complete reply within ${ports.callTimeoutMs} ms` : describe(error),
      retryAfterMs: null,
      rawBody: null,
      servedModel: null,
      usage: { inputTokens: null, outputTokens: null, cachedTokens: null, reasoningTokens: null },
      httpMs: ports.now() - startedMs,
      ttftMs: null,
      servedBy: null,
      nativeFinishReason: null,
      effectiveParams: {},
      limits: {},
      sideRequests: [],
      detail: timedOut ? "total" : null,
      park: null,
    };
  }
}

async function endWith(ports: TrialPorts, claim: Claim, end: TrialEnd, signal: AbortSignal): Promise<TrialResult> {
  const fate = await insist(ports, claim, () => ports.store.endTry(claim.trialId, claim.fence, end), signal);
  ports.observe.ended(claim, end, fate);
  if (fate === "lost") return { kind: "give-up", reason: "lost-lease" };
  return end.kind === "retry" ? { kind: "retry-later", afterMs: end.afterMs } : { kind: "done" };
}

function archive(
  ports: TrialPorts,
  claim: Claim,
  exchange: ExchangeRecord,
  signal: AbortSignal,
): Promise<"recorded" | "late"> {
  return insist(ports, claim, () => ports.store.recordExchange(exchange), signal);
}

/**
 * Repeats a write that the ledger refuses for a passing reason (disk full, restart): the reply in memory is paid for.
 * All slots of a worker end up here together, so a full disk pauses the run by itself.
 */
async function insist<T>(ports: TrialPorts, claim: Claim, write: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const startedMs = ports.now();
  for (let delayMs = 250; ; delayMs = Math.min(delayMs * 2, 10_000)) {
    try {
      return await write();
    } catch (error) {
      if (!isPassing(error)) throw error;
      ports.observe.archiveTrouble(claim, error);
      if (signal.aborted || ports.now() - startedMs + delayMs > ports.archivePatienceMs) {
        throw archiveFailed(error, { trialId: claim.trialId });
      }
      // An interrupt ends the waiting, not the writing: one more write is tried at once.
      await ports.sleep(delayMs, signal).catch(() => undefined);
    }
  }
}

function isPassing(error: unknown): boolean {
  return typeof error === "object" && error !== null && "retry" in error && error.retry === true;
}

function exchangeOf(
  ports: TrialPorts,
  claim: Claim,
  request: ChatRequest,
  result: ChatResult,
  limiterMs: number | null,
): ExchangeRecord {
  const { provider: _provider, ...sent } = request;
  const cost = ports.costOf(claim.plan, result.usage);
  const reply = result.kind === "reply" ? result : null;
  const failure = result.kind === "failure" ? result : null;
  return {
    trialId: claim.trialId,
    fence: claim.fence,
    turn: 0,
    tryNumber: tryNumberOf(claim),
    workerId: ports.workerId,
    requestJson: JSON.stringify(sent),
    rawBody: result.rawBody,
    text: reply?.text ?? null,
    reasoning: reply?.reasoning ?? null,
    finishReason: reply?.finishReason ?? null,
    outcome: failure?.outcome ?? null,
    errorMessage: failure?.message ?? null,
    servedModel: result.servedModel,
    effectiveParamsJson: JSON.stringify(result.effectiveParams),
    usage: result.usage,
    queueMs: claim.queueMs,
    limiterMs,
    httpMs: result.httpMs,
    ttftMs: result.ttftMs,
    servedBy: result.servedBy,
    nativeFinishReason: result.nativeFinishReason,
    sideRequestsJson: result.sideRequests.length > 0 ? JSON.stringify(result.sideRequests) : null,
    costUsd: cost?.usd ?? null,
    priceDate: cost?.priceDate ?? null,
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
