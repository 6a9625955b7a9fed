import { z } from "zod";

import { laneView } from "./lanes.ts";
import { trialState, usd } from "./trial-words.ts";

const stateCounts = z.record(trialState, z.int());

const steeringFields = {
  paused: z
    .object({ sinceMs: z.number(), models: z.array(z.string()).describe("Empty: all, judges too") })
    .nullable()
    .describe("Null: it goes on"),
  cancelledAtMs: z.number().nullable().describe("Null: not cancelled whole"),
  priority: z.number(),
  weight: z.number(),
};

/** One sweep in a list. */
export const sweepSummary = z
  .object({
    name: z.string(),
    createdAtMs: z.number(),
    rehearsal: z.boolean().describe("True where a local server answers in the vendors' place"),
    ...steeringFields,
    states: stateCounts.describe("Trials of the current grid by state"),
    budgetUsd: usd.describe("Null: no cap"),
    spentUsd: z.string().describe("Exact decimal US dollars: at most so much"),
  })
  .meta({ id: "SweepSummary" });

/** A sweep in a list as it is served. */
export type SweepSummary = z.infer<typeof sweepSummary>;

/** Answer of `GET /api/sweeps`: oldest first. */
export const sweepList = z.object({ sweeps: z.array(sweepSummary) }).meta({ id: "SweepList" });

/** The sweeps as they are served. */
export type SweepList = z.infer<typeof sweepList>;

/** How one model of a sweep stands. */
export const modelProgress = z.object({
  alias: z.string(),
  lane: z.string(),
  states: stateCounts,
  reused: z.int().describe("Of done: taken over from another sweep"),
  outcomes: z.record(z.string(), z.int()),
  finishedPerSecond: z.number().describe("Done or failed, over the last minute; 0 where none"),
  etaMs: z.number().nullable().describe("Null where nothing moves"),
  costUsd: usd,
  costUnknown: z.int().describe("Requests whose cost is not known"),
  requests: z.int(),
  followUps: z.int(),
  failedRequests: z.int(),
  limiterMs: z.number(),
});

/** Failures of one kind. */
export const failureGroup = z.object({
  alias: z.string(),
  outcome: z.string(),
  count: z.int(),
  firstMessage: z.string().describe("Words of others: text, never markup"),
  firstTrialId: z.string().nullable(),
});

/** Something that the detectors saw in a sweep. */
export const findingView = z.object({
  detector: z.string(),
  severity: z.enum(["info", "warning"]),
  model: z.string().nullable(),
  condition: z.string().nullable(),
  observed: z.number(),
  expected: z.number().nullable(),
  n: z.number(),
  message: z.string(),
  advice: z.string(),
  examples: z.array(z.string()).describe("Trial ids"),
});

/** Answer of `GET /api/sweeps/{name}`: what `status --json` has. */
export const sweepView = z
  .object({
    name: z.string(),
    createdAtMs: z.number(),
    nowMs: z.number().describe("The service's clock"),
    rehearsal: z.boolean(),
    ...steeringFields,
    states: stateCounts,
    etaMs: z
      .number()
      .nullable()
      .describe("The slowest lane's; null where one of them is not known, 0 where all is done"),
    models: z.array(modelProgress),
    failures: z.array(failureGroup),
    money: z.object({
      budgetUsd: usd.describe("Null: no cap"),
      spentUsd: z.string(),
      open: z.object({ count: z.int(), boundUsd: z.string() }).describe("Requests under way"),
      lost: z
        .object({ count: z.int(), boundUsd: z.string(), unpriced: z.int() })
        .describe("Requests whose worker ended before their reply was kept"),
    }),
    lanes: z.array(laneView),
    judges: z.object({
      states: z.record(z.string(), z.int()),
      unscored: z.int(),
      failures: z.array(z.object({ outcome: z.string(), count: z.int(), firstMessage: z.string() })),
    }),
    leftGrid: z.int(),
    lateDuplicates: z.int(),
    findings: z.array(findingView),
    findingsScope: z.string().nullable().describe("How much the detectors looked at; null: all"),
  })
  .meta({ id: "Sweep" });

/** A sweep as it is served. */
export type SweepView = z.infer<typeof sweepView>;
