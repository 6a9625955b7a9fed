import { type DecodedMaze, decodeMaze } from "@hallumaze/maze";
import type { Language } from "@hallumaze/protocol";

/** One message of the conversation. */
export interface Message {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** What a solver knows: only what the conversation tells it. */
export interface Task {
  readonly maze: DecodedMaze;
  readonly language: Language;
  readonly asksConfidence: boolean;
  /** The first prompt, which holds the rules. */
  readonly prompt: string;
  /** What the user said last, where that is no longer the first prompt; else null. */
  readonly followUp: string | null;
}

/** Reads the task out of a conversation; null where its first user message holds no whole maze. */
export function readTask(messages: readonly Message[]): Task | null {
  const said = messages.filter(({ role }) => role === "user").map(({ content }) => content);
  const prompt = said[0] ?? "";
  const maze = decodeMaze(prompt);
  if (maze === null) return null;
  return {
    maze,
    language: /\p{Script=Hangul}/u.test(prompt) ? "ko" : "en",
    asksConfidence: /확신도|confidence/iu.test(prompt),
    prompt,
    followUp: said.length > 1 ? (said.at(-1) ?? null) : null,
  };
}
