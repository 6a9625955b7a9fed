import { z } from "zod";

/** Limits of a lane, per minute where per time; an absent one does not bind. */
export const laneLimits = z.object({
  rpm: z.number().optional(),
  inputTpm: z.number().optional(),
  outputTpm: z.number().optional(),
  tpm: z.number().optional().describe("Input and output together"),
  concurrency: z.number().optional(),
});

/** Limits as they are served. */
export type LaneLimitsView = z.infer<typeof laneLimits>;

/** What a lane allowed and used, over all processes. */
export const laneUse = z.object({
  limits: laneLimits,
  effective: laneLimits.describe("In force now: learned from headers, shrunk after a 429, growing back"),
  inFlight: z.int(),
  utilisation: z.number().nullable().describe("Accepted over allowed in the last 60 s, 0 … 1 and a little more"),
  binding: z.string().nullable().describe("What binds: a limit's name, cooldown or parked"),
  granted: z.int(),
  limited: z.int(),
  parked: z
    .object({ reason: z.string(), sinceMs: z.number(), resumesAtMs: z.number().nullable() })
    .nullable()
    .describe("Stopped by its vendor or an operator; null: it goes"),
});

/** An operator's word on a lane, over every spec's. */
export const laneControl = z.object({
  limits: z.record(z.string(), z.number().nullable()).describe("By name; null: no such limit. Empty: the specs' hold"),
  parked: z
    .object({
      reason: z.string(),
      sinceMs: z.number(),
      untilMs: z.number().nullable().describe("Null: until it is told to go on"),
      leftMs: z.number().nullable(),
    })
    .nullable(),
});

/** How a lane of a sweep stands. */
export const laneView = z
  .object({
    lane: z.string(),
    models: z.array(z.string()).describe("Names of the sweep's models in it"),
    isJudge: z.boolean(),
    waiting: z.int().describe("Deliveries in the queue, over all sweeps"),
    active: z.int(),
    delayed: z.int(),
    open: z.int().describe("This sweep's trials in it that are not finished"),
    finishedPerSecond: z.number().describe("This sweep's, over the last minute; 0 where none"),
    etaMs: z.number().nullable().describe("Open over finished per second; null where nothing moves"),
    limits: laneLimits.describe("What specs and operators set"),
    use: laneUse.nullable().describe("Null: nobody has used the limiter for it"),
    control: laneControl.nullable().describe("An operator's word; null: none"),
  })
  .meta({ id: "Lane" });

/** A lane as it is served. */
export type LaneView = z.infer<typeof laneView>;
