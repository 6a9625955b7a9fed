import { openCallDeadline } from "./call-deadline.ts";
import type { FailureOutcome } from "./outcomes.ts";
import { admitRequest, settleRequest } from "./pace-request.ts";
import type { LimiterPort } from "./ports/limiter.ts";
import type { ChatRequest, ChatResult } from "./ports/provider.ts";
import type { Claim, ExchangeRecord, RequestAdmission, UnansweredEnd } from "./ports/store.ts";
import { insist } from "./insist.ts";
import type { CallFacts, ModelSettings, TrialPorts } from "./trial-ports.ts";

/** One request of a trial's conversation. */
export interface TurnRequest {
  readonly turn: number;
  readonly request: ChatRequest;
  /** Local estimate of all that is sent. */
  readonly inputTokens: number;
}

/** What became of a request: a recorded result, or why none was made. */
export type TurnResult =
  | { readonly kind: "recorded"; readonly result: ChatResult }
  /** Recorded under a claim that is no longer ours. */
  | { readonly kind: "late" }
  /** Not admitted, or interrupted: the claim is given back unspent. */
  | { readonly kind: "again"; readonly afterMs: number }
  /** Taken over with the claim: whoever took it records the reply, and gives the claim back. */
  | { readonly kind: "deferred" }
  /** An operator cancelled the trial before the request was sent. */
  | { readonly kind: "cancelled" }
  /** Not admitted until somebody acts. */
  | { readonly kind: "refused"; readonly end: UnansweredEnd };

/** How long a trial waits, in ms, where the limiter knows of an operator's park and the ledger not yet, or no more. */
const operatorWaitMs = 500;
/** How long a trial waits, in ms, for the requests under way whose real cost may leave room in the budget. */
const budgetWaitMs = 1000;
/** How long after the claim, in ms, its word stands that the trial may start. */
const vouchedMs = 100;
/** A provider's tokeniser may count more than the local estimate does. */
const inputMargin = { factor: 1.5, tokens: 200 } as const;

/**
 * Sends one request of a trial: reserves limits and money, asks, records the exchange before anything can fail on it,
 * settles. Exactly one request, or none.
 */
export async function askTurn(
  ports: TrialPorts,
  claim: Claim,
  settings: ModelSettings,
  { turn, request, inputTokens }: TurnRequest,
  signal: AbortSignal,
): Promise<TurnResult> {
  if (ports.isDraining?.() === true) return { kind: "again", afterMs: 0 };
  const limiter = ports.limiterOf(claim.lane);
  const reservationId = reservationIdOf(claim, turn);
  let limiterMs: number | null = null;
  if (limiter !== null) {
    const reservation = {
      id: reservationId,
      inputTokens,
      outputTokens: Math.min(settings.expectedOutputTokens, claim.plan.maxTokens),
      tenant: settings.tenant,
      weight: settings.weight,
    };
    const admission = await admitRequest({ ...ports, limiter }, claim.lane, reservation, signal).catch(
      releaseThenThrow(ports, claim),
    );
    switch (admission.kind) {
      case "admitted":
        limiterMs = admission.limiterMs;
        break;
      case "never":
        return { kind: "refused", end: { kind: "failed", outcome: "bad_request", message: admission.message } };
      case "parked":
        return parkedEnd(ports, claim);
      case "later":
        return { kind: "again", afterMs: admission.afterMs };
      case "interrupted":
        return { kind: "again", afterMs: 0 };
    }
    ports.observe.reserved(claim, reservationId);
  }
  const stop = await stopBeforeSending(ports, claim, turn > 0 || (limiterMs ?? 0) > vouchedMs).catch(
    releaseThenThrow(ports, claim),
  );
  if (stop !== null) {
    await limiter?.cancel(claim.lane, reservationId);
    return stop;
  }
  const bound = boundOf(claim, settings, inputTokens);
  const refusal = await openMoney(ports, claim, turn, bound).catch(releaseThenThrow(ports, claim));
  if (refusal !== null) {
    await limiter?.cancel(claim.lane, reservationId);
    return refusal;
  }
  const result = await callProvider(ports, request, signal);
  // The request may have reached the provider: its reservation and its money stay charged.
  if (result === "interrupted") return { kind: "again", afterMs: 0 };
  const { provider: _provider, ...sent } = request;
  const tryNumber = tryNumberOf(claim);
  const asked = { ...claim, turn, tryNumber, workerId: ports.workerId, requestJson: JSON.stringify(sent) };
  const exchange = exchangeOf({ ...asked, limiterMs, boundUsd: bound }, result, settings);
  const kept = await insist(ports, holderOf(ports, claim), () => ports.store.recordExchange(exchange), signal);
  if (limiter !== null) await settle(ports, claim, limiter, reservationId, result);
  ports.observe.called(claim, callFactsOf(result, exchange.costUsd));
  return kept === "late" ? { kind: "late" } : { kind: "recorded", result };
}

