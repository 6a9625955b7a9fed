import { accessSync, constants } from "node:fs";

import { z } from "zod";

/** The environment variables of this package, for the apps' one parse of the environment. */
export const storeEnv = {
  /** Connection URL of a Postgres, or of a pooler before it; without it an embedded one is started. */
  DATABASE_URL: databaseUrl().optional(),
  /**
   * The Postgres itself where `DATABASE_URL` is a pooler in transaction mode: for what needs a session of its own (the
   * queue and the limits in Postgres, which listen and keep settings) and for migrations.
   */
  DATABASE_DIRECT_URL: databaseUrl().optional(),
  /** Folder of the embedded server's data; `.hallumaze` in the working folder unless set. */
  HALLUMAZE_HOME: z
    .string()
    .min(1, "must name a folder")
    .regex(/^\P{Cc}*$/u, "must not hold control characters, such as a line break")
    .default(".hallumaze"),
  /** Connections of one process to the database. */
  HALLUMAZE_DATABASE_POOL: z
    .string()
    .regex(/^(?:[1-9]\d?|100)$/, "must be a whole number from 1 to 100")
    .transform(Number)
    .default(10),
} as const;

function databaseUrl() {
  return z
    .string()
    .regex(/^postgres(ql)?:\/\/[^\s]+$/, {
      error: "must be a URL of the form postgres://user:password@host:port/database",
      abort: true,
    })
    .refine(
      isEscaped,
      "is no URL: escape special characters in the password (%23 for #, %2F for /, %3F for ?, %25 for %, %40 for @)",
    )
    .refine(canReadCertificates, "names a file in sslrootcert, sslcert or sslkey that cannot be read");
}

/** The driver reads these files when it connects, and tells of one that is not there as of a server that is not. */
function canReadCertificates(databaseUrl: string): boolean {
  if (!URL.canParse(databaseUrl)) return true;
  const { searchParams } = new URL(databaseUrl);
  return ["sslrootcert", "sslcert", "sslkey"].every((name) => {
    const file = searchParams.get(name);
    if (file === null) return true;
    try {
      accessSync(file, constants.R_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** A bare # / ? or % of a password ends the host too early, and what follows is read as path, query or fragment. */
function isEscaped(databaseUrl: string): boolean {
  if (!URL.canParse(databaseUrl)) return false;
  const { username, password, pathname, search, hash } = new URL(databaseUrl);
  if (hash !== "" || pathname.includes("@") || (username === "" && search.includes("@"))) return false;
  try {
    [username, password, pathname].forEach(decodeURIComponent);
    return true;
  } catch {
    return false;
  }
}
