import { HalluMazeError } from "@hallumaze/foundation";
import { describe, expect, it } from "vitest";

import { openOutageGate } from "./outage-gate.ts";

const away = new HalluMazeError("database-unreachable", "away", { retry: true });
const never = new AbortController().signal;

/** Servers that refuse so many questions and answer then; counts the questions. */
function serversAwayFor(questions: number) {
  let asked = 0;
  const ping = async (): Promise<void> => {
    asked += 1;
    if (asked <= questions) throw away;
  };
  return { ports: { store: { ping }, queue: { ping: async () => undefined } }, asked: () => asked };
}

describe("a delivery that meets a server that is away", () => {
  it("waits in its slot until the servers answer, and comes again within two seconds", async () => {
    const { ports } = serversAwayFor(1);
    const gate = openOutageGate(ports, never);
    const end = await gate.hold(() => Promise.reject(away), never);
    expect(end).toMatchObject({ kind: "again" });
    const { afterMs } = end as { readonly afterMs: number };
    expect(afterMs).toBeGreaterThanOrEqual(1000);
    expect(afterMs).toBeLessThanOrEqual(2000);
  });

  it("asks for all the others too: a hundred slots are one question at a time", async () => {
    const { ports, asked } = serversAwayFor(1);
    const gate = openOutageGate(ports, never);
    const slots = Array.from({ length: 100 }, () => new AbortController().signal);
    await Promise.all(slots.map((signal) => gate.hold(() => Promise.reject(away), signal)));
    expect(asked()).toBe(2);
  });

  it("fails with what waiting cannot help, and where it is told to stop", async () => {
    const { ports, asked } = serversAwayFor(Number.POSITIVE_INFINITY);
    const gate = openOutageGate(ports, never);
    const refused = new HalluMazeError("database-refused", "no such column");
    await expect(gate.hold(() => Promise.reject(refused), never)).rejects.toBe(refused);
    expect(asked()).toBe(0);
    const stop = new AbortController();
    const held = gate.hold(() => Promise.reject(away), stop.signal);
    stop.abort();
    await expect(held).rejects.toBe(away);
  });

  it("is left alone where nothing fails", async () => {
    const { ports, asked } = serversAwayFor(0);
    const gate = openOutageGate(ports, never);
    expect(await gate.hold(async () => ({ kind: "done" }), never)).toEqual({ kind: "done" });
    expect(asked()).toBe(0);
  });
});
