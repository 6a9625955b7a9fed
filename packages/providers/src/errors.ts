import { type ErrorContext, HalluMazeError } from "@hallumaze/foundation";

/** A request that cannot be made at all: an unknown provider, or an SDK that refused it before sending. */
export class ProviderError extends HalluMazeError {}

/** No provider of that name is built in. */
export function providerUnknown(provider: string, known: readonly string[]): ProviderError {
  return new ProviderError("provider-unknown", `provider "${provider}" is not known; there are: ${known.join(", ")}`);
}

/** An SDK gave up before a byte was sent: its argument checks, or a fault of ours. */
export function requestNotSent(cause: unknown, message: string, context: ErrorContext): ProviderError {
  return new ProviderError("request-not-sent", `the SDK sent no request: ${message}`, { cause, context });
}
