import { type Capabilities, findCapabilities, readThinking } from "./capabilities.ts";
import { isVendor } from "./keys.ts";
import { findRetirement, isKnownModel } from "./known-models.ts";

/** What a plan wants of one model. */
export interface ModelWish {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string | null;
  readonly temperature: number | null;
  /** The spec names the temperature; else it is the default, and may be dropped. */
  readonly temperatureExplicit: boolean;
  readonly maxTokens: number;
  readonly params: Readonly<Record<string, number | string | boolean>>;
}

/** Something that a plan's reader must know, or that stops the plan. */
export interface ModelIssue {
  readonly severity: "error" | "warning";
  readonly code:
    | "model-unlisted"
    | "model-retired"
    | "model-retires"
    | "temperature-refused"
    | "temperature-dropped"
    | "temperature-range"
    | "thinking-refused"
    | "thinking-budget"
    | "thinking-takes-limit"
    | "max-tokens";
  /** The parameter that it is about; null where it is about the model. */
  readonly parameter: string | null;
  readonly message: string;
}

/** Result of checking a model: the issues, and the temperature that will be sent. */
export interface ModelCheck {
  readonly issues: readonly ModelIssue[];
  /** Null where none will be sent. */
  readonly temperature: number | null;
}

/** Below this, a model that thinks unasked is likely to be cut off before it answers. */
const thinkingRoom = 4096;

/**
 * Checks a model's parameters against its family's rules, before anything is spent. `today` is an ISO date.
 *
 * SOURCE: spec/sweeps.md sections 1 and 2; cases/field-tests.md T51, T52.
 */
export function checkModel(wish: ModelWish, today: string): ModelCheck {
  if (!isVendor(wish.provider)) return { issues: [], temperature: wish.temperature };
  const capabilities = findCapabilities(wish);
  const issues = [
    ...checkName(wish, today),
    ...checkTemperature(wish, capabilities),
    ...checkThinking(wish, capabilities),
    ...checkTokens(wish, capabilities),
  ];
  const keepsTemperature = capabilities.temperatureMax !== null && !clashes(wish, capabilities);
  return { issues, temperature: keepsTemperature ? wish.temperature : null };
}

function checkName({ provider, model, baseUrl }: ModelWish, today: string): readonly ModelIssue[] {
  if (!isVendor(provider) || baseUrl !== null) return [];
  const retirement = findRetirement(provider, model);
  if (retirement !== null) {
    const isPast = retirement.on <= today;
    const message = `${provider}/${model} ${isPast ? "was retired" : "will be retired"} on ${retirement.on}; its provider names ${retirement.replacement} as successor`;
    return [{ severity: "warning", code: isPast ? "model-retired" : "model-retires", parameter: null, message }];
  }
  if (isKnownModel(provider, model)) return [];
  const message = `${provider}/${model} is not a name that this version knows: it is sent as it is, with the defaults of ${provider}`;
  return [{ severity: "warning", code: "model-unlisted", parameter: null, message }];
}

function checkTemperature(wish: ModelWish, capabilities: Capabilities): readonly ModelIssue[] {
  const { temperature, temperatureExplicit } = wish;
  if (temperature === null) return [];
  const { family, temperatureMax } = capabilities;
  if (temperatureMax === null || clashes(wish, capabilities)) {
    const reason =
      temperatureMax === null ? `${family} takes no temperature` : `${family} takes no temperature while it thinks`;
    return temperatureExplicit
      ? [
          issue(
            "error",
            "temperature-refused",
            "temperature",
            `${reason}, and the spec asks for ${temperature}: remove it`,
          ),
        ]
      : [
          issue(
            "warning",
            "temperature-dropped",
            "temperature",
            `${reason}: the default of ${temperature} is not sent`,
          ),
        ];
  }
  if (temperature >= 0 && temperature <= temperatureMax) return [];
  const message = `temperature is ${temperature}; ${family} takes 0 to ${temperatureMax}`;
  return [issue("error", "temperature-range", "temperature", message)];
}

/** Anthropic: with extended thinking the temperature is 1. */
function clashes(wish: ModelWish, capabilities: Capabilities): boolean {
  const { budget } = readThinking(wish.params);
  return (
    capabilities.isListed &&
    capabilities.api === "messages" &&
    typeof budget === "number" &&
    budget > 0 &&
    wish.temperature !== 1
  );
}

function checkThinking(wish: ModelWish, capabilities: Capabilities): readonly ModelIssue[] {
  const { family, thinking, budget, isListed } = capabilities;
  const { budget: asked, effort } = readThinking(wish.params);
  const issues: ModelIssue[] = [];
  if (asked !== undefined && budget === null && isListed) {
    const other = thinking === "none" ? "does not think" : `takes params.reasoningEffort, no token budget`;
    issues.push(issue("error", "thinking-refused", "thinkingBudget", `${family} ${other}`));
  }
  if (effort !== undefined && thinking === "none" && isListed) {
    issues.push(issue("error", "thinking-refused", "reasoningEffort", `${family} does not think`));
  }
  if (asked !== undefined && budget !== null) {
    const isOff = asked === 0 && (budget.off || capabilities.api === "messages");
    const isAuto = asked === -1 && capabilities.api === "generateContent";
    const fits = typeof asked === "number" && Number.isInteger(asked) && asked >= budget.min && asked <= budget.max;
    if (!isOff && !isAuto && !fits) {
      const bounds = `${budget.min} to ${budget.max}${budget.off ? ", or 0" : ""}`;
      issues.push(
        issue(
          "error",
          "thinking-budget",
          "thinkingBudget",
          `thinkingBudget is ${String(asked)}; ${family} takes ${bounds}`,
        ),
      );
    } else if (typeof asked === "number" && asked >= wish.maxTokens) {
      const message = `thinkingBudget is ${asked} and maxTokens ${wish.maxTokens}: the budget must be the smaller one, for thoughts count against the limit`;
      issues.push(issue("error", "thinking-budget", "thinkingBudget", message));
    }
  }
  if (capabilities.thinksByDefault && isListed && asked === undefined && wish.maxTokens < thinkingRoom) {
    const message = `${family} thinks unasked and its thoughts count against maxTokens ${wish.maxTokens}: answers may be cut off`;
    issues.push(issue("warning", "thinking-takes-limit", "maxTokens", message));
  }
  return issues;
}

function checkTokens({ maxTokens }: ModelWish, { family, maxOutputTokens }: Capabilities): readonly ModelIssue[] {
  if (maxOutputTokens === null || maxTokens <= maxOutputTokens) return [];
  return [
    issue("error", "max-tokens", "maxTokens", `maxTokens is ${maxTokens}; ${family} gives at most ${maxOutputTokens}`),
  ];
}

function issue(
  severity: ModelIssue["severity"],
  code: ModelIssue["code"],
  parameter: string,
  message: string,
): ModelIssue {
  return { severity, code, parameter, message };
}
