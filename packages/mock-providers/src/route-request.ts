import type { IncomingHttpHeaders } from "node:http";

import { writeAnthropicFailure } from "./anthropic-failures.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import type { Dialect, Failure, Vendor, WrittenFailure } from "./dialect.ts";
import { googleContent } from "./google-content.ts";
import { writeGoogleFailure } from "./google-failures.ts";
import { openaiChat } from "./openai-chat.ts";
import { writeDeepseekFailure, writeOpenaiFailure } from "./openai-failures.ts";
import { openaiResponses } from "./openai-responses.ts";

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
