import { parseRedisUrl } from "@hallumaze/servers";
import { z } from "zod";

/** Variables that the queue reads: an absent `REDIS_URL` means the Postgres back end on the ledger's database. */
export const queueEnv = {
  /** `redis://` or `rediss://` (TLS), with user, password and database number where needed; `+sentinel` or `+cluster`. */
  REDIS_URL: z
    .string()
    .superRefine((url, context) => {
      const parsed = parseRedisUrl(url);
      if (parsed.kind === "unusable") context.addIssue({ code: "custom", message: parsed.reason });
    })
    .optional(),
  /** PEM file of the authority that signed the Redis server's certificate; without it, those that Node knows. */
  REDIS_CA_FILE: z.string().min(1).optional(),
};
