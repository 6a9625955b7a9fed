import { z } from "zod";

import { directionName, mazeCell } from "./trial-words.ts";

/** A tempting hint of a maze. */
export const trapView = z.object({
  row: z.int(),
  col: z.int(),
  dir: directionName,
  hint: z.string().nullable().describe("Its sentence in the maze's text; null where the text carried none"),
});

/** A maze to be drawn. START is (0,0), EXIT (size-1, size-1). */
export const mazeView = z
  .object({
    size: z.int(),
    seed: z.number(),
    generator: z.string(),
    placement: z.string(),
    rows: z.array(z.array(z.int())).describe("A number a cell: the sum of its open directions N=1, E=2, S=4, W=8"),
    start: mazeCell,
    exit: mazeCell,
    solution: z.array(mazeCell).describe("The only path, START and EXIT included"),
    deadEnds: z.array(mazeCell),
    traps: z.array(trapView),
    text: z.string().describe("As the prompt had it"),
  })
  .meta({ id: "Maze" });

/** A maze as it is served. */
export type MazeView = z.infer<typeof mazeView>;

/** Where something stands in a reply: UTF-16 code units, [start, end). */
export const textSpan = z.object({
  reply: z.int().describe("Place in the trial's replies"),
  start: z.int(),
  end: z.int(),
});

/** A span as it is served. */
export type TextSpan = z.infer<typeof textSpan>;

/**
 * What is to be seen at a step, beside its kind. `hint`: a turn of Ariadne was given before it. `backtrack`: it completes a
 * backtrack that counts in BT; `retreat`: it goes back towards START. `loop`: its directed edge had been used in this pass.
 * `trapFaced`, `trapTaken`: for the first time. `branch`: it enters a wrong branch, `deadEnd`: it arrives at the end of one.
 * `illegal`: it counts in HC, twice where it comes from a cell never reached and runs into a wall. `firstError`: it is FHR. `pass`: the numbering begins again at START.
 */
export const stepMark = z.enum([
  "onRoute",
  "decision",
  "illegal",
  "firstError",
  "retreat",
  "backtrack",
  "loop",
  "trapFaced",
  "trapTaken",
  "branch",
  "deadEnd",
  "hint",
  "pass",
  "contradiction",
  "ungrounded",
  "escape",
]);

/** A mark of a step. */
export type StepMark = z.infer<typeof stepMark>;

/** One attempt of the verified walk. */
export const walkStep = z.object({
  kind: z.enum(["ok", "wall", "outOfGrid", "malformed", "skipped", "afterExit"]),
  relocation: z
    .enum(["throughWall", "rewind", "jumpBack", "teleport"])
    .nullable()
    .describe("Where the line does not start where the walker stands"),
  index: z.int().nullable().describe("The step number printed on the line"),
  from: mazeCell.nullable(),
  to: mazeCell.nullable().describe("Where the log stands afterwards; null on a phantom cell off the grid"),
  dir: directionName.nullable(),
  confidence: z.number().nullable().describe("0 … 1; null where none was read"),
  confidenceCounts: z.boolean().describe("True on the attempt that carries its line's confidence into the metrics"),
  line: z.int().nullable().describe("Place in the reading's lines; null where the moves are FINAL_PATH's"),
  marks: z.array(stepMark),
});

/** A step as it is served. */
export type WalkStepView = z.infer<typeof walkStep>;

/** The verified walk of a trial: what the log did, whatever it says. */
export const walkView = z
  .object({
    source: z.enum(["log", "finalPath"]).nullable().describe("What it was read from; null for a non-answer"),
    steps: z.array(walkStep),
    counts: z.object({
      sr: z.int(),
      hc: z.int(),
      wallAttempts: z.int(),
      outOfGridAttempts: z.int(),
      teleports: z.int(),
      finalPathErrors: z.int(),
      throughWalls: z.int(),
      rewinds: z.int(),
      jumpBacks: z.int(),
      contradictions: z.int(),
      passes: z.int(),
      fhr: z.int().describe("-1: no error"),
      bt: z.int(),
      prematureBacktracks: z.int(),
      lt: z.int(),
      loopEvents: z.int(),
      falseClaims: z.int(),
      trapsFaced: z.int(),
      trapsTaken: z.int(),
      mirageResistance: z.number().nullable(),
      solutionMovesReached: z.int(),
      excessMoves: z.int().nullable(),
    }),
  })
  .meta({ id: "Walk" });

/** A walk as it is served. */
export type WalkView = z.infer<typeof walkView>;

/** One line that the reader made a move of. */
export const readLine = z.object({
  span: textSpan,
  index: z.int().nullable(),
  confidence: z.number().nullable(),
  confidenceText: z.string().nullable().describe("What stood in its place where none could be read"),
  flags: z.array(z.string()),
  steps: z.tuple([z.int(), z.int()]).describe("Its attempts in the walk's steps: [first, last]"),
});

/** A line as it is served. */
export type ReadLineView = z.infer<typeof readLine>;

/** What was read from the replies. */
export const readingView = z
  .object({
    outcome: z.string(),
    flags: z.array(z.string()),
    lines: z.array(readLine),
    finalPath: z.array(mazeCell).nullable().describe("Null where there is none"),
    gaveUp: z.boolean(),
    claims: z.array(
      z.object({
        kind: z.enum(["deadEnd", "loop", "strategyChange", "wall"]),
        at: mazeCell.nullable(),
        seenAtStep: z.int().nullable(),
        form: z.enum(["protocol", "words"]),
        afterStep: z.int().describe("How many of the walk's steps stood before it"),
      }),
    ),
    selfReport: z.object({ backtracks: z.number().nullable(), hallucinations: z.number().nullable() }),
  })
  .meta({ id: "Reading" });

/** A reading as it is served. */
export type ReadingView = z.infer<typeof readingView>;
