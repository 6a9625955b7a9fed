import { z } from "zod";

/** The environment variables of this package, for the apps' one parse of the environment. */
export const storeEnv = {
  /** Connection URL of a Postgres; without it an embedded one is started. */
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\/[^\s]+$/, {
      error: "must be a URL of the form postgres://user:password@host:port/database",
      abort: true,
    })
    .refine(
      isEscaped,
      "is no URL: escape special characters in the password (%23 for #, %2F for /, %3F for ?, %25 for %, %40 for @)",
    )
    .optional(),
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
