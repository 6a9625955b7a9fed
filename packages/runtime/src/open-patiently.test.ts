import { HalluMazeError } from "@hallumaze/foundation";
import { describe, expect, it } from "vitest";

import { openPatiently } from "./open-patiently.ts";

const away = new HalluMazeError("database-unreachable", "The database at host:5432/x does not answer.", {
  retry: true,
});

function logger() {
  const lines: unknown[] = [];
  return { lines, error: (line: unknown) => void lines.push(line) };
}

describe("a server that does not answer yet", () => {
  it("is named once, with how long it is waited for, and opened when it answers", async () => {
    const log = logger();
    let tries = 0;
    const open = async (): Promise<string> => {
      tries += 1;
      if (tries < 3) throw away;
      return "open";
    };
    expect(await openPatiently(open, log, 20_000)).toBe("open");
    expect(log.lines).toEqual(["The database at host:5432/x does not answer. Trying again for 20 s."]);
  });

  it("is given up when its time is over, with its own message", async () => {
    await expect(openPatiently(() => Promise.reject(away), logger(), 1500)).rejects.toBe(away);
  });

  it("is not waited for where waiting cannot help", async () => {
    const log = logger();
    const refused = new HalluMazeError("database-refused", "wrong password");
    await expect(openPatiently(() => Promise.reject(refused), log, 20_000)).rejects.toBe(refused);
    expect(log.lines).toEqual([]);
  });
});
