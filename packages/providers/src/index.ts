export { type Draft, failureOf, type ProviderUsage } from "./attempt.ts";
export type { Failure } from "./classify-failure.ts";
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
export {
  type Endpoint,
  findMissingKeys,
  isVendor,
  type ModelAddress,
  type Variables,
  type VendorName,
  vendorVariables,
} from "./keys.ts";
export { findRetirement, isKnownModel, listKnownModels, type Retirement } from "./known-models.ts";
export { builtProviders, openProviders, type Providers, type Wire } from "./open-providers.ts";
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
export { type Deadlines, defaultDeadlines, type Exchange } from "./recorder.ts";
