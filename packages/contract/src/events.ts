import { z } from "zod";

/**
 * Events of `GET /api/events` (server-sent). Each has an id; `Last-Event-ID` of another run of the service, or one too old,
 * gives a `hello` with `refresh` true: read everything again. A comment each 15 s keeps the connection.
 */
export const helloEvent = z
  .object({
    version: z.string().describe("Of the program"),
    refresh: z.boolean().describe("True where changes may have been missed: read everything again"),
  })
  .meta({ id: "HelloEvent" });

/** First event of a connection. */
export type HelloEvent = z.infer<typeof helloEvent>;

/** A sweep's counts, money or steering changed, it is new, or it is gone. `version` differs with each change. */
export const sweepEvent = z
  .object({ name: z.string(), version: z.string(), gone: z.boolean() })
  .meta({ id: "SweepEvent" });

/** A change of a sweep. */
export type SweepEvent = z.infer<typeof sweepEvent>;

/** A lane was parked, let go on, or limited. */
export const laneEvent = z.object({ lane: z.string(), version: z.string() }).meta({ id: "LaneEvent" });

/** A change of a lane. */
export type LaneEvent = z.infer<typeof laneEvent>;
