import { readFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { openEmbeddedPostgres } from "@hallumaze/store";
import pg from "pg";

/** How a server of a test ends: in order without waiting for its clients, at once with a recovery, or killed. */
export type PostgresStop = "fast" | "immediate" | "kill";

/** A PostgreSQL server of a test's own that may be ended at any moment; it is started again at the same port. */
export interface PostgresServer {
  readonly url: string;
  /** Ends the server; resolves once another answers. */
  readonly restart: (how: PostgresStop, timeoutMs?: number) => Promise<void>;
  /** Lets every process of the server stand still, as a disk does whose `fsync` hangs; `thaw` lets them go on. */
  readonly freeze: () => void;
  readonly thaw: () => void;
  /** Stops the server and removes its data. */
  readonly drop: () => Promise<void>;
}

const signals = { fast: "SIGINT", immediate: "SIGQUIT", kill: "SIGKILL" } as const;

/** Starts a server with its data in `folder`, in a temporary folder where none is given; it waits for its disk as one in earnest does. */
export async function createPostgresServer(folder?: string): Promise<PostgresServer> {
  const home = await mkdtemp(join(folder ?? tmpdir(), "hallumaze-postgres-"));
  // The server runs under an account of its own where the tests run as root.
  await chmod(home, 0o755);
  const server = await openEmbeddedPostgres({ home });
  const pid = (): number =>
    Number(readFileSync(join(server.dataFolder, "data", "postmaster.pid"), "utf8").split("\n")[0]);
  return {
    url: server.url,
    restart: async (how, timeoutMs = 180_000) => {
      const former = pid();
      process.kill(former, signals[how]);
      const giveUpAtMs = performance.now() + timeoutMs;
      while (!(await answersAnew(server.url, former, pid))) {
        if (performance.now() > giveUpAtMs) throw new Error(`no PostgreSQL within ${timeoutMs} ms after its end`);
        await sleep(100);
      }
    },
    freeze: () => signalAll(pid(), "SIGSTOP"),
    thaw: () => signalAll(pid(), "SIGCONT"),
    drop: async () => {
      await server.close();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Each process of a server leads a group of its own, so they are signalled one by one; needs Linux. */
function signalAll(postmaster: number, signal: "SIGSTOP" | "SIGCONT"): void {
  // The postmaster first, so that it starts no process meanwhile.
  process.kill(postmaster, signal);
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8").trim();
  for (const child of children.split(" ").filter((text) => text !== "")) {
    try {
      process.kill(Number(child), signal);
    } catch {
      // It has ended by itself.
    }
  }
}

async function answersAnew(url: string, former: number, pid: () => number): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  client.on("error", () => undefined);
  try {
    if (pid() === former) return false;
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
