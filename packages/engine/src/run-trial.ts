import { type ConversationSetting, nextTurn } from "@hallumaze/ariadne";
import { hintVersion, isEmptyReply } from "@hallumaze/protocol";

import { isBatchLane } from "@hallumaze/sweep";

import { askTurn, holderOf, parkingOutcomes, type TurnResult } from "./ask-turn.ts";
import { decideEmpty, decideFailure } from "./failure-policy.ts";
import { insist } from "./insist.ts";
import type { ChatMessage, ChatResult } from "./ports/provider.ts";
import type { Delivery, DeliveryResult } from "./ports/queue.ts";
import type { Claim, RecordedFailure, RecordedReply, TrialEnd, UnansweredEnd } from "./ports/store.ts";
import { buildRequest, conversationOf, countTokens, type PreparedTrial, prepareTrial } from "./prepare-trial.ts";
import { isPromptCut } from "./prompt-cut.ts";
import { scoreConversation } from "./score-reply.ts";
import type { ModelSettings, TrialPorts, TrialResult } from "./trial-ports.ts";

/**
 * Runs one trial: claim, then turn by turn ask (or take the reply that an earlier run recorded) and record, then read,
 * score, end.
 *
 * Safe to call twice or at once from several processes for one trial: the claim's fence decides whose writes count.
 * Rejects only where the ledger is out of reach; the trial then stays retryable. When `signal` fires before the reply
 * is there, the claim is given back unspent; replies of earlier turns stand.
 */
