export type { ProviderUsage } from "./attempt.ts";
export {
  type Capabilities,
  type DefaultLimits,
  countForLimits,
  findCapabilities,
  findDefaultLimits,
  readThinking,
  type ThinkingWish,
} from "./capabilities.ts";
export { checkModel, type ModelCheck, type ModelIssue, type ModelWish } from "./check-model.ts";
export { ProviderError } from "./errors.ts";
export { findMissingKeys, type ModelAddress, type Variables, vendorVariables } from "./keys.ts";
export { findRetirement, isKnownModel, listKnownModels, type Retirement } from "./known-models.ts";
export { builtProviders, openProviders, type Providers } from "./open-providers.ts";
export {
  type Cost,
  costBound,
  costOf,
  findPrice,
  type MissingPrice,
  missingPrices,
  type Price,
  priceDate,
  type PricedModel,
  type PriceOverrides,
} from "./prices.ts";
export { type Deadlines, defaultDeadlines } from "./recorder.ts";
