import type { ConversationSetting } from "@hallumaze/ariadne";
import { generateMaze, type Maze } from "@hallumaze/maze";
import { buildPrompt, estimateTokens, type Prompt } from "@hallumaze/protocol";
import type { CellPlan } from "@hallumaze/sweep";

import type { ChatMessage, ChatRequest } from "./ports/provider.ts";

/** What follows from a plan alone. */
export interface PreparedTrial {
  readonly maze: Maze;
  readonly prompt: Prompt;
  /** Local estimate of the prompt's tokens. */
  readonly promptTokens: number;
}

/** The maze of a plan. */
export function mazeOf(plan: CellPlan): Maze {
  return generateMaze({ size: plan.size, seed: plan.seed, generator: plan.generator, placement: plan.placement });
}

/** Builds the maze and the prompt of a plan; the same plan always gives the same bytes. */
export function prepareTrial(plan: CellPlan): PreparedTrial {
  const maze = mazeOf(plan);
  const prompt = buildPrompt({ maze, mirage: plan.mirage, language: plan.language, confidence: plan.confidence });
  return { maze, prompt, promptTokens: estimateTokens(prompt.system) + estimateTokens(prompt.user) };
}

/** What decides how the trial's conversation goes on after its first answer. */
export function conversationOf(plan: CellPlan, maze: Maze, shadow: boolean): ConversationSetting {
  return {
    maze,
    mirage: plan.mirage,
    confidenceAsked: plan.confidence,
    language: plan.language,
    group: plan.group,
    hints: plan.ariadne?.hints ?? 0,
    shadow: shadow && plan.group === "A",
  };
}

/** Local estimate of the tokens of what was said after the first prompt. */
export function countTokens(said: readonly ChatMessage[]): number {
  return said.reduce((sum, { content }) => sum + estimateTokens(content), 0);
}

/** A request of a trial: the first prompt, and the whole conversation since. */
export function buildRequest(
  plan: CellPlan,
  trial: PreparedTrial,
  keyEnv: string | null,
  said: readonly ChatMessage[] = [],
): ChatRequest {
  return {
    provider: plan.provider,
    model: plan.model,
    baseUrl: plan.baseUrl,
    system: trial.prompt.system,
    messages: [{ role: "user", content: trial.prompt.user }, ...said],
    maxTokens: plan.maxTokens,
    temperature: plan.temperature,
    params: plan.params,
    repeat: plan.repeat,
    keyEnv,
  };
}
