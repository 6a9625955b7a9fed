import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import pg from "pg";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { pidExists, readProcStat } from "../process-identity.ts";
import { openEmbeddedPostgres } from "./open-embedded-postgres.ts";

const clientScript = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../test/embedded-client.ts");
const tsx = createRequire(import.meta.url).resolve("tsx");
const settings = { fsync: "off" };

let home: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), "hallumaze-embedded-"));
  // It is made closed to everybody else: so to the account that the server runs as under root.
  chmodSync(home, 0o755);
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  // Whatever a test has left running is joined and, by its last client, stopped.
  await (await openEmbeddedPostgres({ home, settings })).close();
  rmSync(home, { recursive: true, force: true });
});

interface Client {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly dataFolder: string;
  readonly connections: string;
  readonly leave: () => Promise<void>;
}

async function startClient(as: { readonly uid?: number; readonly gid?: number } = {}): Promise<Client> {
  const child = spawn(process.execPath, ["--import", tsx, clientScript, home], {
    ...as,
    cwd: home,
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.push(child);
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const told = JSON.parse(line) as Omit<Client, "child" | "leave">;
  return {
    child,
    ...told,
    leave: async () => {
      const ended = once(child, "exit");
      child.stdin.end();
      await ended;
    },
  };
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

async function query(url: string, sql: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

function isRunning(pid: number): boolean {
  return pidExists(pid) && readProcStat(pid)?.state !== "Z";
}

describe("openEmbeddedPostgres", () => {
  it("lets three processes that start cold at once share one server, which the last to leave stops", async () => {
    const clients = await Promise.all([startClient(), startClient(), startClient()]);
    const pid = clients[0]?.pid ?? 0;
    expect(clients.map((client) => client.pid)).toEqual([pid, pid, pid]);
    expect(clients[0]?.connections).toBe("200");
    await clients[0]?.leave();
    await clients[1]?.leave();
    expect(isRunning(pid)).toBe(true);
    await clients[2]?.leave();
    expect(isRunning(pid)).toBe(false);
    expect(readdirSync(path.join(home, "clients"))).toEqual([]);
  });

  it("does not count a client that was killed", async () => {
    const killed = await startClient();
    const server = await openEmbeddedPostgres({ home, settings });
    await kill(killed.child);
    expect(server.pid).toBe(killed.pid);
    await server.close();
    expect(isRunning(server.pid)).toBe(false);
  });

  it("joins the server that a killed client has left running, and stops it as the last", async () => {
    const killed = await startClient();
    await kill(killed.child);
    expect(isRunning(killed.pid)).toBe(true);
    const server = await openEmbeddedPostgres({ home, settings });
    expect(server.pid).toBe(killed.pid);
    await server.close();
    await server.close();
    expect(isRunning(killed.pid)).toBe(false);
  });

  it("starts a killed server again at the same port, with everything that was committed", async () => {
    const first = await openEmbeddedPostgres({ home, settings });
    await query(first.url, "CREATE TABLE kept AS SELECT 7 AS value");
    process.kill(first.pid, "SIGKILL");
    const kept = await vi.waitFor(() => query(first.url, "SELECT value FROM kept"), { timeout: 30_000, interval: 50 });
    expect(kept).toEqual([{ value: 7 }]);
    const second = await openEmbeddedPostgres({ home, settings });
    expect(second.url).toBe(first.url);
    expect(second.pid).not.toBe(first.pid);
    await second.close();
    expect(isRunning(second.pid)).toBe(true);
    await first.close();
    expect(isRunning(second.pid)).toBe(false);
  });

  it.runIf(process.platform === "linux")(
    "comes back at the same port though a process of the killed server holds its memory for a while",
    async () => {
      const first = await openEmbeddedPostgres({ home, settings });
      const client = new pg.Client({ connectionString: first.url });
      client.on("error", () => undefined);
      await client.connect();
      const [backend] = (await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")).rows;
      // A process that stands still does not notice that its server is gone.
      process.kill(backend?.pid ?? 0, "SIGSTOP");
      process.kill(first.pid, "SIGKILL");
      const log = path.join(first.dataFolder, "postgres.log");
      await vi.waitFor(() => expect(readFileSync(log, "utf8")).toContain("shared memory block"), { timeout: 30_000 });
      process.kill(backend?.pid ?? 0, "SIGCONT");
      const answer = await vi.waitFor(() => query(first.url, "SELECT 1 AS one"), { timeout: 30_000, interval: 50 });
      expect(answer).toEqual([{ one: 1 }]);
      await first.close();
    },
  );

  it("takes another port where the last one is taken", async () => {
    const first = await openEmbeddedPostgres({ home, settings });
    await first.close();
    const port = Number(new URL(first.url).port);
    const stranger = createServer().listen(port, "127.0.0.1");
    await once(stranger, "listening");
    const second = await openEmbeddedPostgres({ home, settings });
    expect(Number(new URL(second.url).port)).not.toBe(port);
    expect(await query(second.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await second.close();
    await new Promise((resolve) => stranger.close(resolve));
  });

  it("is not misled by the pid file of a crashed machine, whose number another process has now", async () => {
    const first = await openEmbeddedPostgres({ home, settings });
    const pidFile = path.join(first.dataFolder, "data", "postmaster.pid");
    const lines = readFileSync(pidFile, "utf8").split("\n");
    await first.close();
    writeFileSync(pidFile, [String(process.pid), ...lines.slice(1)].join("\n"));
    const second = await openEmbeddedPostgres({ home, settings });
    expect(await query(second.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await second.close();
  });

  it("starts over where a process died while it made the data", async () => {
    mkdirSync(path.join(home, "postgres", "data"), { recursive: true });
    writeFileSync(path.join(home, "postgres", "data", "PG_VERSION"), "18\n");
    writeFileSync(path.join(home, "postgres", "initialising"), "");
    const server = await openEmbeddedPostgres({ home, settings });
    expect(await query(server.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await server.close();
  });

  it("shows its data folder only once it is whole, so that what a killed process left at work cannot touch it", async () => {
    const data = path.join(home, "postgres", "data");
    const opening = openEmbeddedPostgres({ home, settings });
    await vi.waitFor(() => expect(existsSync(data)).toBe(true), { timeout: 30_000, interval: 5 });
    const whole = ["PG_VERSION", "global/pg_control", "pg_hba.conf"].map((name) => existsSync(path.join(data, name)));
    const beside = readdirSync(path.join(home, "postgres")).filter((name) => name.startsWith("data."));
    await (await opening).close();
    expect(whole).toEqual([true, true, true]);
    expect(beside).toEqual([]);
  });

  it("asks for a password, which only the caller can read", async () => {
    const server = await openEmbeddedPostgres({ home, settings });
    const file = path.join(home, "postgres.password");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(file).uid).toBe(process.getuid?.());
    const guess = new URL(server.url);
    guess.password = "guess";
    await expect(query(guess.href, "SELECT 1")).rejects.toMatchObject({ code: "28P01" });
    const methods = await query(server.url, "SELECT DISTINCT auth_method FROM pg_hba_file_rules");
    expect(methods).toEqual([{ auth_method: "scram-sha-256" }]);
    await server.close();
  });

  it("says what to do when the password file does not fit the data or is gone", async () => {
    await (await openEmbeddedPostgres({ home, settings })).close();
    const file = path.join(home, "postgres.password");
    const password = readFileSync(file, "utf8");
    writeFileSync(file, "another\n");
    await expect(openEmbeddedPostgres({ home, settings })).rejects.toMatchObject({ code: "embedded-password" });
    rmSync(file);
    await expect(openEmbeddedPostgres({ home, settings })).rejects.toMatchObject({ code: "embedded-password" });
    writeFileSync(file, password);
  });

  it("says why a server does not start, and where its log is", async () => {
    const failure = openEmbeddedPostgres({ home, settings: { shared_buffers: "lots" } });
    await expect(failure).rejects.toMatchObject({ code: "embedded-start-failed" });
    await expect(failure).rejects.toThrow(/shared_buffers.*postgres\.log/s);
  });

  it("says that a folder cannot be made where a file is in the way", async () => {
    writeFileSync(path.join(home, "file"), "");
    await expect(openEmbeddedPostgres({ home: path.join(home, "file", "home") })).rejects.toMatchObject({
      code: "embedded-unreachable-folder",
    });
  });
});

describe.runIf(process.getuid?.() === 0)("as root", () => {
  it("runs the server as an unprivileged account", async () => {
    const server = await openEmbeddedPostgres({ home, settings });
    expect(statSync(`/proc/${server.pid}`).uid).not.toBe(0);
    await server.close();
  });

  it("serves an ordinary user from a folder of its own, and keeps others out of it", async () => {
    const nobody = 65_534;
    chownSync(home, nobody, nobody);
    const client = await startClient({ uid: nobody, gid: nobody });
    expect(statSync(`/proc/${client.pid}`).uid).toBe(nobody);
    expect(statSync(path.join(home, "postgres")).mode & 0o077).toBe(0);
    await client.leave();
    expect(isRunning(client.pid)).toBe(false);
    rmSync(home, { recursive: true });
  });

  it("clears away the data of a temporary home that was deleted, when it makes the next", async () => {
    const [first, second] = ["first", "second"].map((name) => path.join(home, name));
    if (first === undefined || second === undefined) throw new Error("two names");
    for (const folder of [first, second]) mkdirSync(folder, { mode: 0o700 });
    const abandoned = await openEmbeddedPostgres({ home: first, settings });
    await abandoned.close();
    expect(path.dirname(abandoned.dataFolder)).toBe(realpathSync(tmpdir()));
    rmSync(first, { recursive: true });
    const next = await openEmbeddedPostgres({ home: second, settings });
    await next.close();
    expect([existsSync(abandoned.dataFolder), existsSync(next.dataFolder)]).toEqual([false, true]);
    rmSync(next.dataFolder, { recursive: true });
  });

  it("keeps the data where that account reaches it when home is closed to it, and finds it again", async () => {
    const closed = path.join(home, "closed");
    mkdirSync(closed, { mode: 0o700 });
    const first = await openEmbeddedPostgres({ home: path.join(closed, "home"), settings });
    await query(first.url, "CREATE TABLE kept AS SELECT 7 AS value");
    await first.close();
    expect(first.dataFolder.startsWith(home)).toBe(false);
    const second = await openEmbeddedPostgres({ home: path.join(closed, "home"), settings });
    expect(second.dataFolder).toBe(first.dataFolder);
    expect(await query(second.url, "SELECT value FROM kept")).toEqual([{ value: 7 }]);
    await second.close();
    rmSync(first.dataFolder, { recursive: true });
    const gone = openEmbeddedPostgres({ home: path.join(closed, "home"), settings });
    await expect(gone).rejects.toMatchObject({ code: "embedded-data-missing" });
    expect(existsSync(first.dataFolder)).toBe(false);
  });
});
