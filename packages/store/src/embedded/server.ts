import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chownSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { StoreError, type StoreErrorCode } from "../errors.ts";
import { pidExists, readProcStat } from "../process-identity.ts";
import type { Binaries } from "./binaries.ts";
import { type Account, asUser, type Places } from "./data-folder.ts";

/** All that is needed to run one server; every function here expects the home's lock to be held. */
export interface ServerContext {
  readonly places: Places;
  readonly binaries: Binaries;
  readonly account: Account | null;
  /** Postgres settings by name, passed on its command line. */
  readonly settings: Readonly<Record<string, string>>;
}

/** A server that runs. */
export interface RunningServer {
  readonly pid: number;
  readonly port: number;
}

const startTries = 5;
const readyWithinMs = 60_000;
const pollMs = 20;

/** Makes the data folder's files where they are missing, or where a process died while it made them. */
export async function initialise(context: ServerContext, password: string): Promise<void> {
  const { places, binaries, account } = context;
  const marker = path.join(places.folder, "initialising");
  if (existsSync(path.join(places.pgdata, "PG_VERSION")) && !existsSync(marker)) return;
  const passwordFile = path.join(places.folder, "initial-password");
  // In a folder of its own, moved when it is whole: the initdb of a killed process goes on, and removes its data folder
  // when it fails.
  const making = `${places.pgdata}.${randomBytes(4).toString("hex")}`;
  try {
    writeFileSync(marker, "");
    removeUnfinished(places);
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
    if (account !== null) chownSync(passwordFile, account.uid, account.gid);
    // The C locale: one sort order on every machine.
    const options = ["-U", "postgres", "-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-instructions"];
    // Who waits for no disk afterwards need not wait for it here.
    if (context.settings["fsync"] === "off") options.push("--no-sync");
    const ended = await runProgram(context, binaries.initdb, ["-D", making, "--pwfile", passwordFile, ...options]);
    if (ended.exitCode !== 0) throw explain(context, "embedded-init-failed", "could not be initialised", ended.output);
    renameSync(making, places.pgdata);
    rmSync(marker);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw explain(context, "embedded-init-failed", "could not be initialised", String(error));
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

function removeUnfinished({ folder, pgdata }: Places): void {
  const name = path.basename(pgdata);
  for (const entry of readdirSync(folder)) {
    if (entry !== name && !entry.startsWith(`${name}.`)) continue;
    // A process at work in there may add a file meanwhile.
    rmSync(path.join(folder, entry), { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Starts the server, or finds the one that runs. */
export async function startOrFind(
  context: ServerContext,
): Promise<{ readonly server: RunningServer; readonly started: boolean }> {
  let output = "";
  for (let attempt = 0; attempt < startTries; attempt++) {
    const found = await waitUntilReady(context, () => false);
    if (found !== null) return { server: found, started: attempt > 0 };
    // Clients that outlived the server know its last port only. A start may fail for other reasons than the port: the
    // children of a killed server hold its memory for a moment.
    const isPortRefused = /could not bind|address already in use/i.test(output);
    const port = await choosePort(isPortRefused ? 0 : lastPort(context.places));
    const begun = await start(context, port);
    if (begun.server !== null) {
      writeFileSync(path.join(context.places.home, "postgres.port"), String(port));
      return { server: begun.server, started: true };
    }
    output = begun.output;
    await wait(100 * (attempt + 1));
  }
  throw explain(context, "embedded-start-failed", "did not start", output);
}

/** True where the server's process is there, ready or not. Needs no lock. */
export function isServerThere(places: Places): boolean {
  return findProcess(places) !== null;
}

/** Stops the server and waits until it is gone; it ends open connections. Nothing to do where none runs. */
export async function stop(context: ServerContext): Promise<void> {
  for (const mode of ["fast", "immediate"]) {
    if (findProcess(context.places) === null) return;
    await runProgram(context, context.binaries.pgCtl, [
      "-D",
      context.places.pgdata,
      "-m",
      mode,
      "-w",
      "-t",
      "30",
      "stop",
    ]);
  }
  if (findProcess(context.places) !== null) {
    throw new StoreError(
      "embedded-stop-failed",
      `The embedded Postgres of ${context.places.home} did not stop; see ${context.places.logFile}.`,
    );
  }
}

async function start(
  context: ServerContext,
  port: number,
): Promise<{ readonly server: RunningServer | null; readonly output: string }> {
  const { places, binaries } = context;
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "200",
    // A sweep fills empty tables within a minute: the planner should hear of it while it is under way.
    autovacuum_naptime: "10s",
    ...context.settings,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  // Its process is gone, or we would not be here. Postgres asks by `kill(pid, 0)` only, which a zombie or a stranger with
  // the same pid answers too, and would refuse to start.
  rmSync(pidFileOf(places), { force: true });
  // Its own log handle: the server outlives this process, so no pipe may end with it.
  const log = openSync(places.logFile, "a", 0o600);
  const logStart = readLog(places.logFile).length;
  try {
    const child = spawn(binaries.postgres, ["-D", places.pgdata, "-p", String(port), ...args], {
      ...spawnOptions(context),
      // A group of its own: Ctrl-C in the terminal ends the command, which then stops the server in order.
      detached: true,
      stdio: ["ignore", log, log],
    });
    let ended = false;
    let failure = "";
    child.once("exit", () => {
      ended = true;
    });
    child.once("error", (error) => {
      ended = true;
      failure = error.message;
    });
    child.unref();
    const server = await waitUntilReady(context, () => ended, child.pid);
    return { server, output: failure + readLog(places.logFile).slice(logStart) };
  } finally {
    closeSync(log);
  }
}

/**
 * Waits for the server whose pid file stands in the data folder to say that it is ready. Null where no process owns the
 * file, or `hasEnded` says that the one just spawned has ended.
 */
async function waitUntilReady(
  context: ServerContext,
  hasEnded: () => boolean,
  spawnedPid?: number,
): Promise<RunningServer | null> {
  const giveUpAt = performance.now() + readyWithinMs;
  while (performance.now() < giveUpAt) {
    const found = findProcess(context.places);
    if (found?.isReady) return { pid: found.pid, port: found.port };
    if (hasEnded()) return null;
    if (found === null && spawnedPid === undefined) return null;
    await wait(pollMs);
  }
  throw explain(
    context,
    "embedded-start-failed",
    `was not ready within ${readyWithinMs / 1000} s`,
    readLog(context.places.logFile),
  );
}

interface FoundProcess extends RunningServer {
  readonly isReady: boolean;
}

/** Reads postmaster.pid: line 1 is the pid, line 4 the port, line 8 the status. Null where its process is gone. */
function findProcess(places: Places): FoundProcess | null {
  let lines: string[];
  try {
    lines = readFileSync(pidFileOf(places), "utf8").split("\n");
  } catch {
    return null;
  }
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  if (!isServerOf(pid, places.pgdata)) return null;
  return { pid, port: Number(lines[3]), isReady: lines[7]?.trim() === "ready" };
}

function pidFileOf(places: Places): string {
  return path.join(places.pgdata, "postmaster.pid");
}

function isServerOf(pid: number, pgdata: string): boolean {
  if (!pidExists(pid)) return false;
  const stat = readProcStat(pid);
  if (stat === null) return process.platform !== "linux";
  if (stat.state === "Z" || stat.state === "X" || !/^(postgres|postmaster)$/.test(stat.name)) return false;
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(pgdata);
  } catch {
    // Unreadable: it is another user's process, and so not the server of this user's folder.
    return false;
  }
}

async function runProgram(
  context: ServerContext,
  program: string,
  args: readonly string[],
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { ...spawnOptions(context), stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const keep = (chunk: Buffer): void => {
      output += chunk.toString("utf8");
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.once("error", (error) => resolve({ exitCode: null, output: output + error.message }));
    child.once("close", (exitCode) => resolve({ exitCode, output }));
  });
}

function spawnOptions({ places, account, binaries }: ServerContext) {
  const kept = ["PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot", "TZ"];
  const inherited = Object.entries(process.env).filter(([name]) => kept.includes(name));
  // No PGDATA, PGPORT or PG* of the caller's shell may steer this server.
  const env = { ...Object.fromEntries(inherited), LC_ALL: "C", LD_LIBRARY_PATH: binaries.libraries };
  return { ...asUser(account), cwd: places.folder, env };
}

/** The port of the last start, taken again where it is free: clients that outlived a crash find the server there. */
function lastPort(places: Places): number {
  try {
    return Number(readFileSync(path.join(places.home, "postgres.port"), "utf8")) || 0;
  } catch {
    return 0;
  }
}

/** `wanted` where it is free, else any free port; 0 wants any. */
function choosePort(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (error) => (wanted === 0 ? reject(error) : resolve(choosePort(0))));
    probe.listen(wanted, "127.0.0.1", () => {
      const address = probe.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

function readLog(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function explain(context: ServerContext, code: StoreErrorCode, what: string, output: string): StoreError {
  const { places } = context;
  if (/No space left on device|ENOSPC|Disk quota exceeded/i.test(output)) {
    return new StoreError(
      "embedded-disk-full",
      `No disk space left for the database in ${places.folder}. Free some, or set HALLUMAZE_HOME to another disk.`,
      {
        retry: true,
      },
    );
  }
  const lines = output
    .trim()
    .split("\n")
    .filter((line) => line !== "");
  const telling = lines.filter((line) => /fatal|error|could not|denied/i.test(line)).slice(-3);
  return new StoreError(
    code,
    `The embedded Postgres in ${places.folder} ${what}: ${(telling.length > 0 ? telling : lines.slice(-3)).join(" | ") || "no output"}. Its log is ${places.logFile}; or set DATABASE_URL to a server of yours.`,
  );
}
