import { HalluMazeError } from "@hallumaze/foundation";
import { describe, expect, it } from "vitest";

import { repeat } from "./loops.ts";

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const never = new AbortController().signal;

describe("a loop of a worker", () => {
  it("gives up after twelve failures in a row that waiting cannot help", async () => {
    let runs = 0;
    const work = async (): Promise<void> => {
      runs += 1;
      throw new Error("no such column");
    };
    await expect(repeat(work, 0, never, silent, "loop")).rejects.toThrow("no such column");
    expect(runs).toBe(12);
  });

  it("goes on through an outage of more looks than that, and is at work when it is over", async () => {
    const stop = new AbortController();
    let runs = 0;
    const done = new Promise<void>((resolve) => {
      const work = async (): Promise<void> => {
        runs += 1;
        if (runs <= 40) throw new HalluMazeError("database-unreachable", "away", { retry: true });
        resolve();
      };
      void repeat(work, 0, stop.signal, silent, "loop").catch(() => undefined);
    });
    await done;
    stop.abort();
    expect(runs).toBe(41);
  });
});
