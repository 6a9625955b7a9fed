import type { ProviderPort } from "@hallumaze/engine";

import { ProviderError } from "./errors.ts";
import { openSim } from "./sim/client.ts";

/** Providers that this version can call. */
export const builtProviders: readonly string[] = ["sim"];

/** Opens every built provider behind one port; a request names which one it is for. */
export function openProviders(): ProviderPort {
  const sim = openSim();
  return {
    complete: (request, signal) => {
      if (request.provider === "sim") return sim(request, signal);
      throw new ProviderError(
        "provider-not-built",
        `provider "${request.provider}" is not built into this version; it has: ${builtProviders.join(", ")}`,
      );
    },
  };
}
