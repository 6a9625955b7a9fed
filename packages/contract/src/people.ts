import { z } from "zod";

import { directionName, languageName, mazeCell } from "./trial-words.ts";
import { trapView } from "./walk.ts";

/** Query of `GET /api/people/maze`: the maze that a model with these would get. */
export const peopleMazeQuery = z.strictObject({
  size: z.coerce.number().int().min(3).max(25),
  seed: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  mirage: z.enum(["on", "off"]).default("on"),
  language: languageName.default("en"),
});

/** Answer of `GET /api/people/maze`: what a person may see of it, no solution. */
export const peopleMaze = z
  .object({
    size: z.int(),
    seed: z.number(),
    mirage: z.boolean(),
    language: languageName,
    rows: z.array(z.array(z.int())).describe("A number a cell: the sum of its open directions N=1, E=2, S=4, W=8"),
    start: mazeCell,
    exit: mazeCell,
    signs: z.array(trapView).describe("The hints that the maze's text carries; empty without mirage"),
    text: z.string().describe("As a model's prompt has it"),
  })
  .meta({ id: "PeopleMaze" });

/** A person's maze as it is served. */
export type PeopleMaze = z.infer<typeof peopleMaze>;

/** Most steps of one person's walk. */
export const maxPeopleSteps = 5000;

/**
 * Body of `POST /api/people/trials`: a walk as it was made, step by step, tries into walls too. It is written as the log that
 * a model would write, and read by the same rules.
 */
export const peopleTrialInput = z
  .strictObject({
    participant: z.string().regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,59}$/u, "must be a short name"),
    size: z.int().min(3).max(25),
    seed: z.int().min(0),
    mirage: z.boolean(),
    language: languageName,
    confidence: z.boolean().describe("True where a confidence was asked for at each step"),
    steps: z
      .array(
        z.strictObject({
          from: mazeCell,
          dir: directionName,
          confidence: z.number().min(0).max(1).nullable().describe("Null: not given"),
        }),
      )
      .min(1)
      .max(maxPeopleSteps),
    finalPath: z.array(mazeCell).max(maxPeopleSteps).nullable().describe("Null: the person gave up"),
    latencyMs: z.int().min(0).max(86_400_000),
  })
  .meta({ id: "PeopleTrialInput" });

/** Answer to a person's walk. */
export const peopleTrialCreated = z
  .object({ trialId: z.string(), outcome: z.string(), sr: z.int(), mei: z.number().describe("Robust") })
  .meta({ id: "PeopleTrialCreated" });

/** A kept walk as it is served. */
export type PeopleTrialCreated = z.infer<typeof peopleTrialCreated>;
