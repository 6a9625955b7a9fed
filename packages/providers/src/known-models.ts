import type Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";

import type { VendorName } from "./keys.ts";

/** The names in a union that also admits any string. */
type Literal<Name> = Name extends string ? (string extends Name ? never : Name) : never;

/** Names in the SDKs' own types: a new or vanished one fails to compile until it is listed here. */
const anthropicNames: Readonly<Record<Literal<Anthropic.Model>, true>> = {
  "claude-fable-5": true,
  "claude-fable-5-1": true,
  "claude-fable-5-2": true,
  "claude-haiku-4-5": true,
  "claude-haiku-4-5-20251001": true,
  "claude-haiku-5-5": true,
  "claude-mythos-5": true,
  "claude-mythos-5-1": true,
  "claude-mythos-5-2": true,
  "claude-mythos-preview": true,
  "claude-opus-4-5": true,
  "claude-opus-4-5-20251101": true,
  "claude-opus-4-6": true,
  "claude-opus-4-7": true,
  "claude-opus-4-8": true,
  "claude-opus-5": true,
  "claude-opus-5-5": true,
  "claude-sonnet-4-5": true,
  "claude-sonnet-4-5-20250929": true,
  "claude-sonnet-4-6": true,
  "claude-sonnet-5": true,
  "claude-sonnet-5-5": true,
};

type OpenAiName = Literal<OpenAI.AllModels>;

/** OpenAI's list holds models that hear, see or search; only those that answer a text with a text are taken. */
const openAiOtherKinds = /audio|search|deep-research|computer-use|vision/;
const openAiNames = [
  "chatgpt-4o-latest",
  "codex-mini-latest",
  "gpt-3.5-turbo",
  "gpt-3.5-turbo-0125",
  "gpt-4",
  "gpt-4-0613",
  "gpt-4-turbo",
  "gpt-4-turbo-2024-04-09",
  "gpt-4.1",
  "gpt-4.1-2025-04-14",
  "gpt-4.1-mini",
  "gpt-4.1-mini-2025-04-14",
  "gpt-4.1-nano",
  "gpt-4.1-nano-2025-04-14",
  "gpt-4o",
  "gpt-4o-2024-05-13",
  "gpt-4o-2024-08-06",
  "gpt-4o-2024-11-20",
  "gpt-4o-mini",
  "gpt-4o-mini-2024-07-18",
  "gpt-5",
  "gpt-5-2025-08-07",
  "gpt-5-chat-latest",
  "gpt-5-codex",
  "gpt-5-mini",
  "gpt-5-mini-2025-08-07",
  "gpt-5-nano",
  "gpt-5-nano-2025-08-07",
  "gpt-5-pro",
  "gpt-5-pro-2025-10-06",
  "gpt-5.1",
  "gpt-5.1-2025-11-13",
  "gpt-5.1-chat-latest",
  "gpt-5.1-codex",
  "gpt-5.1-codex-max",
  "gpt-5.1-mini",
  "gpt-5.2",
  "gpt-5.2-2025-12-11",
  "gpt-5.2-chat-latest",
  "gpt-5.2-pro",
  "gpt-5.2-pro-2025-12-11",
  "gpt-5.3-chat-latest",
  "gpt-5.4",
  "gpt-5.4-mini",
  "gpt-5.4-mini-2026-03-17",
  "gpt-5.4-nano",
  "gpt-5.4-nano-2026-03-17",
  "gpt-5.6-luna",
  "gpt-5.6-sol",
  "gpt-5.6-terra",
  "o1",
  "o1-2024-12-17",
  "o1-mini",
  "o1-mini-2024-09-12",
  "o1-preview",
  "o1-preview-2024-09-12",
  "o1-pro",
  "o1-pro-2025-03-19",
  "o3",
  "o3-2025-04-16",
  "o3-mini",
  "o3-mini-2025-01-31",
  "o3-pro",
  "o3-pro-2025-06-10",
  "o4-mini",
  "o4-mini-2025-04-16",
] as const satisfies readonly OpenAiName[];

/** Named by the vendors' own model and deprecation pages, where an SDK has no list or an older one. Read 2026-11-29. */
const pageNames: Readonly<Record<VendorName, readonly string[]>> = {
  anthropic: ["claude-opus-4-20250514", "claude-sonnet-4-20250514"],
  openai: ["gpt-5.5", "gpt-5.5-pro", "gpt-6-luna", "gpt-6-sol", "gpt-6.1-sol", "gpt-6.1-terra"],
  google: [
    "gemini-2.5-flash",
    "gemini-2.5-flash-lite",
    "gemini-2.5-pro",
    "gemini-3-flash-preview",
    "gemini-3-pro-preview",
    "gemini-3.1-flash-lite",
    "gemini-3.1-pro-preview",
    "gemini-3.5-flash",
    "gemini-3.5-flash-lite",
    "gemini-3.6-flash",
    "gemini-3.7-flash",
    "gemini-3.8-flash",
  ],
  deepseek: ["deepseek-chat", "deepseek-flash", "deepseek-reasoner", "deepseek-v4-flash", "deepseek-v4-pro"],
};

