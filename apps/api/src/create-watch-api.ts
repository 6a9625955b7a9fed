import { randomBytes } from "node:crypto";

import { OpenAPIHono } from "@hono/zod-openapi";
import { secureHeaders } from "hono/secure-headers";

import type { Api } from "./create-api.ts";
import { type ApiEnv, guardAccess } from "./guard-access.ts";
import { errorResponse, problemResponse } from "./problems.ts";
import { addWatch, type WatchPorts } from "./watch-routes.ts";

/**
 * Creates what a worker shows of itself: `/healthz`, `/readyz`, `/metrics`. From this machine reads are free; from elsewhere
 * they need the token, and nothing passes where there is none.
 */
export function createWatchApi(
  ports: WatchPorts,
  settings: { readonly token: string | null; readonly checkMs?: number },
): Api {
  const app = new OpenAPIHono<ApiEnv>();
  app.onError((error) => errorResponse(error, ports.onError));
  app.notFound(() => problemResponse("not-found"));
  app.use(secureHeaders());
  app.use(guardAccess(settings.token ?? randomBytes(32).toString("base64url")));
  addWatch(app, ports, settings.checkMs ?? 2500);
  return { fetch: (request, bindings) => app.fetch(request, bindings), stop: () => undefined };
}
