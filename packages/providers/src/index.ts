export { ProviderError } from "./errors.ts";
export { builtProviders, openProviders } from "./open-providers.ts";
