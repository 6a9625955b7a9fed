import { spawnSync } from "node:child_process";

import { StoreError } from "../errors.ts";

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
