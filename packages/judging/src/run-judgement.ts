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

import { heuristicJudgement, judgementOf, precheckJudgement } from "./judgement-records.ts";
import type { JudgePorts, JudgeResult, JudgeSettings } from "./judge-ports.ts";
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
  const { claim, judged } = session;
  if (ports.isDraining?.() === true) return giveBack(ports, claim, 0);
  const { promptVersion } = claim.plan;
  const text = buildJudgeRequest({
    judged,
    version: promptVersion,
    formatOnly: attempt > 1,
    random: { hex: ports.hex },
  });
  const request = requestOf(claim, text);
  const inputTokens = estimateTokens(text.system) + estimateTokens(text.user);
  const admitted = await admit(ports, session, { attempt, inputTokens }, signal);
  if (admitted !== null) return admitted;
  const result = await callProvider(ports, request, signal);
  if (result === "interrupted") return giveBack(ports, claim, 0);
  ports.observe.called(claim, callFactsOf(result, session.settings.costOf(result.usage)?.usd ?? null));
  await settle(ports, claim, attempt, result);
  if (result.kind === "failure" && result.outcome !== "filtered") return fail(ports, session, attempt, result);
  // A filter's refusal is the judge's: unscored with what was received, and another judge may be asked.
  const reading: VerdictReading =
    result.kind === "failure"
      ? { kind: "unreadable", reason: "refused", message: `filtered: ${result.message}` }
      : readVerdict(result.text, {
          version: promptVersion,
          response: judged.response,
          nonce: text.nonce,
          finishReason: result.finishReason,
        });
  const judgement = judgementOf({
    claim,
    judged,
    request: text,
    sent: request,
    attempt,
    result,
    reading,
    settings: session.settings,
  });
  const kept = await keep(ports, session, judgement);
  return isLast(judgement) || kept.kind === "give-up" ? kept : "again-in-a-fresh-session";
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
  { attempt, inputTokens }: { readonly attempt: number; readonly inputTokens: number },
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
  const boundUsd = settings.boundOf(
    Math.ceil(inputTokens * inputMargin.factor) + inputMargin.tokens,
    claim.plan.judge.maxTokens,
  );
  if (boundUsd === "0") return null;
  const { requestId, fence } = claim;
  const call = { requestId, fence, attempt, tryNumber: tryNumberOf(claim), workerId: ports.workerId, boundUsd };
  const money = await ports.store.openJudgeCall(call).catch(release);
  if (money.kind === "open") return null;
  await limiter?.cancel(lane, id);
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

async function keep(ports: JudgePorts, session: Session, judgement: JudgementRecord): Promise<JudgeResult> {
  const { claim } = session;
  const { requestId, fence } = claim;
  const of = { requestId, fence, attempt: judgement.attempt, tryNumber: tryNumberOf(claim) };
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
