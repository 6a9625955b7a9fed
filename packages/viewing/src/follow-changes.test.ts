import { describe, expect, it } from "vitest";

import { createChangeLog } from "./follow-changes.ts";

const look = (sweeps: Readonly<Record<string, string>>, lanes: Readonly<Record<string, string>> = {}) => ({
  sweeps: new Map(Object.entries(sweeps)),
  lanes: new Map(Object.entries(lanes)),
});
const open = () => createChangeLog({ run: "r1", version: "0.4.0" });

describe("a log of changes", () => {
  it("tells what differs from the look before, and nothing of the first", () => {
    const log = open();
    expect(log.see(look({ a: "1", b: "1" }))).toEqual([]);
    expect(log.see(look({ a: "2", b: "1" }, { lane: "1" }))).toMatchObject([
      { event: "sweep", data: { name: "a", version: "2", gone: false } },
      { event: "lane", data: { lane: "lane", version: "1" } },
    ]);
    expect(log.see(look({ a: "2" }, { lane: "1" }))).toMatchObject([{ data: { name: "b", gone: true } }]);
    expect(log.see(look({ a: "2" }, { lane: "1" }))).toEqual([]);
  });

  it("tells a new listener nothing old, and one that comes back what it missed", () => {
    const log = open();
    log.see(look({ a: "1" }));
    expect(log.welcome(null)).toMatchObject([{ event: "hello", data: { version: "0.4.0", refresh: false } }]);
    const [first] = log.see(look({ a: "2" }));
    log.see(look({ a: "3" }));
    expect(log.welcome(first?.id ?? "")).toMatchObject([
      { event: "hello", data: { refresh: false } },
      { event: "sweep", data: { name: "a", version: "3" } },
    ]);
  });

  it("tells one of another run, or one that was away too long, to read everything again", () => {
    const log = open();
    log.see(look({ a: "0" }));
    expect(log.welcome("r0-17")).toMatchObject([{ data: { refresh: true } }]);
    expect(log.welcome("r1-17")).toMatchObject([{ data: { refresh: true } }]);
    expect(log.welcome("<script>")).toMatchObject([{ data: { refresh: true } }]);
    for (let round = 1; round <= 600; round++) log.see(look({ a: String(round) }));
    expect(log.welcome("r1-5")).toMatchObject([{ data: { refresh: true } }]);
    expect(log.welcome("r1-599")).toHaveLength(2);
  });
});
