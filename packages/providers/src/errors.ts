import { HalluMazeError } from "@hallumaze/foundation";

/** A request that cannot be made at all: an unknown provider, or an SDK that refused it before sending. */
export class ProviderError extends HalluMazeError {}

/** No provider of that name is built in. */
export function providerUnknown(provider: string, known: readonly string[]): ProviderError {
  return new ProviderError("provider-unknown", `provider "${provider}" is not known; there are: ${known.join(", ")}`);
}

/** An SDK gave up before a byte was sent. Its own error is not kept as the cause: it may quote headers, and so the key. */
export function requestNotSent(message: string): ProviderError {
  return new ProviderError("request-not-sent", `the SDK sent no request: ${message}`);
}
