import {
  type AddCommand,
  type Console,
  exitCodes,
  integerBetween,
  listenProblem,
  readText,
  UsageError,
} from "@hallumaze/console";

import { mockProvidersFromOptions, startMockProviders } from "@hallumaze/mock-providers";
import type { House } from "@hallumaze/runtime";

/** `mock-providers`: the vendors' servers for rehearsals, until it is told to stop. */
export const addMockProvidersCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("mock-providers")
    .description("serve the vendors' wire formats on this machine, for rehearsals and tests, until Ctrl-C")
    .option("--port <n>", "port of the loopback; 0 takes a free one", integerBetween(0, 65_535), 0)
    .option("--config <file>", "JSON file with limits, latency, scripted faults")
    .option("--json", "print the addresses as JSON")
    .addHelpText("after", "\nExample:\n  $ hallumaze mock-providers --port 4010\n");
  register(command, async (options: { readonly port: number; readonly config?: string; readonly json?: boolean }) => {
    const config = options.config === undefined ? {} : await readConfig(console, options.config);
    const server = await mockProvidersFromOptions({ port: options.port, ...config }).catch(rethrowPlain);
    try {
      const variables = server.environment();
      if (options.json) console.out(JSON.stringify({ urls: server.urls, environment: variables }));
      else for (const [name, value] of Object.entries(variables)) console.out(`export ${name}=${value}`);
      await new Promise<void>((done) => {
        if (console.interrupt.aborted) done();
        else console.interrupt.addEventListener("abort", () => done(), { once: true });
      });
    } finally {
      await server.close();
    }
    return exitCodes.ok;
  });
};

/** A port that is taken is told as every other command tells it. */
function rethrowPlain(error: unknown): never {
  const cause = error instanceof Error ? error.cause : undefined;
  throw listenProblem(cause) === null ? error : cause;
}

async function readConfig(console: Console, path: string): Promise<Record<string, unknown>> {
  const text = await readText(console, path);
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    throw new UsageError(`${path} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

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
        complete: (request, signal) => {
          // Neither a server nor a key of the spec's own takes part: a real key must not travel in a rehearsal.
          const isCompatible = request.provider === "openai" && request.baseUrl !== null;
          const baseUrl = isCompatible ? compatibleBaseUrl : null;
          return house.provider.complete({ ...request, baseUrl, keyEnv: null }, signal);
        },
      },
      batches: {
        ...house.batches,
        submit: (batch, rows, signal) => house.batches.submit({ ...batch, keyEnv: null }, rows, signal),
        find: (batch, sinceMs, signal) => house.batches.find({ ...batch, keyEnv: null }, sinceMs, signal),
        look: (batch, vendorId, signal) => house.batches.look({ ...batch, keyEnv: null }, vendorId, signal),
        cancel: (batch, vendorId, signal) => house.batches.cancel({ ...batch, keyEnv: null }, vendorId, signal),
        results: (batch, vendorId, signal) => house.batches.results({ ...batch, keyEnv: null }, vendorId, signal),
      },
    }),
    [Symbol.asyncDispose]: () => server.close(),
  };
}
