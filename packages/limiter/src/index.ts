export { LimiterError, type LimiterErrorCode } from "./errors.ts";
export { type LimiterOptions, type LimiterTarget, openLimiter } from "./open-limiter.ts";
export { defaultLimiterSettings, type LimiterSettings } from "./settings.ts";
