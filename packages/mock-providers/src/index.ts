export type { SolverChoice } from "./answer-question.ts";
export type { BatchCounts } from "./batch-desk.ts";
export type { FailureKind, Finish, ReplyShape, RetryAfterForm, Vendor } from "./dialect.ts";
export type { LaneLimits, LimitTable } from "./enforce-limits.ts";
export { MockProvidersError } from "./errors.ts";
export type { Counts, LaneCounts, LoggedRequest, RequestEnd, WindowMaxima } from "./keep-counts.ts";
export type { BatchRule, Rule } from "./script-schema.ts";
export {
  type MockProviders,
  mockProvidersFromOptions,
  type MockProvidersOptions,
  type MockUrls,
  startMockProviders,
} from "./start-mock-providers.ts";
