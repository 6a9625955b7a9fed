import { describe, expect, it } from "vitest";

import { deadlineMs, withAbsoluteDeadline } from "./deadline.ts";

describe("a deadline", () => {
  it("by the clock is the next such moment of this process' own time zone, tomorrow's where today's is over", () => {
    const evening = new Date(2026, 10, 30, 22, 15).getTime();
    const morning = withAbsoluteDeadline({ deadline: "08:00" }, evening);
    expect(deadlineMs(morning)).toBe(new Date(2026, 11, 1, 8, 0).getTime());
    expect(deadlineMs(withAbsoluteDeadline({ deadline: "23:00" }, evening))).toBe(
      new Date(2026, 10, 30, 23, 0).getTime(),
    );
    expect(deadlineMs(withAbsoluteDeadline({ deadline: "22:15" }, evening))).toBe(
      new Date(2026, 11, 1, 22, 15).getTime(),
    );
  });

  it("that is absolute stays what it is, wherever and whenever it is read", () => {
    const spec = { deadline: "2026-12-01T08:00:00+09:00" };
    expect(withAbsoluteDeadline(spec, Date.now())).toEqual(spec);
    expect(deadlineMs(spec)).toBe(Date.UTC(2026, 10, 30, 23, 0));
    expect(deadlineMs({ deadline: null })).toBeNull();
    expect(deadlineMs({ deadline: "08:00" })).toBeNull();
  });
});
