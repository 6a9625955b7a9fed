import {
  admitRequest,
  callFactsOf,
  callProvider,
  type ChatRequest,
  type ChatResult,
  decideFailure,
  insist,
  type DeliveryResult,
  type Delivery,
  type FailureOutcome,
  mayBeBilled,
  operatorReason,
  type RequestAdmission,
  settleRequest,
} from "@hallumaze/engine";
import {
  buildJudgeRequest,
  type Judged,
  type JudgeRequestText,
  precheck,
  readVerdict,
  type VerdictReading,
} from "@hallumaze/judge";
import { estimateTokens } from "@hallumaze/protocol";
import { isBatchLane } from "@hallumaze/sweep";

import { heuristicJudgement, judgementOf, precheckJudgement } from "./judgement-records.ts";
import type { JudgeCall, JudgePorts, JudgeResult, JudgeSettings } from "./judge-ports.ts";
import { judgedOf } from "./maze-facts.ts";
import type { JudgeClaim, JudgeEnd, JudgementRecord } from "./ports.ts";
import { askFurther } from "./seek-consensus.ts";

/** A reply that cannot be read is asked for once more, in another fresh session. */
const callsAtMost = 2;
const budgetWaitMs = 1000;
/** How long a call waits where the limiter knows of an operator's park and the ledger not yet, or no more. */
const operatorWaitMs = 500;
const inputMargin = { factor: 1.5, tokens: 200 } as const;

/**
 * Runs one request to a judge: claim, decide without a call where that is due, else ask in a fresh session, keep the raw
 * reply with what was read from it, and ask a second opinion where one is due.
 *
 * Safe to call twice or at once from several processes: the claim's fence decides whose judgement counts.
 */
export async function runJudgement(ports: JudgePorts, delivery: Delivery, signal: AbortSignal): Promise<JudgeResult> {
  const answer = await ports.store.claimJudge({ ...delivery, workerId: ports.workerId, leaseMs: ports.leaseMs });
  if (answer.kind === "nothing") return { kind: "give-up", reason: "not-ours" };
  if (answer.kind === "later") return { kind: "retry-later", afterMs: answer.afterMs };
  const { claim } = answer;
  // Its sweep's mode was changed while a delivery of it was on its way: whoever gathers batches finds it in the ledger.
  if (isBatchLane(claim.lane) && ports.defer === undefined) {
    await ports.store.releaseJudge(claim.requestId, claim.fence);
    return { kind: "give-up", reason: "not-ours" };
  }
  ports.observe.claimed(claim);
  try {
    return await runClaimed(ports, claim, signal);
  } finally {
    ports.observe.released(claim);
  }
}

/** Translates a judgement's result into what the queue must do with the delivery. */
export function toJudgeDelivery(result: JudgeResult): DeliveryResult {
  return result.kind === "retry-later" ? { kind: "again", afterMs: result.afterMs } : { kind: "done" };
}

/** A judgement under way. */
interface Session {
  readonly claim: JudgeClaim;
  readonly settings: JudgeSettings;
  readonly judged: Judged;
}

async function runClaimed(ports: JudgePorts, claim: JudgeClaim, signal: AbortSignal): Promise<JudgeResult> {
  const session: Session = { claim, settings: await ports.settingsOf(claim), judged: judgedOf(claim.source) };
  const last = claim.recorded.at(-1);
  // Its worker died between the last judgement and the end of the request.
  if (last !== undefined && isLast(last)) return finish(ports, session, last.status);
  const checked = precheck(session.judged);
  if (checked.kind !== "ask") return keep(ports, session, precheckJudgement(claim, session.judged, checked));
  for (let attempt = claim.recorded.length + 1; attempt <= callsAtMost; attempt += 1) {
    const result = await callOnce(ports, session, attempt, signal);
    if (result !== "again-in-a-fresh-session") return result;
  }
  return finish(ports, session, "unscored");
}

/** Whether no further call follows a judgement: a verdict, a refusal, or an unreadable reply for the second time. */
function isLast({ status, attempt, decidedBy, unscoredReason }: JudgementRecord): boolean {
  const isRefusal = unscoredReason?.split(":", 1)[0] === "refused";
  return status === "verdict" || attempt >= callsAtMost || decidedBy === "precheck" || isRefusal;
}

