import { z } from "zod";

/** The Redis client takes any other path for database 0. */
function namesDatabase(url: string): boolean {
  return URL.canParse(url) && /^\/?$|^\/\d+$/.test(new URL(url).pathname);
}

/** Variables that the queue reads: an absent `REDIS_URL` means the Postgres back end on the ledger's database. */
export const queueEnv = {
  /** `redis://` or `rediss://` (TLS), with user, password and database number where needed. */
  REDIS_URL: z
    .url({ protocol: /^rediss?$/, error: "must be a redis:// or rediss:// URL" })
    .refine(namesDatabase, "must end after the port or with a database number, as in redis://host:6379/0")
    .optional(),
};