const names: Readonly<Record<VendorName, ReadonlySet<string>>> = {
  anthropic: new Set([...Object.keys(anthropicNames), ...pageNames.anthropic]),
  openai: new Set([...openAiNames, ...pageNames.openai]),
  google: new Set(pageNames.google),
  deepseek: new Set(pageNames.deepseek),
};

/** When a model's provider stops or stopped to serve it. */
export interface Retirement {
  /** ISO date. */
  readonly on: string;
  /** The provider's own proposal for what to use instead. */
  readonly replacement: string;
}

/**
 * Ends of life. SOURCE: @anthropic-ai/sdk 1.14.0 `internal/data/deprecated-models`; platform.claude.com release notes
 * of 2026-06-15; developers.openai.com/api/docs/deprecations; ai.google.dev/gemini-api/docs/deprecations;
 * api-docs.deepseek.com/quick_start/pricing. Read 2026-11-29.
 */
const retirements: readonly (readonly [VendorName, RegExp, Retirement])[] = [
  ["anthropic", /^claude-opus-4-20250514$/, { on: "2026-06-15", replacement: "claude-opus-5-5" }],
  ["anthropic", /^claude-sonnet-4-20250514$/, { on: "2026-06-15", replacement: "claude-sonnet-5-5" }],
  ["anthropic", /^claude-mythos-preview$/, { on: "2026-06-30", replacement: "claude-mythos-5-2" }],
  ["anthropic", /^claude-sonnet-4-5(-20250929)?$/, { on: "2026-11-30", replacement: "claude-sonnet-5-5" }],
  ["anthropic", /^claude-opus-4-5(-20251101)?$/, { on: "2027-01-22", replacement: "claude-opus-5-5" }],
  ["openai", /^(gpt-3\.5-turbo|o4-mini)/, { on: "2026-10-23", replacement: "gpt-5.6-terra" }],
  ["openai", /^gpt-4\.1-nano/, { on: "2026-10-23", replacement: "gpt-5.6-luna" }],
  ["openai", /^(gpt-4|gpt-4-\d{4}|gpt-4-turbo.*|gpt-4o-2024-05-13)$/, { on: "2026-10-23", replacement: "gpt-5.6-sol" }],
  ["openai", /^(o1|o1-2024-12-17|o1-pro.*|o3-mini.*)$/, { on: "2026-10-23", replacement: "gpt-5.6-sol" }],
  ["openai", /^o1-preview/, { on: "2025-07-28", replacement: "gpt-5.6-sol" }],
  ["openai", /^o1-mini/, { on: "2025-10-27", replacement: "gpt-5.6-terra" }],
  ["openai", /^gpt-5-mini/, { on: "2026-12-11", replacement: "gpt-6.1-terra" }],
  [
    "openai",
    /^(gpt-5|gpt-5-2025-08-07|gpt-5-nano.*|gpt-5-pro.*|o3|o3-2025.*|o3-pro.*)$/,
    { on: "2026-12-11", replacement: "gpt-6.1-sol" },
  ],
  ["openai", /^gpt-(4o|4\.1)/, { on: "2027-01-14", replacement: "gpt-6-luna" }],
  ["openai", /^gpt-5\.1(-2025-11-13)?$/, { on: "2027-04-01", replacement: "gpt-6.1-sol" }],
  ["google", /^gemini-3-pro-preview$/, { on: "2026-03-09", replacement: "gemini-3.1-pro-preview" }],
  ["google", /^gemini-2\.5-flash$/, { on: "2026-12-01", replacement: "gemini-3.5-flash-lite" }],
  ["google", /^gemini-2\.5-pro$/, { on: "2026-12-01", replacement: "gemini-3.8-flash" }],
  ["deepseek", /^deepseek-(chat|reasoner)$/, { on: "2026-07-24", replacement: "deepseek-flash" }],
  ["deepseek", /^deepseek-v4-(flash|pro)$/, { on: "2026-09-14", replacement: "deepseek-flash" }],
];

/** Known names of a provider, sorted. */
export function listKnownModels(provider: VendorName): readonly string[] {
  return [...names[provider]].sort();
}

/** Tells whether a provider's model is known by name; the OpenAI list leaves out models for other than text. */
export function isKnownModel(provider: VendorName, model: string): boolean {
  return names[provider].has(model) && !(provider === "openai" && openAiOtherKinds.test(model));
}

/** When a model's provider stops to serve it; null where no date is known. */
export function findRetirement(provider: VendorName, model: string): Retirement | null {
  return retirements.find(([vendor, pattern]) => vendor === provider && pattern.test(model))?.[2] ?? null;
}
