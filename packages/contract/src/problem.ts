import { z } from "zod";

/** Media type of every error. SOURCE: RFC 9457. */
export const problemMediaType = "application/problem+json";

/** Stable codes of the errors. */
export const problemCode = z.enum([
  "bad-request",
  "unauthorized",
  "not-found",
  "method-not-allowed",
  "judging-under-way",
  "gate-closed",
  "length-required",
  "body-too-large",
  "nothing-to-judge",
  "no-fitness",
  "refused",
  "not-drawn",
  "labelling-under-way",
  "no-experiment",
  "no-such-metric",
  "rate-limited",
  "internal",
  "no-judge",
  "unavailable",
]);

/** A code of an error. */
export type ProblemCode = z.infer<typeof problemCode>;

/** Body of every error. SOURCE: RFC 9457, with `code` for programs. */
export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: problemCode,
    detail: z.string().optional(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    /** Path at which to read what is under way. */
    poll: z.string().optional(),
    reason: z.string().optional(),
  })
  .meta({ id: "Problem" });

/** An error as it is served. */
export type Problem = z.infer<typeof problem>;