async function callOnce(
  ports: JudgePorts,
  session: Session,
  attempt: number,
  signal: AbortSignal,
): Promise<JudgeResult | "again-in-a-fresh-session"> {
  const { claim } = session;
  if (ports.isDraining?.() === true) return giveBack(ports, claim, 0);
  const text = buildJudgeRequest({
    judged: session.judged,
    version: claim.plan.promptVersion,
    formatOnly: attempt > 1,
    random: { hex: ports.hex },
  });
  const inputTokens = estimateTokens(text.system) + estimateTokens(text.user);
  const call: JudgeCall = {
    attempt,
    tryNumber: tryNumberOf(claim),
    request: requestOf(claim, text),
    text,
    boundUsd: boundOf(session, inputTokens),
  };
  if (ports.defer !== undefined) {
    const refusal = await refusalOf(ports, claim, await ports.defer(claim, call, session.settings));
    // The claim goes on with the batch.
    return refusal ?? { kind: "done" };
  }
  const admitted = await admit(ports, session, call, inputTokens, signal);
  if (admitted !== null) return admitted;
  const result = await callProvider(ports, call.request, signal);
  if (result === "interrupted") return giveBack(ports, claim, 0);
  await settle(ports, claim, attempt, result);
  return conclude(ports, session, call, result);
}

/** What follows from a call that came back, wherever it was asked. */
async function conclude(
  ports: JudgePorts,
  session: Session,
  call: Omit<JudgeCall, "boundUsd">,
  result: ChatResult,
  batch?: LandedCall["batch"],
): Promise<JudgeResult | "again-in-a-fresh-session"> {
  const { claim, judged, settings } = session;
  const { attempt, text, request } = call;
  ports.observe.called(claim, callFactsOf(result, settings.costOf(result.usage)?.usd ?? null));
  if (result.kind === "failure" && result.outcome !== "filtered") return fail(ports, session, attempt, result);
  // A filter's refusal is the judge's: unscored with what was received, and another judge may be asked.
  const reading: VerdictReading =
    result.kind === "failure"
      ? { kind: "unreadable", reason: "refused", message: `filtered: ${result.message}` }
      : readVerdict(result.text, {
          version: claim.plan.promptVersion,
          response: judged.response,
          nonce: text.nonce,
          finishReason: result.finishReason,
        });
  const judgement = judgementOf({ claim, judged, request: text, sent: request, attempt, result, reading, settings });
  const kept = await keep(ports, session, judgement, batch);
  return isLast(judgement) || kept.kind === "give-up" ? kept : "again-in-a-fresh-session";
}

/** A call that came back from a batch. */
export type LandedCall = Omit<JudgeCall, "boundUsd"> & {
  readonly fence: number;
  readonly batch: { readonly batchId: string; readonly judgementId: string };
};

/**
 * Goes on with a request from the call that a batch has answered, under the claim that was handed over with it: keeps
 * what came, and ends the request or gives it back for a further call. Safe to repeat: what was kept is kept once.
 */
export async function landJudgement(
  ports: JudgePorts,
  requestId: string,
  call: LandedCall,
  result: ChatResult,
): Promise<void> {
  const claim = await ports.store.findJudgeClaim(requestId, call.fence);
  if (claim === null) {
    const { fence, attempt, tryNumber } = call;
    const message = "There is no text to judge: it was pruned.";
    const over: JudgeEnd = { kind: "failed", outcome: "internal", message };
    await ports.store.endJudge(requestId, fence, over, { attempt, tryNumber, spentUsd: null });
    return;
  }
  const session: Session = { claim, settings: await ports.settingsOf(claim), judged: judgedOf(claim.source) };
  const known = claim.recorded.find(({ attempt }) => attempt === call.attempt);
  if (known === undefined) {
    const next = await conclude(ports, session, call, result, call.batch);
    if (next !== "again-in-a-fresh-session") return;
  } else if (isLast(known)) {
    // A worker died between the judgement and the end of its request.
    await finish(ports, session, known.status);
    return;
  }
  await ports.store.releaseJudge(claim.requestId, claim.fence);
}

/** A request of its own: no earlier message, no tools, nothing of the submitter. */
function requestOf(claim: JudgeClaim, text: JudgeRequestText): ChatRequest {
  const { judge } = claim.plan;
  return {
    provider: judge.provider,
    model: judge.model,
    baseUrl: judge.baseUrl,
    system: text.system,
    messages: [{ role: "user", content: text.user }],
    maxTokens: judge.maxTokens,
    temperature: judge.temperature,
    params: judge.params,
    repeat: claim.plan.repeat,
    keyEnv: judge.keyEnv,
    ...(text.answerSchema === null ? {} : { answerSchema: text.answerSchema }),
  };
}