export async function runTrial(ports: TrialPorts, delivery: Delivery, signal: AbortSignal): Promise<TrialResult> {
  const answer = await ports.store.claim({ ...delivery, workerId: ports.workerId, leaseMs: ports.leaseMs });
  if (answer.kind === "nothing") return { kind: "give-up", reason: "not-ours" };
  if (answer.kind === "later") return { kind: "retry-later", afterMs: answer.afterMs };
  const { claim } = answer;
  // Its sweep's mode was changed while a delivery of it was on its way: whoever gathers batches finds it in the ledger.
  if (isBatchLane(claim.lane) && ports.defer === undefined) {
    await ports.store.release(claim.trialId, claim.fence);
    return { kind: "give-up", reason: "not-ours" };
  }
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

/** A trial under way. */
interface Conversation {
  readonly claim: Claim;
  readonly trial: PreparedTrial;
  readonly settings: ModelSettings;
  readonly setting: ConversationSetting;
  /** What has been said after the first prompt: replies by turn, and what followed each. */
  readonly replies: ReceivedReply[];
  readonly said: ChatMessage[];
}

type ReceivedReply = Pick<RecordedReply, "text" | "finishReason" | "inputTokens">;

async function runClaimed(ports: TrialPorts, claim: Claim, signal: AbortSignal): Promise<TrialResult> {
  const settings = await ports.settingsOf(claim);
  const trial = prepareTrial(claim.plan);
  const setting = conversationOf(claim.plan, trial.maze, settings.shadow);
  const conversation: Conversation = { claim, trial, settings, setting, replies: [], said: [] };
  const { ariadne } = claim.plan;
  if (ariadne !== undefined && ariadne.version !== hintVersion) {
    const message = `hints of version ${ariadne.version} are not known to this program, which has ${hintVersion}`;
    const keptTurns = claim.recorded.length;
    return endWith(ports, claim, { kind: "failed", outcome: "internal", message, keptTurns }, signal);
  }
  for (;;) {
    const end = await takeTurn(ports, conversation, signal);
    if (end === null) continue;
    // The claim goes on with the batch.
    if (end.kind === "deferred") return { kind: "done" };
    return "kind" in end && end.kind === "again"
      ? giveBack(ports, claim, end.afterMs)
      : finish(ports, conversation, end, signal);
  }
}

type TurnEnd =
  | TrialEnd
  | { readonly kind: "again"; readonly afterMs: number }
  | { readonly kind: "late" }
  | { readonly kind: "deferred" };

/** Takes the conversation one reply further; gives what ends it for now, or null where it goes on. */
async function takeTurn(ports: TrialPorts, conversation: Conversation, signal: AbortSignal): Promise<TurnEnd | null> {
  const { claim, replies, said, setting } = conversation;
  const turn = replies.length;
  if (turn > 0) {
    const next = readTurn(setting, replies);
    if (next instanceof Error) return brokenEnd(next, turn);
    if (next === null) return scoredEnd(conversation);
    said.push({ role: "user", content: next.text });
  }
  const recorded = claim.recorded.find((reply) => reply.turn === turn);
  if (recorded) return takeReply(ports, conversation, recorded);
  // A crash between the record of a failure and the end of its try must not give the trial a request for nothing.
  if (claim.recordedFailure) return { ...judgeFailure(ports, claim, claim.recordedFailure), keptTurns: turn };
  const result = await askNext(ports, conversation, signal);
  switch (result.kind) {
    case "again":
    case "late":
    case "deferred":
      return result;
    case "cancelled":
      // Group A's result is its first answer, whatever becomes of its neutral turn.
      return claim.plan.group === "A" && turn > 0 ? scoredEnd(conversation) : { kind: "again", afterMs: 0 };
    case "refused":
      return { ...result.end, keptTurns: turn };
    case "recorded":
      if (result.result.kind === "reply") return takeReply(ports, conversation, receivedOf(result.result));
      return { ...decideFailure(result.result, claim, ports.retry, ports.fraction()), keptTurns: turn };
  }
}

function readTurn(
  setting: ConversationSetting,
  replies: readonly ReceivedReply[],
): ReturnType<typeof nextTurn> | Error {
  try {
    return nextTurn(setting, replies);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function receivedOf(result: ChatResult & { readonly kind: "reply" }): ReceivedReply {
  return { text: result.text, finishReason: result.finishReason, inputTokens: result.usage.inputTokens };
}

/** Adds a reply to the conversation; gives an end where it cannot stand as one. */
function takeReply(ports: TrialPorts, conversation: Conversation, reply: ReceivedReply): TrialEnd | null {
  const { claim, replies, said } = conversation;
  const keptTurns = replies.length;
  const cut = isPromptCut(sentTokens(conversation), reply.inputTokens);
  if (cut) {
    const failure = { outcome: "prompt_truncated", message: cut, retryAfterMs: null } as const;
    return { ...decideFailure(failure, claim, ports.retry, 0), keptTurns };
  }
  if (isEmptyReply(reply.text, reply.finishReason)) {
    const retry = decideEmpty(claim, ports.retry, ports.fraction());
    if (retry !== null) return { ...retry, keptTurns };
  }
  replies.push(reply);
  // Half a surrogate pair is no text that every provider takes back.
  said.push({ role: "assistant", content: reply.text.replace(/\p{Surrogate}/gu, "\u{FFFD}") });
  return null;
}

async function askNext(ports: TrialPorts, conversation: Conversation, signal: AbortSignal): Promise<TurnResult> {
  const { claim, trial, settings, said, replies } = conversation;
  const request = buildRequest(claim.plan, trial, settings.keyEnv, said);
  const turn = { turn: replies.length, request, inputTokens: sentTokens(conversation) };
  return ports.defer === undefined ? askTurn(ports, claim, settings, turn, signal) : ports.defer(claim, settings, turn);
}

function sentTokens({ trial, said }: Conversation): number {
  return trial.promptTokens + countTokens(said);
}

async function giveBack(ports: TrialPorts, claim: Claim, afterMs: number): Promise<TrialResult> {
  await ports.store.release(claim.trialId, claim.fence);
  return { kind: "retry-later", afterMs };
}

/** Writes the end of a try. Group A's result is its first answer: what becomes of its neutral turn takes nothing from it. */
async function finish(
  ports: TrialPorts,
  conversation: Conversation,
  end: Exclude<TurnEnd, { readonly kind: "again" | "deferred" }>,
  signal: AbortSignal,
): Promise<TrialResult> {
  const { claim, replies } = conversation;
  if (end.kind === "late") {
    ports.observe.late(claim);
    return { kind: "give-up", reason: "lost-lease" };
  }
  // Where the answers cannot be scored, that comes out again.
  const isShadowLost = end.kind === "failed" && claim.plan.group === "A" && replies.length > 0;
  return endWith(ports, claim, isShadowLost ? scoredEnd(conversation) : end, signal);
}

function judgeFailure(ports: TrialPorts, claim: Claim, failure: RecordedFailure): UnansweredEnd {
  // Whether the lost run had parked the lane is not known: the trial waits, and asks again where it had not.
  const park = parkingOutcomes.includes(failure.outcome);
  return decideFailure({ ...failure, retryAfterMs: null, park }, claim, ports.retry, ports.fraction());
}

function scoredEnd({ claim, replies, setting }: Conversation): TrialEnd {
  try {
    return { kind: "done", scored: scoreConversation(claim.plan, replies, setting), keptTurns: replies.length };
  } catch (error) {
    return brokenEnd(error, replies.length);
  }
}

/** The replies are recorded, so a mended program scores them later without asking again. */
function brokenEnd(error: unknown, keptTurns: number): TrialEnd {
  const reason = error instanceof Error ? error.message : String(error);
  return { kind: "failed", outcome: "internal", message: `scoring failed: ${reason}`, keptTurns };
}

async function endWith(ports: TrialPorts, claim: Claim, end: TrialEnd, signal: AbortSignal): Promise<TrialResult> {
  const fate = await insist(
    ports,
    holderOf(ports, claim),
    () => ports.store.endTry(claim.trialId, claim.fence, end),
    signal,
  );
  ports.observe.ended(claim, end, fate);
  if (fate === "lost") return { kind: "give-up", reason: "lost-lease" };
  return end.kind === "retry" ? { kind: "retry-later", afterMs: end.afterMs } : { kind: "done" };
}
