import { z } from "zod";

/** Answer of `GET /healthz`: the process runs. */
export const healthView = z.object({ status: z.literal("ok") }).meta({ id: "Health" });

/** Answer of `GET /readyz`: whether the process can do its work. */
export const readyView = z
  .object({
    status: z.enum(["ready", "not-ready"]),
    checks: z.record(z.string(), z.enum(["ok", "failed"])),
  })
  .meta({ id: "Ready" });

/** A readiness report as it is served. */
export type ReadyView = z.infer<typeof readyView>;