/** The lane whose limits a judge's call takes: that of its key and model, which trials may use too. */
export function limiterLaneOf(lane: string): string {
  return lane.replace(/^(rehearsal\.)?judge\./, "$1");
}

function reservationIdOf({ requestId, tries, waits }: JudgeClaim, attempt: number): string {
  return `judge~${requestId}~${tries + waits + 1}~${attempt}`;
}

/** Reserves limits and money; null where the call may go out. */
async function admit(
  ports: JudgePorts,
  { claim, settings }: Session,
  { attempt, tryNumber, boundUsd }: JudgeCall,
  inputTokens: number,
  signal: AbortSignal,
): Promise<JudgeResult | null> {
  const lane = limiterLaneOf(claim.lane);
  const limiter = ports.limiterOf(lane);
  const id = reservationIdOf(claim, attempt);
  const release = async (error: unknown): Promise<never> => {
    await ports.store.releaseJudge(claim.requestId, claim.fence);
    throw error;
  };
  if (limiter !== null) {
    const outputTokens = Math.min(600, claim.plan.judge.maxTokens);
    const reservation = { id, inputTokens, outputTokens, tenant: settings.tenant, weight: settings.weight };
    const admission = await admitRequest({ ...ports, limiter }, lane, reservation, signal).catch(release);
    if (admission.kind === "later" || admission.kind === "interrupted") {
      return giveBack(ports, claim, admission.kind === "later" ? admission.afterMs : 0);
    }
    if (admission.kind === "never") {
      return end(ports, claim, { kind: "failed", outcome: "bad_request", message: admission.message }, null);
    }
    if (admission.kind === "parked") {
      const [use] = await limiter.use([lane]);
      // The ledger holds it back at the next claim.
      if (use?.parked?.reason.startsWith(operatorReason)) return giveBack(ports, claim, operatorWaitMs);
      const message = "the judge's lane is parked";
      return end(ports, claim, { kind: "blocked", outcome: "quota_exhausted", message }, null);
    }
    ports.observe.reserved(claim, lane, id);
    const isHeld = admission.limiterMs > 0 && (await ports.mayStart(claim).catch(release)) !== "go";
    if (isHeld) {
      await limiter.cancel(lane, id);
      return giveBack(ports, claim, 0);
    }
  }
  if (boundUsd === "0") return null;
  const { requestId, fence } = claim;
  const call = { requestId, fence, attempt, tryNumber, workerId: ports.workerId, boundUsd };
  const money = await ports.store.openJudgeCall(call).catch(release);
  if (money.kind !== "open") await limiter?.cancel(lane, id);
  return refusalOf(ports, claim, money);
}

/** Most that a call of so many tokens, by the local estimate, can cost. */
function boundOf({ claim, settings }: Session, inputTokens: number): string | null {
  const { factor, tokens } = inputMargin;
  return settings.boundOf(Math.ceil(inputTokens * factor) + tokens, claim.plan.judge.maxTokens);
}

/** What the budget's answer means for a request; null where its call may go out. */
async function refusalOf(ports: JudgePorts, claim: JudgeClaim, money: RequestAdmission): Promise<JudgeResult | null> {
  if (money.kind === "open") return null;
  if (money.kind === "lost") return { kind: "give-up", reason: "lost-lease" };
  if (money.kind === "later") return giveBack(ports, claim, Math.round(budgetWaitMs * (1 + ports.fraction())));
  const message = `budgetUsd ${money.budgetUsd} does not reach for another judgement: $${money.committedUsd} are spent`;
  return end(ports, claim, { kind: "blocked", outcome: "budget_blocked", message }, null);
}

function tryNumberOf({ tries, waits }: JudgeClaim): number {
  return tries + waits + 1;
}

async function settle(ports: JudgePorts, claim: JudgeClaim, attempt: number, result: ChatResult): Promise<void> {
  const lane = limiterLaneOf(claim.lane);
  const limiter = ports.limiterOf(lane);
  if (limiter === null) return;
  const restMs = ports.retry.baseDelayMs * (1 + ports.fraction());
  const reason = await settleRequest(limiter, lane, reservationIdOf(claim, attempt), result, restMs).catch(() => null);
  if (reason === null || result.kind === "reply") return;
  const blocked = await ports.store.blockJudgeLane(claim.lane, result.outcome, result.message);
  ports.observe.parked(claim.lane, reason, blocked);
}

