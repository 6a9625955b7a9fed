import { describe, expect, it } from "vitest";

import { insist } from "./insist.ts";

const away = Object.assign(new Error("the ledger is away"), { retry: true });
const never = new AbortController().signal;

/** Time that passes while it is slept through, and nowhere else; keeps every pause. */
function slept(archivePatienceMs: number) {
  let nowMs = 0;
  const pauses: number[] = [];
  return {
    pauses,
    archivePatienceMs,
    now: () => nowMs,
    sleep: async (ms: number) => {
      pauses.push(ms);
      nowMs += ms;
    },
  };
}

const of = { trialId: "t", onTrouble: () => undefined };

describe("a write that the ledger refuses for a passing reason", () => {
  it("is repeated at most three seconds later, so that an outage's end is soon seen", async () => {
    const ports = slept(900_000);
    const write = async (): Promise<string> => {
      if (ports.now() < 60_000) throw away;
      return "written";
    };
    expect(await insist(ports, of, write, never)).toBe("written");
    expect(ports.pauses.slice(0, 6)).toEqual([250, 500, 1000, 2000, 3000, 3000]);
    expect(Math.max(...ports.pauses)).toBe(3000);
  });

  it("is given up when the patience is over, with a reason that lets the trial come again", async () => {
    await expect(insist(slept(10_000), of, () => Promise.reject(away), never)).rejects.toMatchObject({
      code: "archive-failed",
      retry: true,
    });
  });

  it("is not repeated where the refusal will not pass", async () => {
    const ports = slept(10_000);
    await expect(insist(ports, of, () => Promise.reject(new Error("no such column")), never)).rejects.toThrow("column");
    expect(ports.pauses).toEqual([]);
  });
});
