import type { Maze } from "@hallumaze/maze";
import { isNonAnswer } from "@hallumaze/metrics";
import {
  buildHint,
  type FinishReason,
  type Language,
  type Reading,
  type ReadingMode,
  readReply,
} from "@hallumaze/protocol";

import { findTriggers, type Trigger } from "./find-triggers.ts";
import { type FollowedAnswer, followAnswers } from "./follow-answers.ts";
import { judgeAnswers } from "./merge-answers.ts";
import { stripEcho } from "./strip-echo.ts";

/** What a conversation is held under. The first prompt is the same in all groups and no part of this package. */
export interface ConversationSetting {
  readonly maze: Maze;
  /** True where the maze's text carried the tempting hints. */
  readonly mirage: boolean;
  readonly confidenceAsked: boolean;
  readonly language: Language;
  /** A: no hint. B: a hint when triggered. C: a note to every trial not solved. */
  readonly group: "A" | "B" | "C";
  /** The most hints of B and C, 1 … 10. */
  readonly hints: number;
  /** Group A: whether a triggered trial gets its neutral turn. */
  readonly shadow: boolean;
}

/** One answer of the model. */
export interface ConversationReply {
  readonly text: string;
  /** How the provider says it ended; null where it does not say. */
  readonly finishReason: FinishReason | null;
}

/** A further user turn. */
export interface Turn {
  readonly kind: "hint" | "note" | "continue";
  readonly version: string;
  readonly text: string;
}

/** A turn with the triggers that held before it. */
export interface GivenTurn extends Turn {
  readonly triggers: readonly Trigger[];
}

/** A conversation as its rules allow it: turn k was given after reply k, and answered where there is a reply k+1. */
export interface Conversation {
  readonly turns: readonly GivenTurn[];
  /** The replies that belong to it: one that no turn asked for does not. */
  readonly replies: readonly ConversationReply[];
  /** The replies, read strictly. */
  readonly readings: readonly Reading[];
  /** What the first answer is, read strictly. */
  readonly first: {
    readonly solved: boolean;
    /** True where it holds no walk: there is nothing to hint at. */
    readonly noWalk: boolean;
    /** Empty where it is solved or holds no walk. */
    readonly triggers: readonly Trigger[];
  };
}

/**
 * What to say after these replies (in order, at least one); null where the conversation has ended. Decided from the
 * walk, strictly read, never from words. Pure: the same replies give the same turn. SOURCE: benchmark specification,
 * section 7.
 */
export function nextTurn(setting: ConversationSetting, replies: readonly ConversationReply[]): Turn | null {
  const { turns } = followConversation(setting, replies);
  const pending = turns[replies.length - 1];
  return pending === undefined ? null : { kind: pending.kind, version: pending.version, text: pending.text };
}

/** Replays a conversation: which turns its answers called for. Throws a RangeError where there is no reply. */
export function followConversation(setting: ConversationSetting, replies: readonly ConversationReply[]): Conversation {
  const turns: GivenTurn[] = [];
  const readings: Reading[] = [];
  let first: Conversation["first"] | null = null;
  for (const reply of replies) {
    readings.push(readAnswer(setting, reply, turns, "strict"));
    const state = judgeState(setting, readings);
    first ??= { solved: state.solved, noWalk: state.noWalk, triggers: state.triggers };
    const turn = turns.length < turnsAllowed(setting) ? turnAfter(setting, state) : null;
    if (turn === null) break;
    turns.push(turn);
  }
  if (first === null) throw new RangeError("a conversation has at least one reply");
  return { turns, replies: replies.slice(0, readings.length), readings, first };
}

/** Reads an answer without what it repeats of the turns before it. */
export function readAnswer(
  { maze }: ConversationSetting,
  { text, finishReason }: ConversationReply,
  turns: readonly Turn[],
  mode: ReadingMode,
): Reading {
  const said = turns.map((turn) => turn.text);
  return readReply(stripEcho(text, said), { size: maze.size, finishReason, mode, maze });
}

interface State {
  readonly solved: boolean;
  readonly noWalk: boolean;
  readonly triggers: readonly Trigger[];
  readonly findings: ReturnType<typeof findTriggers> | null;
}

function judgeState(setting: ConversationSetting, readings: readonly Reading[]): State {
  const { maze } = setting;
  const solved = judgeAnswers(maze, readings, setting).walk.sr === 1;
  const last = readings.at(-1);
  const noWalk = last === undefined || isNonAnswer(last);
  const answer: FollowedAnswer | undefined = solved || noWalk ? undefined : followAnswers(maze, readings).at(-1);
  const findings = answer === undefined ? null : findTriggers(maze, answer);
  return { solved, noWalk, triggers: findings?.triggers ?? [], findings };
}

function turnsAllowed({ group, hints, shadow }: ConversationSetting): number {
  if (group === "A") return shadow ? 1 : 0;
  return hints;
}

function turnAfter({ group, language }: ConversationSetting, { findings, triggers }: State): GivenTurn | null {
  if (findings === null || (group !== "C" && triggers.length === 0)) return null;
  const { facts } = findings;
  switch (group) {
    case "A":
      return { kind: "continue", triggers, ...buildHint({ kind: "continue", language }) };
    case "B":
      return { kind: "hint", triggers, ...buildHint({ kind: "hint", language, facts }) };
    case "C":
      return { kind: "note", triggers, ...buildHint({ kind: "note", language, facts }) };
  }
}
