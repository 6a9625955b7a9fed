import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";

import { openCallDeadline } from "./call-deadline.ts";

describe("openCallDeadline", () => {
  it("fires at its time, and says that it was the time", async () => {
    using deadline = openCallDeadline(new AbortController().signal, 1);
    await expect(deadline.fired).rejects.toThrow("no complete reply within 1 ms");
    expect([deadline.signal.aborted, deadline.timedOut()]).toEqual([true, true]);
  });

  it("fires with the outer signal, and says that it was not the time", async () => {
    const outer = new AbortController();
    using deadline = openCallDeadline(outer.signal, 60_000);
    outer.abort(new Error("stop"));
    await expect(deadline.fired).rejects.toThrow("stop");
    expect(deadline.timedOut()).toBe(false);
  });

  it("fires at once where the outer signal has fired before", () => {
    using deadline = openCallDeadline(AbortSignal.abort(), 60_000);
    expect(deadline.signal.aborted).toBe(true);
  });

  it("leaves neither a timer nor a listener behind", () => {
    const outer = new AbortController();
    const timersBefore = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    for (let call = 0; call < 100; call += 1) {
      using deadline = openCallDeadline(outer.signal, 600_000);
      expect(deadline.signal.aborted).toBe(false);
    }
    expect(getEventListeners(outer.signal, "abort")).toHaveLength(0);
    expect(process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length).toBe(timersBefore);
  });
});
