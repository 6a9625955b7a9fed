import { spawnSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { sha256Hex } from "@hallumaze/foundation";

import { StoreError } from "../errors.ts";
import { describeThisProcess, isKnownDead } from "../process-identity.ts";

/** Where an embedded server keeps its things. */
export interface Places {
  readonly home: string;
  /** Folder of the data and the server's log: in home, or elsewhere where the server's account cannot reach home. */
  readonly folder: string;
  readonly pgdata: string;
  readonly logFile: string;
  readonly passwordFile: string;
  readonly lockFile: string;
  readonly clients: string;
}

/** Makes home where it is missing and names the files in it that need no decision. */
export function openHome(home: string): Pick<Places, "home" | "passwordFile" | "lockFile" | "clients"> {
  const resolved = path.resolve(home);
  try {
    // As root the server's account has to pass through; what is secret in it has mode 0600 of its own.
    mkdirSync(resolved, { recursive: true, mode: process.getuid?.() === 0 ? 0o755 : 0o700 });
    mkdirSync(path.join(resolved, "clients"), { recursive: true });
  } catch (cause) {
    throw folderError(resolved, cause);
  }
  return {
    home: resolved,
    passwordFile: path.join(resolved, "postgres.password"),
    lockFile: path.join(resolved, "postgres.lock"),
    clients: path.join(resolved, "clients"),
  };
}

/**
 * Chooses the data folder, once for a home. `<home>/postgres` where the account reaches it; where a parent is closed to
 * the account (root's own home folder is), a folder under /var/lib, /var/tmp or the temporary folder, noted in
 * `<home>/postgres.location`. Call it under the home's lock.
 */
export function chooseDataFolder(home: string, account: Account | null): Pick<Places, "folder" | "pgdata" | "logFile"> {
  const pointer = path.join(home, "postgres.location");
  const inHome = path.join(home, "postgres");
  const folder = existsSync(pointer) ? followPointer(pointer) : makeFolder(inHome, pointer, home, account);
  return { folder, pgdata: path.join(folder, "data"), logFile: path.join(folder, "postgres.log") };
}

/** Reads the home's password for the server, made at the first call; the file is the caller's, mode 0600. */
export function readOrMakePassword(passwordFile: string, hasData: boolean): string {
  try {
    const known = readFileSync(passwordFile, "utf8").trim();
    if (known !== "") return known;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      throw new StoreError(
        "embedded-password",
        `${passwordFile} cannot be read: this data belongs to another user. Choose another HALLUMAZE_HOME, or set DATABASE_URL.`,
        { cause: error },
      );
    }
  }
  if (hasData) {
    throw new StoreError(
      "embedded-password",
      `${passwordFile} is gone, so the data beside it cannot be opened. Put the file back, or remove the whole folder to start empty.`,
    );
  }
  const made = randomBytes(24).toString("base64url");
  writeFileSync(passwordFile, `${made}\n`, { mode: 0o600 });
  return made;
}

function followPointer(pointer: string): string {
  const folder = readFileSync(pointer, "utf8").trim();
  if (existsSync(folder)) return folder;
  throw new StoreError(
    "embedded-data-missing",
    `The data folder ${folder}, named by ${pointer}, is gone. Restore it, or delete ${path.dirname(pointer)} to start empty.`,
  );
}

function makeFolder(inHome: string, pointer: string, home: string, account: Account | null): string {
  if (make(inHome, account)) return inHome;
  const realHome = realpathSync(home);
  // A folder of its own for every home, so that a home that was deleted does not come back with its old data.
  const name = `hallumaze-${sha256Hex(realHome).slice(0, 8)}-${randomBytes(4).toString("hex")}`;
  const temporary = realpathSync(tmpdir());
  const lasting = ["/var/lib", "/var/tmp"];
  for (const parent of isInside(realHome, temporary) ? [temporary, ...lasting] : [...lasting, temporary]) {
    removeAbandoned(parent, temporary);
    const folder = path.join(parent, name);
    if (!make(folder, account)) continue;
    writeFileSync(path.join(folder, "home"), `${realHome}\n`);
    writeFileSync(pointer, `${folder}\n`);
    return folder;
  }
  throw new StoreError(
    "embedded-unreachable-folder",
    `The account ${account?.name ?? ""} cannot reach ${home} (a parent folder is closed to it), nor a folder under /var/lib, /var/tmp or ${tmpdir()}. Set HALLUMAZE_HOME to a folder that it can reach.`,
  );
}

/**
 * Removes the data of homes in the temporary folder that are gone: tests and rehearsals delete their home and cannot know
 * of this. The data of any other home stays, though it cannot be seen: its disk may only be unmounted.
 */
