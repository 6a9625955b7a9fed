import { describe, expect, it } from "vitest";

import { listRepositoryFiles, readRepositoryFile } from "./repository-files.ts";

const rows = readRepositoryFile("docs/queue-faults.md")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (?:thread|-)/.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()));

describe("the table of queue faults", () => {
  it("covers the threads and the faults without one", () => {
    expect(rows.length).toBeGreaterThanOrEqual(54);
  });

  it.each(rows.map(([, thread = "", here = "", file = "", title = ""]) => [thread, here, file, title] as const))(
    "%s: %s: its test exists",
    (_thread, _here, file, title) => {
      const path = file.replaceAll("`", "");
      expect(listRepositoryFiles()).toContain(path);
      expect(readRepositoryFile(path)).toContain(title);
    },
  );
});
