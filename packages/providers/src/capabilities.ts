import type { LaneLimits, Usage } from "@hallumaze/engine";

import { isVendor, type VendorName } from "./keys.ts";

/** What a family of models takes and gives. */
export interface Capabilities {
  /** Name of the family, for messages. */
  readonly family: string;
  /** False where no rule knows the name: nothing is refused then, for nothing is known. */
  readonly isListed: boolean;
  /** Null where the model refuses the parameter; else the largest value. */
  readonly temperatureMax: number | null;
  /** How the model is told to think: a token budget, an effort word, a level word, or not at all. */
  readonly thinking: "none" | "budget" | "effort" | "level";
  /** Bounds of a thinking budget; null where there is none. `off`: 0 turns thinking off. */
  readonly budget: { readonly min: number; readonly max: number; readonly off: boolean } | null;
  /** It thinks unasked, and its thoughts count against the token limit. */
  readonly thinksByDefault: boolean;
  /** Null where unknown. */
  readonly maxOutputTokens: number | null;
  readonly contextTokens: number | null;
  /** A larger token limit is streamed; null where never needed. */
  readonly streamAbove: number | null;
  /** Interface of the vendor: OpenAI has two. */
  readonly api: "messages" | "chat" | "responses" | "generateContent";
  /** Name of the token limit on the wire. */
  readonly tokenParameter: "max_tokens" | "max_completion_tokens" | "max_output_tokens" | "maxOutputTokens";
}

type Rule = readonly [RegExp, Partial<Capabilities> & { readonly family: string }];

/** The Anthropic SDK's own bound: longer than ten minutes at 128,000 tokens an hour. */
const anthropicStreamAbove = 21_333;
const anthropicBase: Capabilities = {
  family: "claude",
  isListed: true,
  temperatureMax: null,
  thinking: "effort",
  budget: null,
  thinksByDefault: true,
  maxOutputTokens: 128_000,
  contextTokens: 1_000_000,
  streamAbove: anthropicStreamAbove,
  api: "messages",
  tokenParameter: "max_tokens",
};
const openAiBase: Capabilities = {
  family: "gpt",
  isListed: true,
  temperatureMax: 2,
  thinking: "none",
  budget: null,
  thinksByDefault: false,
  maxOutputTokens: null,
  contextTokens: null,
  streamAbove: null,
  api: "chat",
  tokenParameter: "max_completion_tokens",
};
const googleBase: Capabilities = {
  family: "gemini",
  isListed: true,
  temperatureMax: 2,
  thinking: "level",
  budget: null,
  thinksByDefault: true,
  maxOutputTokens: 65_536,
  contextTokens: 1_048_576,
  streamAbove: null,
  api: "generateContent",
  tokenParameter: "maxOutputTokens",
};
const deepSeekBase: Capabilities = {
  ...openAiBase,
  family: "deepseek",
  thinking: "effort",
  thinksByDefault: true,
  maxOutputTokens: 384_000,
  contextTokens: 1_000_000,
  // It closes a silent connection after ten minutes; a stream is never silent.
  streamAbove: 32_000,
  tokenParameter: "max_tokens",
};

const claudeBudget = { min: 1024, max: 128_000, off: false };
const sampled = { temperatureMax: 1, thinking: "budget", thinksByDefault: false, budget: claudeBudget } as const;
const reasoning = { temperatureMax: null, thinking: "effort", thinksByDefault: true } as const;

/**
 * Families by name, the first match wins. Where a bound was not to be found it is the larger of the neighbours': a server
 * refuses what is too much, a plan must not refuse what would have gone. SOURCE: platform.claude.com model pages and the
 * notes on API version 2026-10-21 (no temperature, top_p, top_k); developers.openai.com model pages; ai.google.dev pages on
 * models and thinking; api-docs.deepseek.com pricing; context sizes also from @pydantic/genai-prices 0.1.8. Read 2026-11-29.
 */
