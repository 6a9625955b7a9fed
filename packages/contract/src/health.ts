import { z } from "zod";

/** Answer of `GET /healthz`: the process runs. */
export const healthView = z.object({ status: z.literal("ok") }).meta({ id: "Health" });

/** Answer of `GET /readyz`: whether the process can do its work. */
export const readyView = z
  .object({
    status: z.enum(["ready", "not-ready"]),
    checks: z.record(z.string(), z.enum(["ok", "failed"])),
    /** Why each failed check failed, in plain words. */
    reasons: z.record(z.string(), z.string()),
  })
  .meta({ id: "Ready" });

/** A readiness report as it is served. */
export type ReadyView = z.infer<typeof readyView>;

/** Asks one part whether it can work: null where it can, else why not, in plain words without hosts, statements or keys. */
export type ReadyCheck = () => Promise<string | null> | string | null;
