import { type ConversationReply, nextTurn } from "@hallumaze/ariadne";
import { conversationOf, prepareTrial, scoreConversation } from "@hallumaze/engine";
import { answerAsSolver, type Message, type SolverName } from "@hallumaze/solvers";
import type { CellPlan } from "@hallumaze/sweep";

import type { StoredExchange, TrialDossier } from "../src/index.ts";

/** A plan of a built-in solver; 5×5, seed 2002, English, with mirage and confidences unless told. */
export function simPlan(solver: SolverName, change: Partial<CellPlan> = {}): CellPlan {
  return {
    format: 1,
    provider: "sim",
    model: solver,
    baseUrl: null,
    temperature: null,
    params: {},
    maxTokens: 20_000,
    promptVersion: "v1.1",
    generator: "dfs",
    placement: "path-order",
    seed: 2002,
    size: 5,
    group: "A",
    mirage: true,
    language: "en",
    confidence: true,
    repeat: 0,
    rehearsal: false,
    ...change,
  };
}

/** An exchange that came in whole. */
export function exchange(change: Partial<StoredExchange> & { readonly exchangeId: string }): StoredExchange {
  return {
    turn: 0,
    tryNumber: 1,
    recordedAtMs: 5000,
    isLate: false,
    text: "",
    isPruned: false,
    reasoning: null,
    finishReason: "stop",
    nativeFinishReason: null,
    outcome: null,
    errorMessage: null,
    servedModel: null,
    servedBy: null,
    inputTokens: null,
    outputTokens: null,
    cachedTokens: null,
    reasoningTokens: null,
    costUsd: null,
    costBoundUsd: null,
    queueMs: null,
    limiterMs: null,
    httpMs: 1200,
    ttftMs: null,
    ...change,
  };
}

/** A done trial whose replies are these. */
export function dossier(plan: CellPlan, replies: readonly ConversationReply[]): TrialDossier {
  const scored = scoreConversation(plan, replies, { shadow: false });
  const { seed, robust, published } = scored.profiles;
  const conversation = replies.map(({ text, finishReason }, turn) =>
    exchange({ exchangeId: `exchange-${turn}`, turn, text, finishReason }),
  );
  return {
    trialId: "trial",
    sweepId: "sweep-id",
    sweep: "sweep",
    specJson: JSON.stringify({ name: "sweep", models: ["sim/dfs-honest"], seeds: [2002], sizes: [5] }),
    alias: plan.model,
    plan,
    state: "done",
    outcome: scored.outcome,
    message: null,
    tries: 1,
    isReused: false,
    createdAtMs: 1000,
    finishedAtMs: 6000,
    costUsd: null,
    resultId: null,
    shadow: false,
    conversation,
    exchanges: conversation,
    scores: { seed: seed.scores, robust: robust.scores, published: published.scores },
  };
}

/** A trial as a built-in solver answers it, hints and all. */
export function simDossier(solver: SolverName, change: Partial<CellPlan> = {}): TrialDossier {
  const plan = simPlan(solver, change);
  const { maze, prompt } = prepareTrial(plan);
  const setting = conversationOf(plan, maze, false);
  const messages: Message[] = [{ role: "user", content: prompt.user }];
  const replies: ConversationReply[] = [];
  for (;;) {
    const reply = answerAsSolver(solver, { system: prompt.system, messages, repeat: 0, maxTokens: 20_000, params: {} });
    replies.push(reply);
    const turn = nextTurn(setting, replies);
    if (turn === null) return dossier(plan, replies);
    messages.push({ role: "assistant", content: reply.text }, { role: "user", content: turn.text });
  }
}
