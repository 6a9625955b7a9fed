import { describe, expect, it } from "vitest";

import { decideEmpty, decideFailure, defaultRetryPolicy } from "./failure-policy.ts";
import type { FailureOutcome } from "./outcomes.ts";

const fresh = { tries: 0, waits: 0, maxTries: 4 };
const failure = (outcome: FailureOutcome, retryAfterMs: number | null = null) => ({
  outcome,
  message: "m",
  retryAfterMs,
});

describe("decideFailure", () => {
  it.each(["bad_request", "context_too_long", "filtered"] as const)("never asks again after %s", (outcome) => {
    expect(decideFailure(failure(outcome), fresh, defaultRetryPolicy, 0.5).kind).toBe("failed");
  });

  it("backs off exponentially with full jitter", () => {
    const waits = [0, 1, 2, 9].map((tries) =>
      decideFailure(failure("transport"), { tries, waits: 0, maxTries: 99 }, defaultRetryPolicy, 0.5),
    );
    expect(waits.map((end) => (end.kind === "retry" ? end.afterMs : null))).toEqual([500, 1000, 2000, 30_000]);
  });

  it("fails when the tries are spent: four tries are four requests", () => {
    const spent = [0, 1, 2, 3].map((tries) =>
      decideFailure(failure("overloaded"), { ...fresh, tries }, defaultRetryPolicy, 0),
    );
    expect(spent.map((end) => end.kind)).toEqual(["retry", "retry", "retry", "failed"]);
  });

  it("waits as long as the provider asks, and spends no try on a rate limit", () => {
    const end = decideFailure(failure("rate_limited", 38_000), { ...fresh, tries: 3 }, defaultRetryPolicy, 0);
    expect(end).toEqual({ kind: "retry", outcome: "rate_limited", message: "m", spends: "wait", afterMs: 38_000 });
  });

  it("makes exactly one request where one try is allowed, rate limit or not", () => {
    expect(decideFailure(failure("rate_limited", 5), { ...fresh, maxTries: 1 }, defaultRetryPolicy, 0).kind).toBe(
      "failed",
    );
  });

  it("ends a rate-limited trial after the largest number of waits", () => {
    const end = decideFailure(failure("rate_limited"), { ...fresh, waits: 60 }, defaultRetryPolicy, 0);
    expect(end.kind).toBe("failed");
  });
});

describe("decideEmpty", () => {
  it("asks once more, then takes the empty reply as the result", () => {
    const budget = { maxEmptyRetries: 1, waits: 0 };
    expect(decideEmpty({ ...budget, emptyRetries: 0 }, defaultRetryPolicy, 0)?.kind).toBe("retry");
    expect(decideEmpty({ ...budget, emptyRetries: 1 }, defaultRetryPolicy, 0)).toBeNull();
  });
});
