import type { ReadingOutcome } from "@hallumaze/protocol";

/** States of a trial (spec/sweeps.md section 5). */
export type TrialState = "planned" | "queued" | "running" | "done" | "failed" | "cancelled" | "blocked";

/** Outcomes after which a trial is missing, not wrong. */
export const failureOutcomes = [
  "filtered",
  "prompt_truncated",
  "rate_limited",
  "quota_exhausted",
  "overloaded",
  "transient_server",
  "transport",
  "timeout",
  "bad_request",
  "auth",
  "model_not_found",
  "context_too_long",
  "unparseable_body",
  "worker_lost",
  "budget_blocked",
  "cancelled",
  "internal",
] as const;

/** One of the outcomes after which a trial is missing. */
export type FailureOutcome = (typeof failureOutcomes)[number];

/** How a try ended. `late_duplicate` is archived and never accepted. */
export type Outcome = ReadingOutcome | FailureOutcome | "late_duplicate";

/**
 * What is read of a trial's row where not all of it is wanted, the rest null: `walk` has of its reading the walk and the
 * Ariadne record, `scores` has no reading, no usage, no cost and no times.
 */
export type RowPart = "walk" | "scores";
