import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { connect as connectTls } from "node:tls";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { TestCertificates } from "./test-certificates.ts";

/** A Redis server of a test's own, on a free port of the loopback, with its data in a temporary folder. */
export interface DisposableRedis {
  /** Password included where there is one. */
  readonly url: string;
  /** SIGKILL: what a crash leaves. Resolves once the process is gone. */
  readonly kill: () => Promise<void>;
  readonly port: number;
  /** Process id, for signals of a test's own. */
  readonly pid: () => number;
  /** Starts the server again, killed before where it was not, on the same port; `emptied` without its data. */
  readonly restart: (options?: { readonly emptied?: boolean }) => Promise<void>;
  /** Lets the server stand still; `thaw` lets it go on. */
  readonly freeze: () => void;
  readonly thaw: () => void;
  /** Stops the server and removes its data. */
  readonly drop: () => Promise<void>;
}

/** Whether, and on what, tests that need Redis can run here. */
export type RedisForTests =
  | { readonly kind: "installed" }
  /** Somebody's server: nothing but our own keys may be touched, and it cannot be killed. */
  | { readonly kind: "given"; readonly url: string }
  | { readonly kind: "missing"; readonly reason: string };

/**
 * Looks for `redis-server` on the PATH, then at `REDIS_URL`.
 *
 * No npm package ships a Redis, so a machine may lack one. With `HALLUMAZE_REQUIRE_REDIS=1` the answer is always
 * "installed": tests then fail instead of passing by not running.
 */
export function findRedis(): RedisForTests {
  if (process.env["HALLUMAZE_REQUIRE_REDIS"] === "1") return { kind: "installed" };
  if (spawnSync("redis-server", ["--version"]).status === 0) return { kind: "installed" };
  const url = process.env["REDIS_URL"];
  if (url !== undefined && url !== "") return { kind: "given", url };
  return {
    kind: "missing",
    reason: "redis-server is not installed (apt-get install redis-server) and REDIS_URL is unset",
  };
}

/**
 * Starts a Redis server. Rejects with what the server said where it does not come up in 10 s.
 *
 * `appendOnly` keeps what was written through a kill, as production should; `maxMemoryMb` with noeviction makes writes
 * fail when full. With `certificates` it speaks TLS only; `words` are further words of the command line.
 */
export async function createRedis(
  options: {
    readonly appendOnly?: boolean;
    readonly password?: string;
    readonly maxMemoryMb?: number;
    readonly certificates?: TestCertificates;
    readonly words?: readonly string[];
  } = {},
): Promise<DisposableRedis> {
  const folder = await mkdtemp(join(tmpdir(), "hallumaze-redis-"));
  const port = await findFreePort();
  const { certificates } = options;
  const settings = [
    ...(certificates === undefined
      ? [["--port", `${port}`]]
      : [
          ["--port", "0"],
          ["--tls-port", `${port}`],
          ["--tls-cert-file", certificates.certificateFile],
          ["--tls-key-file", certificates.keyFile],
          ["--tls-ca-cert-file", certificates.caFile],
          ["--tls-auth-clients", "no"],
        ]),
    ["--bind", "127.0.0.1"],
    ["--dir", folder],
    ["--save", ""],
    ["--appendonly", options.appendOnly === true ? "yes" : "no"],
    ["--appendfsync", "always"],
    ...(options.password === undefined ? [] : [["--requirepass", options.password]]),
    ...(options.maxMemoryMb === undefined ? [] : [["--maxmemory", `${options.maxMemoryMb}mb`]]),
    options.words ?? [],
  ].flat();

  const isTls = certificates !== undefined;
  let server = await start(settings, port, isTls);
  const kill = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, "exit");
    server.kill("SIGKILL");
    await gone;
  };
  const login = options.password === undefined ? "" : `:${encodeURIComponent(options.password)}@`;
  return {
    url: `${isTls ? "rediss" : "redis"}://${login}127.0.0.1:${port}`,
    port,
    pid: () => server.pid ?? 0,
    kill,
    restart: async ({ emptied = false } = {}) => {
      await kill();
      if (emptied) await rm(join(folder, "appendonlydir"), { recursive: true, force: true });
      server = await start(settings, port, isTls);
    },
    freeze: () => void server.kill("SIGSTOP"),
    thaw: () => void server.kill("SIGCONT"),
    drop: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A port that nobody listens on at this moment. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port");
  return address.port;
}

async function start(settings: readonly string[], port: number, isTls: boolean): Promise<ChildProcess> {
  const server = spawn("redis-server", settings, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const failed = Promise.race([
    once(server, "error").then(([error]) => `${error}`),
    once(server, "exit").then(([code]) => `it ended with code ${code}: ${said}`),
  ]);
  const deadline = Date.now() + 10_000;
  let over: string | null = null;
  void failed.then((reason) => {
    over = reason;
  });
  while (!(await accepts(port, isTls))) {
    if (over !== null || Date.now() > deadline) {
      server.kill("SIGKILL");
      throw new Error(`redis-server did not come up: ${over ?? said}`);
    }
  }
  return server;
}

/** Whether a server answers a PING there (or asks for a password); waits at most 200 ms. */
async function accepts(port: number, isTls: boolean): Promise<boolean> {
  return new Promise((resolve) => {
    // Only whether it is up is asked: whom to trust is what the tests are about.
    const socket = isTls
      ? connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false })
      : connect(port, "127.0.0.1");
    const end = (answered: boolean): void => {
      socket.destroy();
      if (answered) resolve(true);
      else setTimeout(resolve, 20, false);
    };
    socket.setTimeout(200, () => end(false));
    socket.on("error", () => end(false));
    socket.on(isTls ? "secureConnect" : "connect", () => socket.write("PING\r\n"));
    socket.on("data", (data) => end(/^\+PONG|^-NOAUTH/.test(data.toString())));
  });
}
