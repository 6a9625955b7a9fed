import { startMockProviders } from "@hallumaze/mock-providers";
import type { House } from "@hallumaze/runtime";

/** A local server in the vendors' place. */
export interface Rehearsal extends AsyncDisposable {
  /** Keys and servers that lead every vendor's requests to it. */
  readonly variables: Readonly<Record<string, string>>;
  /** The house with requests to a spec's own servers led there too. */
  readonly redirect: (house: House) => House;
}

/** Starts the rehearsal's server on a free port of the loopback. */
export async function openRehearsal(): Promise<Rehearsal> {
  const server = await startMockProviders({});
  const { compatibleBaseUrl } = server.urls;
  return {
    variables: server.environment(),
    redirect: (house) => ({
      ...house,
      provider: {
        ...house.provider,
        complete: (request, signal) =>
          house.provider.complete(
            request.baseUrl === null ? request : { ...request, baseUrl: compatibleBaseUrl, keyEnv: null },
            signal,
          ),
      },
    }),
    [Symbol.asyncDispose]: () => server.close(),
  };
}
