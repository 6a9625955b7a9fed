import { createWatchApi, listen, type WatchPorts } from "@hallumaze/api";
import { type Console, UsageError } from "@hallumaze/console";

/** Longest wait for answers under way when the port closes. */
const closeMs = 1000;

/** Where a worker tells of itself, and to whom. */
export interface HealthPort {
  readonly host: string;
  readonly port: number;
  /** Null: to this machine only. */
  readonly token: string | null;
}

/** Reads the port that a worker is to tell of itself on: the option's, else that of `HALLUMAZE_HEALTH_PORT`; null: none. */
export function chooseHealthPort(
  { variables }: Pick<Console, "variables">,
  options: { readonly healthPort?: number; readonly healthHost: string },
): HealthPort | null {
  const port = options.healthPort ?? portOf(variables["HALLUMAZE_HEALTH_PORT"]);
  if (port === null) return null;
  const given = variables["HALLUMAZE_API_TOKEN"] || null;
  const token = given === null ? null : checkToken(given);
  const host = options.healthHost;
  if (token === null && !isLoopback(host)) {
    throw new UsageError(
      `--health-host ${host} is open to others: set HALLUMAZE_API_TOKEN, which they then have to send.`,
    );
  }
  return { host, port, token };
}

/** Opens that port; its address is said on stderr. */
export async function openHealthPort(
  console: Pick<Console, "err" | "logger">,
  chosen: HealthPort | null,
  ports: Pick<WatchPorts, "checks" | "metrics">,
): Promise<AsyncDisposable | null> {
  if (chosen === null) return null;
  const onError = (error: unknown): void => console.logger().error({ err: error }, "request failed");
  const server = await listen(createWatchApi({ ...ports, onError }, { token: chosen.token }), chosen);
  console.err(`health: ${server.url}/readyz`);
  return { [Symbol.asyncDispose]: () => server.close(closeMs) };
}

/** Whether an address is reached from this machine only. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/.test(host);
}

/** Gives the token back where it can stand in a header. */
export function checkToken(token: string): string {
  if (/^[\x21-\x7e]{16,200}$/.test(token)) return token;
  throw new UsageError("HALLUMAZE_API_TOKEN: must be 16 to 200 printable ASCII characters without spaces.");
}

function portOf(text: string | undefined): number | null {
  if (text === undefined || text === "") return null;
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`HALLUMAZE_HEALTH_PORT: must be a port from 0 to 65535; got "${text}".`);
}
