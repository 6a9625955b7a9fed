import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/**
 * Names this process as `host/pid/starttime`. The start time tells a process from a later one that got the same pid
 * (two containers' main processes are both pid 1).
 */
export function describeThisProcess(): string {
  return describeProcess(process.pid, startOf(process.pid) ?? "unknown");
}

/**
 * True only where the worker ran on this host and its process is gone: no such pid, a zombie, or a pid that another
 * process has got. False for other hosts, for ids of another form, and wherever the system does not tell.
 */
export function isKnownDead(workerId: string): boolean {
  const [host, pidText, start, ...rest] = workerId.split("/");
  if (host !== hostPart() || pidText === undefined || start === undefined || rest.length > 0) return false;
  if (!/^[1-9]\d*$/.test(pidText)) return false;
  const pid = Number(pidText);
  if (!pidExists(pid)) return true;
  const startNow = startOf(pid);
  if (startNow === "gone") return true;
  return startNow !== null && start !== "unknown" && startNow !== start;
}

/** True where a process of that pid exists, a zombie included. */
export function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it exists and is another user's.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Reads `/proc/<pid>/stat`: command name, state letter and start time in clock ticks since boot; null off Linux. */
export function readProcStat(
  pid: number,
): { readonly name: string; readonly state: string; readonly start: string } | null {
  if (process.platform !== "linux") return null;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name stands in parentheses and may hold spaces and parentheses itself.
    const end = stat.lastIndexOf(")");
    const fields = stat.slice(end + 2).split(" ");
    return { name: stat.slice(stat.indexOf("(") + 1, end), state: fields[0] ?? "", start: fields[19] ?? "" };
  } catch {
    return null;
  }
}

function describeProcess(pid: number, start: string): string {
  return `${hostPart()}/${pid}/${start}`;
}

function hostPart(): string {
  return hostname().replaceAll("/", "-");
}

/** The start time of a process, `gone` for one that is not (or only a zombie), null where the system does not tell. */
function startOf(pid: number): string | null {
  if (process.platform === "linux") {
    const stat = readProcStat(pid);
    if (stat === null) return pidExists(pid) ? null : "gone";
    return stat.state === "Z" || stat.state === "X" ? "gone" : stat.start;
  }
  if (process.platform === "win32") return null;
  const asked = spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" });
  if (asked.status !== 0) return pidExists(pid) ? null : "gone";
  return asked.stdout.trim().replaceAll(/\s+/g, "-");
}