const families: Readonly<Record<VendorName, { readonly base: Capabilities; readonly rules: readonly Rule[] }>> = {
  anthropic: {
    base: anthropicBase,
    rules: [
      [/^claude-(opus|sonnet)-4-6/, { family: "claude 4.6", ...sampled }],
      [/^claude-opus-4-[78]/, { family: "claude opus 4.7+", thinksByDefault: false }],
      [
        /^claude-opus-4-(5|1)/,
        { family: "claude opus 4.5", ...sampled, contextTokens: 200_000, maxOutputTokens: 64_000 },
      ],
      [/^claude-opus-4/, { family: "claude opus 4", ...sampled, contextTokens: 200_000, maxOutputTokens: 32_000 }],
      [/^claude-(sonnet|haiku)-4/, { family: "claude 4", ...sampled, contextTokens: 200_000, maxOutputTokens: 64_000 }],
      [/^claude-3/, { family: "claude 3", ...sampled, contextTokens: 200_000, maxOutputTokens: 8192 }],
      [/^claude-/, { family: "claude 5" }],
    ],
  },
  openai: {
    base: openAiBase,
    rules: [
      [
        /^o\d.*-pro/,
        { family: "o series pro", ...reasoning, api: "responses", contextTokens: 200_000, maxOutputTokens: 100_000 },
      ],
      [
        /^gpt-\d[\d.]*-pro/,
        { family: "gpt pro", ...reasoning, api: "responses", contextTokens: 400_000, maxOutputTokens: 272_000 },
      ],
      [/codex/, { family: "codex", ...reasoning, api: "responses", contextTokens: 400_000, maxOutputTokens: 128_000 }],
      [/^o1-(mini|preview)/, { family: "o1 preview", ...reasoning, contextTokens: 128_000, maxOutputTokens: 32_768 }],
      [/^o\d/, { family: "o series", ...reasoning, contextTokens: 200_000, maxOutputTokens: 100_000 }],
      [
        /^gpt-5.*chat-latest/,
        { family: "gpt-5 chat", temperatureMax: null, contextTokens: 128_000, maxOutputTokens: 16_384 },
      ],
      [
        /^gpt-(5\.[4-9]|[6-9])/,
        { family: "gpt-5.4+", ...reasoning, contextTokens: 1_050_000, maxOutputTokens: 128_000 },
      ],
      [/^gpt-5/, { family: "gpt-5", ...reasoning, contextTokens: 400_000, maxOutputTokens: 128_000 }],
      [/^gpt-4\.1/, { family: "gpt-4.1", contextTokens: 1_047_576, maxOutputTokens: 32_768 }],
      [/^gpt-4o-2024-05-13/, { family: "gpt-4o", contextTokens: 128_000, maxOutputTokens: 4096 }],
      [/^(chat)?gpt-4o/, { family: "gpt-4o", contextTokens: 128_000, maxOutputTokens: 16_384 }],
      [/^gpt-4-turbo/, { family: "gpt-4 turbo", contextTokens: 128_000, maxOutputTokens: 4096 }],
      [/^gpt-4/, { family: "gpt-4", contextTokens: 8192, maxOutputTokens: 8192 }],
      [/^gpt-3\.5/, { family: "gpt-3.5", contextTokens: 16_385, maxOutputTokens: 4096 }],
    ],
  },
  google: {
    base: googleBase,
    rules: [
      [
        /^gemini-2\.5-pro/,
        { family: "gemini 2.5 pro", thinking: "budget", budget: { min: 128, max: 32_768, off: false } },
      ],
      [
        /^gemini-2\.5-flash-lite/,
        {
          family: "gemini 2.5 flash lite",
          thinking: "budget",
          thinksByDefault: false,
          budget: { min: 512, max: 24_576, off: true },
        },
      ],
      [
        /^gemini-2\.5-flash/,
        { family: "gemini 2.5 flash", thinking: "budget", budget: { min: 1, max: 24_576, off: true } },
      ],
      [/^gemini-[12]/, { family: "gemini 2.0", thinking: "none", thinksByDefault: false, maxOutputTokens: 8192 }],
      [/^gemini-/, { family: "gemini 3" }],
    ],
  },
  deepseek: {
    base: deepSeekBase,
    rules: [
      [
        /^deepseek-reasoner/,
        { family: "deepseek reasoner", temperatureMax: null, maxOutputTokens: 64_000, contextTokens: 128_000 },
      ],
      [
        /^deepseek-chat/,
        {
          family: "deepseek chat",
          thinking: "none",
          thinksByDefault: false,
          maxOutputTokens: 8192,
          contextTokens: 128_000,
        },
      ],
      [/^deepseek-/, { family: "deepseek v4" }],
    ],
  },
};

/** A server of one's own: nothing is known of its models, and the oldest names are spoken. */
const compatible: Capabilities = {
  ...openAiBase,
  family: "OpenAI-compatible server",
  isListed: false,
  tokenParameter: "max_tokens",
};

/** What a model takes. `baseUrl` set with provider `openai` means any compatible server. */
export function findCapabilities(model: {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string | null;
}): Capabilities {
  if (!isVendor(model.provider)) return { ...openAiBase, family: model.provider, isListed: false };
  if (model.provider === "openai" && model.baseUrl !== null) return compatible;
  const { base, rules } = families[model.provider];
  // A fine-tuned model takes what its base takes.
  const name = model.model.replace(/^ft:/, "");
  const rule = rules.find(([pattern]) => pattern.test(name))?.[1];
  if (rule === undefined) {
    return { ...base, family: `unlisted ${base.family}`, isListed: false, temperatureMax: 2, maxOutputTokens: null };
  }
  const found: Capabilities = { ...base, ...rule };
  return found.api === "responses" ? { ...found, tokenParameter: "max_output_tokens" } : found;
}

