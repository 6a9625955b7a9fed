import type { Maze } from "@hallumaze/maze";
import {
  classifyPatterns,
  confidenceOfWalk,
  type PatternEvent,
  patternAttempts,
  type ProfileName,
  type ProfileScores,
  scorePublished,
  scoreRobust,
  scoreSeed,
  simulateWalk,
  type Walk,
  type WalkConfidence,
} from "@hallumaze/metrics";
import { type FinishReason, type Reading, type ReadingMode, readReply } from "@hallumaze/protocol";

/** What a reply is read against. */
export interface ReplyConditions {
  /** True where the prompt carried tempting hints: only then are there traps to take. */
  readonly mirage: boolean;
  /** True where the prompt asked for confidences. */
  readonly confidenceAsked: boolean;
  readonly finishReason: FinishReason | null;
  readonly mode: ReadingMode;
}

/** All that the pure part makes of one reply. */
export interface ReplyAnalysis {
  readonly reading: Reading;
  readonly walk: Walk;
  readonly profiles: Readonly<Record<ProfileName, ProfileScores>>;
  readonly confidence: WalkConfidence;
  readonly patterns: readonly PatternEvent[];
}

/** Reads, walks and scores one reply. Pure: the same maze, text and conditions always give the same numbers. */
export function analyseReply(maze: Maze, text: string, conditions: ReplyConditions): ReplyAnalysis {
  const { mirage, confidenceAsked, finishReason, mode } = conditions;
  const reading = readReply(text, { size: maze.size, finishReason, mode, maze });
  return analyseWalk(maze, { reading, walk: simulateWalk(maze, reading, { mirage }), text, confidenceAsked });
}

/** Scores a reading and its walk. `text` is what the published profile reads: its rules know raw text only. */
export function analyseWalk(
  maze: Maze,
  given: {
    readonly reading: Reading;
    readonly walk: Walk;
    readonly text: string;
    readonly confidenceAsked: boolean;
  },
): ReplyAnalysis {
  const { reading, walk, text, confidenceAsked } = given;
  return {
    reading,
    walk,
    profiles: {
      seed: scoreSeed(reading, walk, { size: maze.size }),
      published: scorePublished(maze, text),
      robust: scoreRobust(maze, reading, walk, { confidenceAsked }),
    },
    confidence: confidenceOfWalk(walk),
    patterns: classifyPatterns(patternAttempts(walk)),
  };
}
