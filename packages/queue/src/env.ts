import { z } from "zod";

/** Variables that the queue reads: an absent `REDIS_URL` means the Postgres back end on the ledger's database. */
export const queueEnv = {
  /** `redis://` or `rediss://` (TLS), with user, password and database number where needed. */
  REDIS_URL: z.url({ protocol: /^rediss?$/, error: "must be a redis:// or rediss:// URL" }).optional(),
};
