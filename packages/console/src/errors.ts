import { HalluMazeError } from "@hallumaze/foundation";
import { singleLine } from "@hallumaze/reports";

/** A command was asked for something that it cannot do as asked; exit code 2. */
export class UsageError extends HalluMazeError {
  constructor(message: string) {
    super("usage", message);
  }
}

/** What the file system says, in plain words, by its code. */
const fileReasons: Readonly<Record<string, string>> = {
  EACCES: "no permission",
  EPERM: "no permission",
  EROFS: "the file system is read-only",
  ENOENT: "a folder on the way does not exist",
  ENOTDIR: "a file stands where a folder is needed",
  EISDIR: "it is a folder",
  ENOSPC: "the disk is full",
  ENAMETOOLONG: "the name is too long",
  EEXIST: "a file stands in the way",
  ENOTEMPTY: "a folder that holds something stands in the way",
};

/** Why an address cannot be listened on, in plain words, by the system's code. */
const listenReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program has that port",
  EACCES: "no permission for that port",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "nobody knows that address",
};

/** What to do about a port that could not be opened; null for any other error. */
export function listenProblem(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { code = "", syscall, address, hostname, port } = error as ListenError;
  const reason = listenReasons[code];
  if (reason === undefined || (syscall !== "listen" && syscall !== "getaddrinfo")) return null;
  const place = [address ?? hostname, port].filter((part) => part !== undefined).join(":");
  return `cannot listen on ${place}: ${reason}. Choose another; port 0 takes a free one.`;
}

interface ListenError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly hostname?: string;
  readonly port?: number;
}

/**
 * Puts an error into plain words: an expected one by its message, an unexpected one with where it happened. Names in it
 * may come from files of others: each line is one without control characters.
 */
export function explainError(error: unknown): string {
  return explain(error).split("\n").map(singleLine).join("\n");
}

function explain(error: unknown): string {
  if (error instanceof HalluMazeError) return error.message;
  if (error instanceof Error && error.name === "ExitPromptError") return "No answer came: nothing was done.";
  const suppressed = bothOf(error);
  if (suppressed !== null) return `${explain(suppressed.first)}\n(while closing: ${explain(suppressed.second)})`;
  if (error instanceof Error) {
    const unheard = listenProblem(error);
    if (unheard !== null) return unheard;
    const { code, path, dest } = error as NodeJS.ErrnoException & { readonly dest?: string };
    const reason = code === undefined ? undefined : fileReasons[code];
    // Of a renaming that failed, its end is what the user knows.
    const place = dest ?? path;
    if (reason !== undefined && place !== undefined) return `cannot use ${place}: ${reason} (${code}).`;
    return `Unexpected error, a defect of this program: ${error.stack ?? error.message}`;
  }
  return `Unexpected error: ${String(error)}`;
}

/** A SuppressedError holds what went wrong and what then went wrong in closing; null for any other error. */
function bothOf(error: unknown): { readonly first: unknown; readonly second: unknown } | null {
  if (!(error instanceof Error) || !("suppressed" in error) || !("error" in error)) return null;
  return { first: error.suppressed, second: error.error };
}