/** Most that a request of so many tokens, by the local estimate, can cost; "0" where it costs nothing, null unknown. */
export function boundOf(
  { plan }: Pick<Claim, "plan">,
  settings: Pick<ModelSettings, "boundOf">,
  inputTokens: number,
): string | null {
  return settings.boundOf(Math.ceil(inputTokens * inputMargin.factor) + inputMargin.tokens, plan.maxTokens);
}

/** A claim says that its trial may start; what an operator says later is asked for. */
async function stopBeforeSending(
  ports: Pick<TrialPorts, "mayStart">,
  claim: Claim,
  isOld: boolean,
): Promise<Extract<TurnResult, { readonly kind: "again" | "cancelled" }> | null> {
  const permit = isOld ? await ports.mayStart(claim) : "go";
  if (permit === "go") return null;
  return permit === "held" ? { kind: "again", afterMs: 0 } : { kind: "cancelled" };
}

/** Whose write is insisted on, and who hears of the trouble. */
export function holderOf(ports: TrialPorts, claim: Claim): Parameters<typeof insist>[1] {
  return { trialId: claim.trialId, onTrouble: (error) => ports.observe.archiveTrouble(claim, error) };
}

/** The id of a request at the limiter: the same through all its waits, so that a try keeps its place in the lane. */
function reservationIdOf(claim: Claim, turn: number): string {
  const id = `${claim.trialId}~${tryNumberOf(claim)}`;
  return turn === 0 ? id : `${id}~${turn}`;
}

/** 1-based number of the request in the trial's budget of tries. */
export function tryNumberOf({ tries, waits, emptyRetries }: Pick<Claim, "tries" | "waits" | "emptyRetries">): number {
  return tries + waits + emptyRetries + 1;
}

/** Nothing was sent: a limiter or ledger out of reach must not look like a lost worker. */
function releaseThenThrow(ports: TrialPorts, claim: Claim): (error: unknown) => Promise<never> {
  return async (error) => {
    await ports.store.release(claim.trialId, claim.fence);
    throw error;
  };
}

/** Charges the request to the sweep; null where it may go out. What costs nothing is not written down. */
async function openMoney(
  ports: TrialPorts,
  claim: Claim,
  turn: number,
  bound: string | null,
): Promise<Exclude<TurnResult, { readonly kind: "recorded" | "deferred" }> | null> {
  if (bound === "0") return null;
  const { trialId, fence } = claim;
  const { workerId } = ports;
  const intent = { trialId, fence, turn, tryNumber: tryNumberOf(claim), workerId, boundUsd: bound };
  return refusalOf(await ports.store.openRequest(intent), bound, ports.fraction());
}

/** What the budget's answer means for a turn; null where its request may go out. `fraction` is random, in [0, 1). */
export function refusalOf(
  admission: RequestAdmission,
  bound: string | null,
  fraction: number,
): Extract<TurnResult, { readonly kind: "late" | "again" | "refused" }> | null {
  switch (admission.kind) {
    case "open":
      return null;
    case "lost":
      return { kind: "late" };
    case "later":
      return { kind: "again", afterMs: Math.round(budgetWaitMs * (1 + fraction)) };
    case "exhausted": {
      const costs = bound === null ? "no price is known for it" : `it may cost $${bound}`;
      const message =
        `budgetUsd ${admission.budgetUsd} does not reach for another request: ` +
        `$${admission.committedUsd} are spent, ${costs}. Raise budgetUsd and run again.`;
      return { kind: "refused", end: { kind: "blocked", outcome: "budget_blocked", message } };
    }
  }
}

