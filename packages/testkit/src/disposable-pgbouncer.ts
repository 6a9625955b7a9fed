import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { findFreePort } from "./disposable-redis.ts";
import type { TestCertificates } from "./test-certificates.ts";
import { findTool } from "./test-tools.ts";

/** A PgBouncer of a test's own, in transaction mode, before a database. */
export interface DisposablePgBouncer {
  /** The database through the pooler. */
  readonly url: string;
  readonly drop: () => Promise<void>;
}

/** Which account runs it where the test is root, as which it refuses to run. SOURCE: Debian, `nobody`. */
const nobody = 65_534;

/**
 * Starts a PgBouncer that gives each transaction one of `servers` connections, far fewer than its clients have. It refuses
 * settings at the start of a connection, as it ships. With `certificates` it speaks TLS only.
 */
export async function createPgBouncer(
  databaseUrl: string,
  options: { readonly servers?: number; readonly certificates?: TestCertificates } = {},
): Promise<DisposablePgBouncer> {
  const found = findTool("pgbouncer");
  if (found.kind === "missing") throw new Error(found.reason);
  const folder = mkdtempSync(join(tmpdir(), "hallumaze-pgbouncer-"));
  chmodSync(folder, 0o755);
  const port = await findFreePort();
  const database = new URL(databaseUrl);
  const name = database.pathname.slice(1);
  const { certificates } = options;
  const lines = [
    "[databases]",
    `${name} = host=${database.hostname} port=${database.port} user=${database.username} password='${decodeURIComponent(database.password)}'`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    `default_pool_size = ${options.servers ?? 3}`,
    "max_client_conn = 500",
    ...(certificates === undefined
      ? []
      : [
          "client_tls_sslmode = require",
          `client_tls_cert_file = ${certificates.certificateFile}`,
          `client_tls_key_file = ${certificates.keyFile}`,
        ]),
  ];
  const settings = join(folder, "pgbouncer.ini");
  writeFileSync(settings, `${lines.join("\n")}\n`);
  const account = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  const server = spawn(found.path, [settings], { stdio: ["ignore", "ignore", "pipe"], cwd: folder, ...account });
  await answers(server, port);
  const url = new URL(databaseUrl);
  url.port = `${port}`;
  return {
    url: url.href,
    drop: async () => {
      if (server.exitCode === null && server.signalCode === null) {
        const gone = once(server, "exit");
        server.kill("SIGKILL");
        await gone;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves once something listens there; rejects with what the server said where it ends or takes 10 s. */
async function answers(server: ChildProcess, port: number): Promise<void> {
  let said = "";
  let over = false;
  server.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  server.on("error", (error) => (said += error.message));
  server.on("close", () => (over = true));
  const giveUpAt = performance.now() + 10_000;
  while (!(await listens(port))) {
    if (over || performance.now() > giveUpAt) {
      server.kill("SIGKILL");
      throw new Error(`pgbouncer did not come up: ${said}`);
    }
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => void setTimeout(resolve, 20, false));
  });
}
