import type { IncomingHttpHeaders } from "node:http";

import { anthropicMessages } from "./anthropic-messages.ts";
import { answerAnthropicBatch, isAnthropicBatch } from "./anthropic-batches.ts";
import type { BatchAnswer, BatchCall, BatchDesk } from "./batch-desk.ts";
import type { Dialect, Failure, Question, Vendor, WrittenFailure } from "./dialect.ts";
import { answerGoogleBatch, isGoogleBatch } from "./google-batches.ts";
import { googleContent } from "./google-content.ts";
import { answerOpenaiBatch, isOpenaiBatch } from "./openai-batches.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import {
  writeAnthropicFailure,
  writeDeepseekFailure,
  writeGoogleFailure,
  writeOpenaiFailure,
} from "./vendor-failures.ts";

/** Whose interface a path belongs to, and which format it takes. */
export interface Route {
  readonly vendor: Vendor;
  readonly dialect: Dialect;
}

const routes: readonly (readonly [pattern: RegExp, vendor: Vendor, dialect: Dialect])[] = [
  [/^(\/anthropic)?\/v1\/messages$/, "anthropic", anthropicMessages],
  [/^\/deepseek(\/v1)?\/chat\/completions$/, "deepseek", openaiChat],
  [/^\/compatible\/v1\/chat\/completions$/, "compatible", openaiChat],
  [/^\/compatible\/v1\/responses$/, "compatible", openaiResponses],
  [/^(\/openai)?\/v1\/chat\/completions$/, "openai", openaiChat],
  [/^(\/openai)?\/v1\/responses$/, "openai", openaiResponses],
  [/^(\/google)?\/v1(beta|alpha)?\/models\/[^/]+:(generateContent|streamGenerateContent)$/, "google", googleContent],
];

/** Finds the route of a path without its query; null where no vendor has one. */
export function routeRequest(path: string): Route | null {
  const found = routes.find(([pattern]) => pattern.test(path));
  return found === undefined ? null : { vendor: found[1], dialect: found[2] };
}

/** A vendor's batch interface. */
export interface BatchRoute {
  readonly isPath: (path: string) => boolean;
  readonly route: Route;
  readonly answer: (desk: BatchDesk, call: BatchCall) => BatchAnswer | Promise<BatchAnswer>;
}

const batchRoutes: readonly BatchRoute[] = [
  {
    isPath: isAnthropicBatch,
    route: { vendor: "anthropic", dialect: anthropicMessages },
    answer: answerAnthropicBatch,
  },
  { isPath: isOpenaiBatch, route: { vendor: "openai", dialect: openaiChat }, answer: answerOpenaiBatch },
  { isPath: isGoogleBatch, route: { vendor: "google", dialect: googleContent }, answer: answerGoogleBatch },
];

/** Finds the batch interface that a path belongs to. */
export function routeBatch(path: string): BatchRoute | undefined {
  return batchRoutes.find(({ isPath }) => isPath(path));
}

/** The format of a request that came in a batch. */
export function batchDialectOf({ vendor }: Question): Dialect {
  return batchRoutes.find(({ route }) => route.vendor === vendor)?.route.dialect ?? anthropicMessages;
}

/** Reads the key where the vendor's SDK puts it; null where there is none. */
export function keyOf(vendor: Vendor, headers: IncomingHttpHeaders, query: URLSearchParams): string | null {
  const bearer = /^Bearer\s+(.+)$/i.exec(headers.authorization ?? "")?.[1] ?? null;
  const named = (name: string): string | null => (typeof headers[name] === "string" ? headers[name] : null);
  if (vendor === "anthropic") return named("x-api-key") ?? bearer;
  return vendor === "google" ? (named("x-goog-api-key") ?? query.get("key")) : bearer;
}

/** Words a failure as the vendor does. */
export function writeFailure(vendor: Vendor, failure: Failure): WrittenFailure {
  switch (vendor) {
    case "anthropic":
      return writeAnthropicFailure(failure);
    case "google":
      return writeGoogleFailure(failure);
    case "deepseek":
      return writeDeepseekFailure(failure);
    case "openai":
    case "compatible":
      return writeOpenaiFailure(failure);
  }
}
