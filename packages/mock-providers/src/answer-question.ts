import { createRandom, sha256Hex } from "@hallumaze/foundation";
import { simJudge } from "@hallumaze/judge";
import { estimateTokens } from "@hallumaze/protocol";
import { answerAsSolver, type SolverName, solverNames } from "@hallumaze/solvers";

import type { Question, Reply, ReplyUsage } from "./dialect.ts";
import { matchesPattern } from "./play-script.ts";
import type { ParsedRule } from "./script-schema.ts";

/** Which baseline agent answers: one for all models, or by model pattern (the first that fits). */
export type SolverChoice = SolverName | Readonly<Record<string, SolverName>>;

/** What an answer depends on beside the question. */
export interface AnswerContext {
  readonly solver: SolverChoice | null;
  readonly seed: number;
  /** The rule's wishes. */
  readonly wish: NonNullable<ParsedRule["reply"]>;
  readonly key: string | null;
  /** Number of the request, for the reply's id and for draws. */
  readonly number: number;
  readonly nowMs: number;
}

const defaultSolver: SolverName = "dfs-honest";
const defaultMaxTokens = 8192;
const thoughts = "I read the map from START and follow the openings cell by cell, noting where I turn back.";

/**
 * Answers a question as the baseline agent of its model, or as the judge by rule, changed as the rule wishes. The same question and seed give the
 * same text: the server knows no repeats. Token counts are estimates; reasoning comes out of the request's token limit.
 */
export function answerQuestion(question: Question, context: AnswerContext): Reply {
  const { wish } = context;
  const reasoning = wish.reasoning ?? (question.thinks ? thoughts : "");
  const reasoningTokens = wish.usage?.reasoningTokens ?? estimateTokens(reasoning);
  const answer = solverAnswer(question, context, reasoningTokens);
  const echo = wish.echoKey === true ? ` ${context.key ?? ""}` : "";
  const text = `${wish.text ?? answer.text}${wish.append ?? ""}${echo}`;
  return {
    id: `rehearsal-${context.number}`,
    createdSeconds: Math.floor(context.nowMs / 1000),
    servedModel: wish.servedModel ?? question.model,
    text,
    reasoning,
    finish: wish.finish ?? (wish.text === undefined ? answer.finishReason : "stop"),
    nativeFinish: wish.nativeFinish ?? null,
    shape: wish.shape ?? "normal",
    usage: usageOf(question, context, text, reasoningTokens),
  };
}

/**
 * Chooses the agent of a model: by the choice given, else by the end of the model's name (`gpt-4o-oracle`,
 * `any:wall-follower`), else `dfs-honest`.
 */
export function solverOf(model: string, choice: SolverChoice | null): SolverName {
  const chosen =
    typeof choice === "string"
      ? choice
      : Object.entries(choice ?? {}).find(([pattern]) => matchesPattern(pattern, model))?.[1];
  if (chosen !== undefined) return chosen;
  return solverNames.find((name) => model === name || /[-:/]/.test(separatorBefore(model, name))) ?? defaultSolver;
}

/** A model of such a name judges by rule, as `sim/judge` does: `judge`, `gpt-4o-judge`. */
function isJudge(model: string): boolean {
  return /(?:^|[-:/])judge$/.test(model);
}

function separatorBefore(model: string, name: string): string {
  return model.endsWith(name) ? model.charAt(model.length - name.length - 1) : "";
}

function solverAnswer(question: Question, context: AnswerContext, reasoningTokens: number) {
  // A scripted text spares the work of an answer: large loads are driven this way.
  if (context.wish.text !== undefined) return { text: "", finishReason: "stop" as const };
  if (context.wish.solver === undefined && isJudge(question.model)) {
    const user = question.messages.findLast(({ role }) => role === "user")?.content ?? "";
    return { text: simJudge({ system: question.system, user, params: {} }), finishReason: "stop" as const };
  }
  const solver = context.wish.solver ?? solverOf(question.model, context.solver);
  return answerAsSolver(solver, {
    system: question.system,
    messages: question.messages,
    repeat: 0,
    maxTokens: Math.max(1, (question.maxTokens ?? defaultMaxTokens) - reasoningTokens),
    // Enters the agent's draw alone: two models of one agent differ.
    params: { rehearsal: `${context.seed} ${question.model}` },
  });
}

function usageOf(question: Question, context: AnswerContext, text: string, reasoningTokens: number): ReplyUsage {
  const wished = context.wish.usage ?? {};
  const output = wished.outputTokens;
  return {
    inputTokens: wished.inputTokens ?? question.inputTokens,
    outputTokens:
      output === undefined
        ? estimateTokens(text) + reasoningTokens
        : typeof output === "number"
          ? output
          : drawTokens(output, `${context.seed} ${context.number} ${sha256Hex(question.model)}`),
    cachedTokens: wished.cachedTokens ?? 0,
    reasoningTokens,
  };
}

/** A log-normal draw by the method of Box and Muller. */
function drawTokens(
  { median, sigma, max }: { readonly median: number; readonly sigma: number; readonly max?: number | undefined },
  seed: string,
): number {
  const random = createRandom(seed);
  const normal = Math.sqrt(-2 * Math.log(1 - random.fraction())) * Math.cos(2 * Math.PI * random.fraction());
  return Math.max(1, Math.min(Math.round(median * Math.exp(sigma * normal)), max ?? Infinity));
}