/** A model's wishes about thinking, under any of the names that vendors gave them. */
export interface ThinkingWish {
  readonly budget: number | string | boolean | undefined;
  readonly effort: number | string | boolean | undefined;
  /** On, off, or the vendor's own word for how. */
  readonly mode: number | string | boolean | undefined;
  /** The parameters that are not about thinking. */
  readonly others: Readonly<Record<string, number | string | boolean>>;
}

const budgetNames = new Set(["thinkingBudget", "thinking_budget", "budgetTokens", "budget_tokens"]);
const effortNames = new Set(["reasoningEffort", "reasoning_effort", "effort", "thinkingLevel", "thinking_level"]);

/** Reads what a spec's parameters say about thinking. */
export function readThinking(params: Readonly<Record<string, number | string | boolean>>): ThinkingWish {
  const entries = Object.entries(params);
  const valueOf = (names: ReadonlySet<string>) => entries.find(([name]) => names.has(name))?.[1];
  return {
    budget: valueOf(budgetNames),
    effort: valueOf(effortNames),
    mode: params["thinking"],
    others: Object.fromEntries(
      entries.filter(([name]) => !budgetNames.has(name) && !effortNames.has(name) && name !== "thinking"),
    ),
  };
}

/** Limits to begin with, and where they come from. */
export interface DefaultLimits {
  readonly limits: LaneLimits;
  readonly source: string;
  /** ISO date on which the source was read. */
  readonly readOn: string;
}

const readOn = "2026-11-29";
const startLimits: readonly (readonly [string, RegExp, LaneLimits, string])[] = [
  [
    "anthropic",
    /fable|mythos/,
    { rpm: 1000, inputTpm: 500_000, outputTpm: 100_000 },
    "platform.claude.com rate limits, tier Start",
  ],
  [
    "anthropic",
    /haiku/,
    { rpm: 50, inputTpm: 50_000, outputTpm: 10_000 },
    "docs.anthropic.com rate limits, tier 1 (the lowest that was published; headers raise it)",
  ],
  [
    "anthropic",
    /^/,
    { rpm: 50, inputTpm: 30_000, outputTpm: 8000 },
    "docs.anthropic.com rate limits, tier 1 (the lowest that was published; headers raise it)",
  ],
  [
    "openai",
    /^gpt-4o-mini|^gpt-4\.1-(mini|nano)|^gpt-5.*(mini|nano)|luna/,
    { rpm: 500, tpm: 200_000 },
    "platform.openai.com model pages, tier 1",
  ],
  ["openai", /^/, { rpm: 500, tpm: 30_000 }, "platform.openai.com model pages, tier 1 (gpt-4o)"],
  ["google", /pro/, { rpm: 150, inputTpm: 2_000_000 }, "ai.google.dev rate limits, tier 1 (gemini-2.5-pro)"],
  ["google", /^/, { rpm: 1000, inputTpm: 1_000_000 }, "ai.google.dev rate limits, tier 1 (gemini-2.5-flash)"],
  ["deepseek", /pro/, { concurrency: 500 }, "api-docs.deepseek.com pricing, concurrency limit"],
  ["deepseek", /^/, { concurrency: 2500 }, "api-docs.deepseek.com pricing, concurrency limit"],
];

/** The published limits of the lowest paid tier; none for a server of one's own. Headers correct them on the way. */
export function findDefaultLimits(model: {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string | null;
}): DefaultLimits | null {
  if (model.baseUrl !== null) return null;
  const row = startLimits.find(([provider, pattern]) => provider === model.provider && pattern.test(model.model));
  return row === undefined ? null : { limits: row[2], source: row[3], readOn };
}

/**
 * What an exchange counts against its lane's limits: null where the vendor does not say. Anthropic leaves tokens read
 * from the cache out of its input limit; the others count them. SOURCE: platform.claude.com, rate limits (cache-aware
 * input), read 2026-11-29.
 */
export function countForLimits(provider: string, usage: Usage): Pick<Usage, "inputTokens" | "outputTokens"> {
  const { inputTokens, outputTokens, cachedTokens } = usage;
  if (provider !== "anthropic" || inputTokens === null) return { inputTokens, outputTokens };
  return { inputTokens: inputTokens - (cachedTokens ?? 0), outputTokens };
}

/** Keywords of JSON Schema that vendors' structured output refuses; the reader of the answer holds it to them anyway. */
const refusedKeywords = new Set([
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "pattern",
  "$schema",
]);

/**
 * A JSON Schema with what every vendor's structured output takes: types, enums, required and closed objects. SOURCE: the
 * structured-output pages of platform.claude.com, developers.openai.com and ai.google.dev (read 2026-11-30).
 */
export function bareSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(bareSchema);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => !refusedKeywords.has(key))
      .map(([key, value]) => [key, bareSchema(value)]),
  );
}