function removeAbandoned(parent: string, temporary: string): void {
  if (!existsSync(parent)) return;
  for (const entry of readdirSync(parent, { withFileTypes: true })) {
    if (!entry.isDirectory() || !/^hallumaze-[0-9a-f]{8}-[0-9a-f]{8}$/.test(entry.name)) continue;
    const folder = path.join(parent, entry.name);
    try {
      const home = readFileSync(path.join(folder, "home"), "utf8").trim();
      if (!isInside(home, temporary) || existsSync(home) || existsSync(path.join(folder, "data", "postmaster.pid")))
        continue;
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Another user's, or being removed by another process: not ours to clear away.
    }
  }
}

function isInside(folder: string, parent: string): boolean {
  return folder.startsWith(parent + path.sep);
}

function make(folder: string, account: Account | null): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (account !== null) chownSync(folder, account.uid, account.gid);
    return canReach(account, folder);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (["EACCES", "EROFS", "ENOENT", "EPERM"].includes(code) && account !== null) return false;
    throw folderError(folder, error);
  }
}

function folderError(folder: string, cause: unknown): StoreError {
  const code = (cause as NodeJS.ErrnoException).code ?? "unknown";
  return code === "ENOSPC"
    ? new StoreError("embedded-disk-full", `No disk space left to make ${folder}.`, { retry: true, cause })
    : new StoreError(
        "embedded-unreachable-folder",
        `The folder ${folder} cannot be made (${code}). Set HALLUMAZE_HOME to one that can.`,
        { cause },
      );
}

/** The account that Postgres runs as; null where it is the caller's own. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Postgres refuses to run as root: there an existing unprivileged account runs it. None is ever created. Null for every
 * other user, and on Windows.
 */
export function chooseAccount(): Account | null {
  if (process.getuid?.() !== 0) return null;
  for (const name of ["postgres", "nobody"]) {
    const uid = idOf("-u", name);
    const gid = idOf("-g", name);
    // Postgres looks its user up by name, so a bare number will not do; and an account with uid 0 is root again.
    if (uid !== null && gid !== null && uid !== 0) return { name, uid, gid };
  }
  throw new StoreError(
    "embedded-unsupported",
    "Postgres does not run as root, and this machine has no account `postgres` or `nobody` to run it as. Run hallumaze as an ordinary user, or set DATABASE_URL.",
  );
}

/** True where the account can list and enter the folder; a null account is the caller, who can. */
export function canReach(account: Account | null, folder: string): boolean {
  if (account === null) return true;
  const asked = spawnSync("/bin/sh", ["-c", 'test -r "$0" && test -x "$0"', folder], { ...asUser(account), cwd: "/" });
  return asked.status === 0;
}

/** The spawn options that make a child run as the account. */
export function asUser(account: Account | null): { readonly uid?: number; readonly gid?: number } {
  return account === null ? {} : { uid: account.uid, gid: account.gid };
}

function idOf(flag: "-u" | "-g", name: string): number | null {
  const asked = spawnSync("id", [flag, name], { encoding: "utf8" });
  return asked.status === 0 ? Number(asked.stdout.trim()) : null;
}

const pollMs = 25;
/** A lock file that is empty or half written for so long was left by a process that died in between. */
const unreadableAfterMs = 10_000;

/**
 * Runs `work` while this process alone holds the lock file. The lock of a dead process is taken over; the wait for a
 * live one ends after `waitMs` with `embedded-locked`.
 */
export async function withFolderLock<T>(file: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  const mine = `${describeThisProcess()} ${randomUUID()}`;
  const giveUpAt = performance.now() + waitMs;
  while (!tryCreate(file, mine)) {
    if (!removeIfStale(file)) {
      if (performance.now() > giveUpAt) {
        throw new StoreError(
          "embedded-locked",
          `Another process has held ${file} for over ${waitMs / 1000} s: ${holderOf(file)}.`,
          {
            retry: true,
          },
        );
      }
      await wait(pollMs);
    }
  }
  try {
    return await work();
  } finally {
    if (holderOf(file) === mine) rmSync(file, { force: true });
  }
}

function tryCreate(file: string, content: string): boolean {
  try {
    writeFileSync(file, content, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/**
 * Removes the lock of a dead holder. Two processes may see the same dead holder at once: the right to remove that very
 * lock (its token is unique) is itself taken by an exclusive create, so the slower one cannot remove the faster one's
 * new lock.
 */
function removeIfStale(file: string): boolean {
  const holder = holderOf(file);
  if (holder === null) return true;
  const [workerId = "", token] = holder.split(" ");
  if (token === undefined || token.length < 36) {
    if (ageMs(file) < unreadableAfterMs) return false;
  } else if (!isKnownDead(workerId)) return false;
  const right = `${file}.${token?.slice(0, 36) || "unreadable"}`;
  if (!tryCreate(right, "")) {
    if (ageMs(right) > unreadableAfterMs) rmSync(right, { force: true });
    return false;
  }
  if (holderOf(file) === holder) rmSync(file, { force: true });
  rmSync(right, { force: true });
  return true;
}

function holderOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

function ageMs(file: string): number {
  try {
    return Date.now() - statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}
