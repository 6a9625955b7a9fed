import type { Maze } from "@hallumaze/maze";
import { scoreRobust, scoreSeed, type Walk } from "@hallumaze/metrics";
import type { Reading, ReadingMode } from "@hallumaze/protocol";

import {
  type Conversation,
  type ConversationReply,
  type ConversationSetting,
  followConversation,
  type GivenTurn,
  readAnswer,
} from "./converse.ts";
import type { Trigger } from "./find-triggers.ts";
import { followAnswers } from "./follow-answers.ts";
import { type HintResponse, judgeResponse } from "./judge-response.ts";
import { judgeAnswers } from "./merge-answers.ts";

/** A hint or note that was given and answered, and what the answer made of it. */
export interface HintOutcome extends HintResponse {
  readonly kind: "hint" | "note";
  /** Why; of a note, what would have triggered a hint, which may be nothing. */
  readonly triggers: readonly Trigger[];
}

/** What a triggered trial of group A does when it is only asked to continue. Kept apart from the trial's result. */
export interface ShadowOutcome extends HintResponse {
  /** Of the conversation with the shadow's answer, in the profile `seed`: 0 … 0.9. */
  readonly meiSeed: number;
  /** The same in the profile `robust`: 0 … 1. */
  readonly meiRobust: number;
  readonly sr: 0 | 1;
}

/** What became of the hints of one trial. Plain JSON. */
export interface AriadneRecord {
  readonly group: "A" | "B" | "C";
  /** The first answer was right: nothing to hint at. */
  readonly solvedAtOnce: boolean;
  /** The first answer holds no walk (empty, refused, unreadable, cut off at once): there is nothing to hint at either. */
  readonly noWalk: boolean;
  /** Of the first answer; empty where it was solved, holds no walk or shows none. */
  readonly triggers: readonly Trigger[];
  /** Groups B and C: in order. A turn without an answer is not among them. */
  readonly hints: readonly HintOutcome[];
  /** Group A: null where there was no shadow turn. */
  readonly shadow: ShadowOutcome | null;
}

/** A conversation's result. */
export interface ConversationResult {
  /** What the trial is scored on: in group A the first answer alone, in B and C the whole conversation. */
  readonly reading: Reading;
  readonly walk: Walk;
  /** Null in group A without shadows, where a trial is a plain one-shot answer. */
  readonly record: AriadneRecord | null;
  /** How many of the walk's steps each reply gave; replies that are not scored have none. */
  readonly stepsOf: readonly number[];
  /** The turn before each reply that belongs to the conversation; null before the first. */
  readonly turns: readonly (GivenTurn | null)[];
}

/**
 * Reads a conversation's replies (in order, at least one) into what its trial is scored on, and what became of its hints.
 * Replies that no turn asked for are ignored. Which turns were given was decided on the strict reading, whatever `mode`
 * the result is read in. Pure. SOURCE: benchmark specification, section 7.
 */
export function readConversation(
  setting: ConversationSetting,
  replies: readonly ConversationReply[],
  mode: ReadingMode,
): ConversationResult {
  const conversation = followConversation(setting, replies);
  const { turns } = conversation;
  const readings =
    mode === "strict"
      ? conversation.readings
      : conversation.replies.map((reply, at) => readAnswer(setting, reply, turns.slice(0, at), mode));
  const own = setting.group === "A" ? readings.slice(0, 1) : readings;
  const { reading, walk, stepsOf } = judgeAnswers(setting.maze, own, setting);
  const isPlain = setting.group === "A" && !setting.shadow;
  return {
    reading,
    walk,
    record: isPlain ? null : recordOf(setting, conversation, readings),
    stepsOf,
    turns: conversation.replies.map((_, at) => turns[at - 1] ?? null),
  };
}

function recordOf(
  setting: ConversationSetting,
  { first, turns }: Conversation,
  readings: readonly Reading[],
): AriadneRecord {
  const responses = responsesOf(setting.maze, readings);
  const shadow = setting.group === "A" ? (responses[0] ?? null) : null;
  return {
    group: setting.group,
    solvedAtOnce: first.solved,
    noWalk: first.noWalk,
    triggers: first.triggers,
    hints: turns.flatMap(({ kind, triggers }, at) => {
      const response = responses[at];
      return response === undefined || kind === "continue" ? [] : [{ kind, triggers, ...response }];
    }),
    shadow: shadow === null ? null : { ...shadow, ...scoresOf(setting, readings) },
  };
}

/** What each answer but the first made of the turn before it. */
function responsesOf(maze: Maze, readings: readonly Reading[]): readonly HintResponse[] {
  if (readings.length < 2) return [];
  return followAnswers(maze, readings).flatMap((answer, at) => {
    const outcome = readings[at]?.outcome;
    return at === 0 || outcome === undefined ? [] : [judgeResponse(answer, { outcome, size: maze.size })];
  });
}

function scoresOf(
  setting: ConversationSetting,
  readings: readonly Reading[],
): Pick<ShadowOutcome, "meiSeed" | "meiRobust" | "sr"> {
  const { maze } = setting;
  const { reading, walk } = judgeAnswers(maze, readings, setting);
  return {
    meiSeed: scoreSeed(reading, walk, maze).mei,
    meiRobust: scoreRobust(maze, reading, walk, setting).mei,
    sr: walk.sr,
  };
}
