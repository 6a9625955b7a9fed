import { z } from "zod";

/** The environment variables of this package, for the apps' one parse of the environment. */
export const storeEnv = {
  /** Connection URL of a Postgres; without it an embedded one is started. */
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\/[^\s]+$/, "must be a URL of the form postgres://user:password@host:port/database")
    .optional(),
  /** Folder of the embedded server's data; `.hallumaze` in the working folder unless set. */
  HALLUMAZE_HOME: z.string().min(1, "must name a folder").default(".hallumaze"),
  /** Connections of one process to the database. */
  HALLUMAZE_DATABASE_POOL: z.coerce.number().int().min(1).max(100).default(10),
} as const;
