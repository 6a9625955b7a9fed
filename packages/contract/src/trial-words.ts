import { z } from "zod";

/** Where a trial stands. */
export const trialState = z.enum(["planned", "queued", "running", "done", "failed", "cancelled", "blocked"]);

/** A state of a trial. */
export type TrialStateName = z.infer<typeof trialState>;

/** The three ways to turn a reply into numbers. */
export const profileName = z.enum(["seed", "published", "robust"]);

/** A profile's name. */
export type ProfileWord = z.infer<typeof profileName>;

/** The groups of Ariadne's Thread: no hint, a hint with an instruction, a note without one. */
export const groupName = z.enum(["A", "B", "C"]);

/** The languages of a prompt. */
export const languageName = z.enum(["ko", "en"]);

/** The factors of a condition beside the maze's seed. */
export const conditionFields = {
  size: z.int().describe("Rows of the maze, 3 to 101"),
  group: groupName,
  mirage: z.boolean().describe("True where the maze's text carried tempting hints"),
  language: languageName,
  confidence: z.boolean().describe("True where confidences were asked for"),
};

/** A cell of a maze: row, column, 0-based from the top left. */
export const mazeCell = z.tuple([z.int(), z.int()]).readonly();

/** A cell as it is served. */
export type MazeCell = z.infer<typeof mazeCell>;

/** N is row - 1, S row + 1, E column + 1, W column - 1. */
export const directionName = z.enum(["N", "E", "S", "W"]);

/** A value with its interval; null where it is not known. */
export const estimate = z.object({
  value: z.number().nullable(),
  lo: z.number().nullable(),
  hi: z.number().nullable(),
});

/** Exact decimal US dollars; null where not known, never 0 in its place. */
export const usd = z.string().nullable();

/** A name of a sweep in a path. */
export const sweepName = z.string().min(1).max(80);

/** A sweep's name as a parameter of a path. */
export const sweepParam = z.strictObject({ name: sweepName });

/** Query values of a filter by the factors of a condition; an absent one selects all. */
export const conditionFilter = {
  size: z.coerce.number().int().min(3).max(101).optional(),
  group: groupName.optional(),
  mirage: z.enum(["on", "off"]).optional(),
  language: languageName.optional(),
};
