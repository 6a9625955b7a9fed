import { generateMaze, type Maze } from "@hallumaze/maze";
import { buildPrompt, estimateTokens, type Prompt } from "@hallumaze/protocol";
import type { CellPlan } from "@hallumaze/sweep";

import type { ChatRequest } from "./ports/provider.ts";

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

/** The first request of a trial. */
export function buildRequest(plan: CellPlan, trial: PreparedTrial, keyEnv: string | null): ChatRequest {
  return {
    provider: plan.provider,
    model: plan.model,
    baseUrl: plan.baseUrl,
    system: trial.prompt.system,
    messages: [{ role: "user", content: trial.prompt.user }],
    maxTokens: plan.maxTokens,
    temperature: plan.temperature,
    params: plan.params,
    repeat: plan.repeat,
    keyEnv,
  };
}