/** What a candidate can provoke: it never yields a level of the heuristic. */
const candidateMadeOutcomes: ReadonlySet<FailureOutcome> = new Set<FailureOutcome>([
  "context_too_long",
  "bad_request",
  "prompt_truncated",
]);

/** A call that failed. An outage is bridged by the heuristic, visibly, while the request stays queued. */
async function fail(
  ports: JudgePorts,
  session: Session,
  attempt: number,
  failure: ChatResult & { readonly kind: "failure" },
): Promise<JudgeResult> {
  const { claim, settings, judged } = session;
  const cost = settings.costOf(failure.usage);
  const spentUsd = cost?.usd ?? (mayBeBilled(failure.outcome) ? null : "0");
  const call = { attempt, tryNumber: tryNumberOf(claim), spentUsd };
  const decided = decideFailure(
    failure,
    { tries: claim.tries, waits: claim.waits, maxTries: ports.maxTries },
    ports.retry,
    ports.fraction(),
  );
  if (candidateMadeOutcomes.has(failure.outcome)) {
    return end(ports, claim, { kind: "failed", outcome: failure.outcome, message: failure.message }, call);
  }
  // A dry run stands for nothing, so nothing may stand in for it.
  if (claim.plan.round !== "dryRun") {
    const outage = `${failure.outcome}: ${failure.message}`;
    await ports.store.addJudgement(heuristicJudgement(claim, judged, { outage }));
  }
  if (decided.kind === "retry" && decided.spends !== "empty") {
    const { outcome, message, afterMs, spends } = decided;
    return end(ports, claim, { kind: "retry", outcome, message, afterMs, spends }, call);
  }
  const kind = decided.kind === "blocked" ? "blocked" : "failed";
  return end(ports, claim, { kind, outcome: failure.outcome, message: failure.message }, call);
}

async function keep(
  ports: JudgePorts,
  session: Session,
  judgement: JudgementRecord,
  batch?: LandedCall["batch"],
): Promise<JudgeResult> {
  const { claim } = session;
  const { requestId, fence } = claim;
  const ofCall = { requestId, fence, attempt: judgement.attempt, tryNumber: tryNumberOf(claim) };
  const of = batch === undefined ? ofCall : { ...ofCall, batch };
  const kept = await held(ports, claim, () => ports.store.recordJudgement(judgement, of));
  if (kept === "late") {
    ports.observe.late(claim);
    return { kind: "give-up", reason: "lost-lease" };
  }
  return isLast(judgement) ? finish(ports, session, judgement.status) : { kind: "done" };
}

/** A further opinion is asked before the end: else a worker that dies in between would leave the result half judged. */
async function finish(
  ports: JudgePorts,
  { claim, settings }: Session,
  outcome: JudgementRecord["status"],
): Promise<JudgeResult> {
  await askFurther(ports.store, claim, settings);
  return end(ports, claim, { kind: "done", outcome }, null);
}

async function giveBack(ports: JudgePorts, claim: JudgeClaim, afterMs: number): Promise<JudgeResult> {
  await ports.store.releaseJudge(claim.requestId, claim.fence);
  return { kind: "retry-later", afterMs };
}

async function end(
  ports: JudgePorts,
  claim: JudgeClaim,
  over: JudgeEnd,
  call: { readonly attempt: number; readonly tryNumber: number; readonly spentUsd: string | null } | null,
): Promise<JudgeResult> {
  const fate = await held(ports, claim, () => ports.store.endJudge(claim.requestId, claim.fence, over, call));
  if (fate === "lost") return { kind: "give-up", reason: "lost-lease" };
  ports.observe.ended(claim, over);
  return over.kind === "retry" ? { kind: "retry-later", afterMs: over.afterMs } : { kind: "done" };
}

const never = new AbortController().signal;

/** A verdict in memory is paid for: a ledger that is away for a while must not have it bought again. */
function held<T>(ports: JudgePorts, claim: JudgeClaim, write: () => Promise<T>): Promise<T> {
  const of = { trialId: claim.requestId, onTrouble: (error: unknown) => ports.observe.trouble(claim, error) };
  return insist(ports, of, write, never);
}