/** Sends one request to a provider within its deadline. A provider that throws or hangs is a failure, never an exception. */
export async function callProvider(
  ports: Pick<TrialPorts, "provider" | "callTimeoutMs" | "now">,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<ChatResult | "interrupted"> {
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

/** Outcomes that park a lane. */
export const parkingOutcomes: readonly FailureOutcome[] = ["auth", "model_not_found", "quota_exhausted"];

/** How the limiter is told that an operator parked a lane. */
export const operatorReason = "parked by an operator";

/**
 * The end of a trial whose lane another trial has parked: its reason begins with the outcome that parked it. What an
 * operator parked, the ledger holds back at the next claim.
 */
async function parkedEnd(
  ports: TrialPorts,
  claim: Claim,
): Promise<Extract<TurnResult, { readonly kind: "again" | "refused" }>> {
  const [use] = (await ports.limiterOf(claim.lane)?.use([claim.lane])) ?? [];
  const reason = use?.parked?.reason ?? "";
  if (reason.startsWith(operatorReason)) return { kind: "again", afterMs: operatorWaitMs };
  const outcome = parkingOutcomes.find((known) => reason.startsWith(known)) ?? "quota_exhausted";
  const message = reason === "" ? "the lane is parked" : reason;
  return { kind: "refused", end: { kind: "blocked", outcome, message } };
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

/** What is told of a call to those who count. */
export function callFactsOf(result: ChatResult, costUsd: string | null): CallFacts {
  const outcome = result.kind === "failure" ? result.outcome : null;
  const isCostUnknown = costUsd === null && (outcome === null || mayBeBilled(outcome));
  return { outcome, usage: result.usage, costUsd, isCostUnknown, httpMs: result.httpMs };
}

/** Whether the provider may have worked, and may charge, before a failure: it had begun to answer, or nobody knows. */
export function mayBeBilled(outcome: FailureOutcome): boolean {
  return billable.has(outcome);
}

const billable: ReadonlySet<FailureOutcome> = new Set<FailureOutcome>([
  "timeout",
  "transport",
  "unparseable_body",
  "filtered",
  "internal",
]);

/** One request as it was asked, for its record. */
export type AskedRequest = Pick<
  ExchangeRecord,
  "trialId" | "fence" | "turn" | "tryNumber" | "workerId" | "requestJson" | "queueMs" | "limiterMs"
> & { readonly boundUsd: string | null };

/** The record of a request with what came of it. */
export function exchangeOf(
  asked: AskedRequest,
  result: ChatResult,
  settings: Pick<ModelSettings, "costOf">,
): ExchangeRecord {
  const cost = settings.costOf(result.usage);
  const reply = result.kind === "reply" ? result : null;
  const failure = result.kind === "failure" ? result : null;
  const isCharged = failure === null || mayBeBilled(failure.outcome);
  return {
    trialId: asked.trialId,
    fence: asked.fence,
    turn: asked.turn,
    tryNumber: asked.tryNumber,
    workerId: asked.workerId,
    requestJson: asked.requestJson,
    rawBody: result.rawBody,
    text: reply?.text ?? null,
    reasoning: reply?.reasoning ?? null,
    finishReason: reply?.finishReason ?? null,
    outcome: failure?.outcome ?? null,
    errorMessage: failure?.message ?? null,
    servedModel: result.servedModel,
    effectiveParamsJson: JSON.stringify(result.effectiveParams),
    usage: result.usage,
    queueMs: asked.queueMs,
    limiterMs: asked.limiterMs,
    httpMs: result.httpMs,
    ttftMs: result.ttftMs,
    servedBy: result.servedBy,
    nativeFinishReason: result.nativeFinishReason,
    sideRequestsJson: result.sideRequests.length > 0 ? JSON.stringify(result.sideRequests) : null,
    costUsd: cost?.usd ?? null,
    priceDate: cost?.priceDate ?? null,
    costBoundUsd: cost === null && isCharged ? asked.boundUsd : null,
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
