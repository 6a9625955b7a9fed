import { type ErrorContext, HalluMazeError } from "@hallumaze/foundation";
import { explainTlsFailure } from "@hallumaze/servers";

/** Codes of the errors that this package throws. */
export type StoreErrorCode =
  | "database-unreachable"
  | "database-full"
  | "database-read-only"
  | "database-busy"
  | "database-refused"
  | "database-url"
  | "schema-newer"
  | "schema-older"
  | "migration-edited"
  | "migration-failed"
  | "sweep-unknown"
  | "embedded-unsupported"
  | "embedded-unreachable-folder"
  | "embedded-data-missing"
  | "embedded-password"
  | "embedded-locked"
  | "embedded-disk-full"
  | "embedded-init-failed"
  | "embedded-start-failed"
  | "embedded-stop-failed";

/** An error of the store or of its embedded server; `retry` is true where the same call may succeed later. */
export class StoreError extends HalluMazeError {
  declare readonly code: StoreErrorCode;

  constructor(
    code: StoreErrorCode,
    message: string,
    options: { readonly retry?: boolean; readonly context?: ErrorContext; readonly cause?: unknown } = {},
  ) {
    super(code, message, options);
  }
}

/**
 * Translates whatever the driver or Prisma threw. SQLSTATE decides: connection, login and a missing database give `database-unreachable`,
 * 53100 `database-full`, 25006 `database-read-only`, 53/40/55/57 the retryable `database-busy`, all else
 * `database-refused`. Neither message nor cause carries the password or a parameter's value.
 *
 * SOURCE: PostgreSQL documentation, appendix A (error codes).
 */
export function toStoreError(thrown: unknown, databaseUrl: string): StoreError {
  if (thrown instanceof StoreError) return thrown;
  const { code, message } = describeDriverError(thrown);
  const where = describeDatabase(databaseUrl);
  const context = { sqlState: code };
  const tls = explainTlsFailure(`${code ?? ""} ${oneLine(message)}`, "sslrootcert of DATABASE_URL");
  if (tls !== null) return new StoreError("database-url", `The database at ${where}: ${tls}`, { context });
  if (/unsupported startup parameter/i.test(message)) {
    return new StoreError(
      "database-url",
      `At ${where} answers a pooler that refuses settings at the start of a connection. Name the database itself in DATABASE_DIRECT_URL, beside the pooler in DATABASE_URL.`,
      { context },
    );
  }
  const login = describeLogin(code, message, databaseUrl);
  if (login !== null) {
    // Kept as retryable: a worker at work waits for a password that is being changed, a database that is being restored.
    return new StoreError("database-unreachable", login, { retry: true, context });
  }
  if (isConnectionFailure(code, message)) {
    return new StoreError(
      "database-unreachable",
      `The database at ${where} did not answer (${code ?? oneLine(message)}). Check that it runs and that DATABASE_URL is right.`,
      { retry: true, context },
    );
  }
  if (code === "53100") {
    return new StoreError(
      "database-full",
      `The database at ${where} has no disk space left. Free some; nothing was lost.`,
      {
        retry: true,
        context,
      },
    );
  }
  if (code === "25006") {
    return new StoreError(
      "database-read-only",
      `The database at ${where} is read-only. Point DATABASE_URL at the primary.`,
      {
        retry: true,
        context,
      },
    );
  }
  if (code !== null && /^(53|40|55|57)/.test(code)) {
    return new StoreError(
      "database-busy",
      `The database at ${where} could not take the call now (${code}): ${oneLine(message)}`,
      {
        retry: true,
        context,
      },
    );
  }
  if (code === "3F000") {
    return new StoreError(
      "database-refused",
      `The database at ${where} has no schema in which this user may make tables. Create one (CREATE SCHEMA public), or set the user's search_path.`,
      { context },
    );
  }
  return new StoreError(
    "database-refused",
    `The database refused a statement (${code ?? "no code"}): ${oneLine(message)}`,
    {
      context,
    },
  );
}

/** Host, port and database of a connection URL, without user and password. */
export function describeDatabase(databaseUrl: string): string {
  const url = parseDatabaseUrl(databaseUrl);
  return `${url.hostname || "localhost"}:${url.port || "5432"}${url.pathname}`;
}

/** Parses a `postgres://` or `postgresql://` URL; throws `database-url` on anything else, without quoting it. */
export function parseDatabaseUrl(databaseUrl: string): URL {
  if (/^postgres(ql)?:\/\//.test(databaseUrl) && URL.canParse(databaseUrl)) return new URL(databaseUrl);
  throw new StoreError(
    "database-url",
    "DATABASE_URL is no URL of the form postgres://user:password@host:port/database.",
  );
}

/** What a server says that answers and lets nobody in; null for all other errors. */
function describeLogin(code: string | null, message: string, databaseUrl: string): string | null {
  const where = describeDatabase(databaseUrl);
  if (code === "28P01" || (code === null && /^SASL|SCRAM/.test(message))) {
    return `The database at ${where} refused this user or password. Check both in DATABASE_URL.`;
  }
  if (code?.startsWith("28")) {
    return `The database at ${where} refused this user (${code}): ${oneLine(message)}. Check DATABASE_URL and the server's pg_hba.conf.`;
  }
  if (code === "3D000") {
    const { host, pathname, username } = parseDatabaseUrl(databaseUrl);
    // Without a name in the URL the server takes the user's.
    const name = decodeOrKeep(pathname.slice(1)) || decodeOrKeep(username);
    return `The server at ${host || "localhost"} has no database ${name}. Create it (CREATE DATABASE), or correct the name at the end of DATABASE_URL.`;
  }
  return null;
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isConnectionFailure(code: string | null, message: string): boolean {
  if (code === null) return /connection|timeout|terminated|socket/i.test(message);
  return /^08|^57P0[123]$|^E[A-Z]{4,}$/.test(code);
}

interface DriverErrorParts {
  readonly code: string | null;
  readonly message: string;
}

/** Prisma wraps the driver's error two deep, differently by kind: the innermost code and message count. */
function describeDriverError(thrown: unknown): DriverErrorParts {
  let code: string | null = null;
  let message = "";
  const visit = (value: unknown, depth: number): void => {
    if (depth > 5 || typeof value !== "object" || value === null) return;
    const fields = value as Readonly<Record<string, unknown>>;
    const text = fields["originalMessage"] ?? fields["message"] ?? fields["reason"];
    if (typeof text === "string" && text !== "") message = text;
    const found = fields["originalCode"] ?? fields["code"];
    if (typeof found === "string" && !/^P\d{4}$/.test(found)) code = found;
    if (fields["kind"] === "DatabaseNotReachable" || fields["kind"] === "ConnectionClosed") code ??= "08006";
    if (fields["kind"] === "SocketTimeout") code ??= "08006";
    if (fields["kind"] === "TooManyConnections") code ??= "53300";
    for (const inner of ["meta", "driverAdapterError", "cause"]) visit(fields[inner], depth + 1);
  };
  visit(thrown, 0);
  return { code, message };
}

/** The first line only: the rest of a driver's message may quote the statement. */
function oneLine(message: string): string {
  return message.split("\n", 1)[0]?.slice(0, 300) ?? "";
}

/** True where a statement was refused for what it carried: of a batch, the other items may pass alone. */
export function isItemsFault(error: unknown): boolean {
  return error instanceof StoreError && error.code === "database-refused";
}
