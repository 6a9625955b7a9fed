import { describe, expect, it } from "vitest";

import { deadlineOf, hasAbsoluteDeadlines, likeDeadline, withAbsoluteDeadlines } from "./deadline.ts";

/** What a deadline by the clock becomes, submitted at an ISO moment in a zone. */
function absolute(deadline: string, at: string, zone: string): string | null {
  return withAbsoluteDeadlines({ deadline, models: [] }, { nowMs: Date.parse(at), zone }).deadline;
}

describe("a deadline by the clock", () => {
  it("is the next such moment of the submitter's zone, whatever zone this process is in", () => {
    expect(absolute("08:00", "2026-11-30T22:15:00+09:00", "Asia/Seoul")).toBe("2026-12-01T08:00:00+09:00");
    expect(absolute("08:00", "2026-11-30T22:15:00+09:00", "America/New_York")).toBe("2026-12-01T08:00:00-05:00");
    expect(absolute("08:00", "2026-11-30T13:15:00Z", "UTC")).toBe("2026-12-01T08:00:00Z");
    expect(absolute("23:00", "2026-11-30T22:15:00+09:00", "Asia/Seoul")).toBe("2026-11-30T23:00:00+09:00");
  });

  it("that is now, or was today, is tomorrow's; midnight is 00:00", () => {
    expect(absolute("22:15", "2026-11-30T22:15:00+09:00", "Asia/Seoul")).toBe("2026-12-01T22:15:00+09:00");
    expect(absolute("22:14", "2026-12-31T22:15:00+09:00", "Asia/Seoul")).toBe("2027-01-01T22:14:00+09:00");
    expect(absolute("22:15", "2026-11-30T22:14:59.999+09:00", "Asia/Seoul")).toBe("2026-11-30T22:15:00+09:00");
    expect(absolute("00:00", "2026-11-30T22:15:00+09:00", "Asia/Seoul")).toBe("2026-12-01T00:00:00+09:00");
  });

  it("goes by the calendar over nights of 23 and 25 hours", () => {
    // Berlin: 2026-03-29 02:00 → 03:00, 2026-10-25 03:00 → 02:00.
    expect(absolute("08:00", "2026-03-28T22:00:00+01:00", "Europe/Berlin")).toBe("2026-03-29T08:00:00+02:00");
    expect(absolute("08:00", "2026-10-24T22:00:00+02:00", "Europe/Berlin")).toBe("2026-10-25T08:00:00+01:00");
  });

  it("that the night skips is an hour later on the clock; of one that comes twice the next is meant", () => {
    expect(absolute("02:30", "2026-03-28T22:00:00+01:00", "Europe/Berlin")).toBe("2026-03-29T03:30:00+02:00");
    expect(absolute("02:30", "2026-03-29T04:00:00+02:00", "Europe/Berlin")).toBe("2026-03-30T02:30:00+02:00");
    expect(absolute("02:30", "2026-10-24T22:00:00+02:00", "Europe/Berlin")).toBe("2026-10-25T02:30:00+02:00");
    expect(absolute("02:30", "2026-10-25T02:45:00+02:00", "Europe/Berlin")).toBe("2026-10-25T02:30:00+01:00");
    expect(absolute("02:30", "2026-10-25T02:45:00+01:00", "Europe/Berlin")).toBe("2026-10-26T02:30:00+01:00");
    // Apia had no 30 December 2011.
    expect(absolute("08:00", "2011-12-29T22:00:00-10:00", "Pacific/Apia")).toBe("2011-12-31T08:00:00+14:00");
  });

  it("in a zone that nobody knows is an error that says what to set", () => {
    expect(() => absolute("08:00", "2026-11-30T22:15:00Z", "Mars/Olympus")).toThrow(/"Mars\/Olympus".*set TZ/);
  });
});

describe("a deadline with its day", () => {
  it("stays what it is, past or not, wherever and whenever it is read", () => {
    const moment = { nowMs: Date.parse("2030-01-01T00:00:00Z"), zone: "Asia/Seoul" };
    const spec = { deadline: "2026-12-01T08:00:00+09:00", models: [{ deadline: "2026-12-01T08:00:00Z" }] };
    expect(withAbsoluteDeadlines(spec, moment)).toEqual(spec);
    expect(hasAbsoluteDeadlines(spec)).toBe(true);
  });

  it("is a model's own, else the sweep's, and mode auto's alone", () => {
    const given = { deadline: "08:00", models: [{ deadline: "02:00" }, { deadline: null }] };
    expect(hasAbsoluteDeadlines(given)).toBe(false);
    const spec = withAbsoluteDeadlines(given, { nowMs: Date.UTC(2026, 10, 30, 22), zone: "UTC" });
    expect(hasAbsoluteDeadlines(spec)).toBe(true);
    const moments = spec.models.map((model) => deadlineOf(spec, { ...model, mode: "auto" }));
    expect(moments).toEqual(["2026-12-01T02:00:00Z", "2026-12-01T08:00:00Z"]);
    expect(deadlineOf(spec, { mode: "batch", deadline: null })).toBeNull();
    expect(deadlineOf({ deadline: null }, { mode: "auto", deadline: null })).toBeNull();
    expect(deadlineOf(given, { mode: "auto", deadline: null })).toBeNull();
  });

  it("gives other moments its offset when they are shown", () => {
    const ms = Date.UTC(2026, 10, 30, 20, 30);
    expect(likeDeadline(ms, "2026-12-01T08:00:00+09:00")).toBe("2026-12-01T05:30:00+09:00");
    expect(likeDeadline(ms, "2026-12-01T08:00:00Z")).toBe("2026-11-30T20:30:00Z");
  });
});
