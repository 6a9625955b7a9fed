import { type ConversationReply, type ConversationSetting, nextTurn, readConversation } from "@hallumaze/ariadne";
import { generateMaze } from "@hallumaze/maze";
import { scorePublished, scoreRobust, scoreSeed, summariseWalk, type Walk } from "@hallumaze/metrics";
import { buildPrompt } from "@hallumaze/protocol";
import { answerAsSolver, type Message, type SolverName } from "@hallumaze/solvers";
import type { TrialSource } from "@hallumaze/trials";

/** What a baseline agent is asked. */
export interface SimCell {
  readonly solver: SolverName;
  readonly alias?: string;
  readonly size?: number;
  readonly seed: number;
  readonly group?: "A" | "B" | "C";
  readonly mirage?: boolean;
  readonly language?: "ko" | "en";
  readonly repeat?: number;
  readonly params?: Readonly<Record<string, number>>;
}

/** Runs a baseline agent in memory and scores it as a worker does. */
export function simTrial(cell: SimCell): { readonly row: TrialSource; readonly walk: Walk } {
  const {
    solver,
    seed,
    alias = solver,
    size = 5,
    group = "A",
    mirage = true,
    language = "en",
    repeat = 0,
    params = {},
  } = cell;
  const maze = generateMaze({ size, seed });
  const setting: ConversationSetting = {
    maze,
    mirage,
    confidenceAsked: true,
    language,
    group,
    hints: 1,
    shadow: group === "A",
  };
  const { system, user } = buildPrompt({ maze, mirage, language, confidence: true });
  const messages: Message[] = [{ role: "user", content: user }];
  const replies: ConversationReply[] = [];
  for (;;) {
    const reply = answerAsSolver(solver, { system, messages, repeat, maxTokens: 20_000, params });
    replies.push(reply);
    const turn = nextTurn(setting, replies);
    if (turn === null) break;
    messages.push({ role: "assistant", content: reply.text }, { role: "user", content: turn.text });
  }
  const { reading, walk, record } = readConversation(setting, replies, "strict");
  const row: TrialSource = {
    alias,
    plan: { generator: "dfs", placement: "path-order", seed, size, group, mirage, language, confidence: true, repeat },
    state: "done",
    outcome: reading.outcome,
    scores: {
      seed: scoreSeed(reading, walk, { size }),
      robust: scoreRobust(maze, reading, walk, { confidenceAsked: true }),
      published: scorePublished(maze, replies[0]?.text ?? ""),
    },
    readingJson: JSON.stringify({ walk: summariseWalk(walk), ariadne: record }),
  };
  return { row, walk };
}

/** The rows of an agent over seeds 1 … `mazes`. */
export function simRows(mazes: number, cell: Omit<SimCell, "seed">): TrialSource[] {
  return Array.from({ length: mazes }, (_, at) => simTrial({ ...cell, seed: at + 1 }).row);
}
