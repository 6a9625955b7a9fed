import { problem, problemMediaType } from "@hallumaze/contract";
import type { z } from "@hono/zod-openapi";

/** What a route's description says of the token. */
export const security = [{ bearer: [] }];

/** The responses of these error statuses. */
export function problems<const Statuses extends readonly number[]>(...statuses: Statuses) {
  const response = { description: "An error", content: { [problemMediaType]: { schema: problem } } };
  return Object.fromEntries(statuses.map((status) => [status, response])) as {
    readonly [Status in Statuses[number]]: typeof response;
  };
}

/** A JSON response. */
export function json<Schema extends z.ZodType>(description: string, schema: Schema) {
  return { description, content: { "application/json": { schema } } };
}

/** A JSON body that has to be there. */
export function jsonBody<Schema extends z.ZodType>(schema: Schema) {
  return { required: true, content: { "application/json": { schema } } } as const;
}
