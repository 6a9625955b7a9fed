import { z } from "zod";

import { groupName, languageName } from "./trial-words.ts";

const names = z.array(z.string().min(1).max(300)).min(1).max(200);
const duration = z
  .string()
  .regex(/^\d{1,9}(?:\.\d{1,9})?[smhd]$/, "must be such as 30s, 90m, 2h, 1d")
  .describe("At most 1,000 days");

/** Selects trials as the commands' options do: those that meet every part that is given. */
const selectorFields = {
  outcomes: z.array(z.string().max(50)).min(1).max(50).optional(),
  models: names.optional(),
  sizes: z.array(z.int().min(3).max(101)).min(1).max(99).optional(),
  groups: z.array(groupName).min(1).optional(),
  mirage: z.boolean().optional(),
  languages: z.array(languageName).min(1).optional(),
  seeds: z
    .array(z.string().regex(/^(?:\d{1,16}(?:\.\.\d{1,16})?|published30)$/, "must be such as 1001 or 2000..2029"))
    .min(1)
    .max(1000)
    .optional(),
};

/** Body of `POST /api/sweeps/{name}/pause`; without models the whole sweep. */
export const pauseInput = z.strictObject({ models: names.optional() }).meta({ id: "PauseInput" });

/** Body of `POST /api/sweeps/{name}/resume`. */
export const resumeInput = z
  .strictObject({
    models: names.optional().describe("End the pause of these models only"),
    lanes: names.optional().describe("Only these lanes that a vendor stopped"),
  })
  .meta({ id: "ResumeInput" });

/** Body of `POST /api/sweeps/{name}/cancel`; without a selector the whole sweep, judges too. */
export const cancelInput = z
  .strictObject({ ...selectorFields, now: z.boolean().optional().describe("Do not wait for calls under way") })
  .meta({ id: "CancelInput" });

/** Body of `POST /api/sweeps/{name}/retry`: `failed` or `outcomes` says which. */
export const retryInput = z
  .strictObject({
    ...selectorFields,
    failed: z.literal(true).optional(),
    since: z.string().max(40).optional().describe("Finished since: 90m, 2h, or an ISO time"),
  })
  .meta({ id: "RetryInput" });

/** Body of `POST /api/sweeps/{name}/prioritize`. */
export const prioritizeInput = z
  .strictObject({
    priority: z.int().min(-10).max(10).optional(),
    weight: z.number().min(0.01).max(100).optional(),
    reset: z.literal(true).optional().describe("What the spec says holds again"),
  })
  .meta({ id: "PrioritizeInput" });

/** A lane as a parameter of a path. */
export const laneParam = z.strictObject({ lane: z.string().min(1).max(300) });

/** Body of `POST /api/lanes/{lane}/park`. */
export const parkInput = z
  .strictObject({ reason: z.string().min(1).max(500).optional(), for: duration.optional() })
  .meta({ id: "ParkInput" });

/** Body of `POST /api/lanes/{lane}/resume`: an empty object. */
export const laneResumeInput = z.strictObject({}).meta({ id: "LaneResumeInput" });

const limit = z.int().min(1).max(999_999_999).nullable().optional().describe("Null takes it away");

/** Body of `POST /api/lanes/{lane}/limit`: limits, or reset. */
export const limitInput = z
  .strictObject({
    limits: z
      .strictObject({ rpm: limit, inputTpm: limit, outputTpm: limit, tpm: limit, concurrency: limit })
      .optional(),
    reset: z.literal(true).optional().describe("What the specs say holds again"),
  })
  .meta({ id: "LimitInput" });

/** What a change of a sweep did: the numbers that the command prints with --json. */
export const steeringReport = z
  .object({
    sweep: z.string(),
    paused: z.object({ sinceMs: z.number(), models: z.array(z.string()) }).nullable(),
    requeued: z.int().describe("Trials put back or delivered again"),
    judgements: z.int().describe("Requests to judges put back, or cancelled"),
    cancelled: z.int(),
    ending: z.int().describe("Trials whose call is under way: they end with it"),
    lanes: z.array(z.string()).describe("Lanes that go on"),
    held: z.array(z.object({ lane: z.string(), reason: z.string() })).describe("Lanes that an operator keeps parked"),
    priority: z.number(),
    weight: z.number(),
    nothing: z.string().nullable().describe("Said where nothing was selected, which would look like success"),
  })
  .meta({ id: "SteeringReport" });

/** A change of a sweep as it is served. */
export type SteeringReport = z.infer<typeof steeringReport>;

/** What a change of lanes did; a word may name several. */
export const laneReport = z
  .object({
    lanes: z.array(
      z.object({
        lane: z.string(),
        parked: z.boolean(),
        wasParked: z.boolean(),
        blocked: z.int().describe("Waiting trials that were blocked"),
        requeued: z.int(),
      }),
    ),
  })
  .meta({ id: "LaneReport" });

/** A change of lanes as it is served. */
export type LaneReportView = z.infer<typeof laneReport>;
