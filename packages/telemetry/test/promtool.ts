import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

/** What `promtool check metrics` says of an exposition: nothing where all is well. */
export async function checkMetrics(
  promtool: string,
  exposition: string,
): Promise<{ readonly code: number | null; readonly says: string }> {
  const child = spawn(promtool, ["check", "metrics"], { stdio: ["pipe", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  child.stdin.end(exposition);
  const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, says: out + err };
}
