import type { Allowance } from "./limit-figures.ts";
import type { LaneRun } from "./limit-run.ts";

/** A minute in ten seconds: real sleeping, and durations, refills and waits all scaled alike. */
export const minuteMs = 10_000;

/** Which limit binds: requests or output tokens a minute. */
export type Binding = "rpm" | "tpm";

/** Both, in the order of the report. */
export const bindings: readonly Binding[] = ["rpm", "tpm"];

/** What the server allows. A mean request takes 400 tokens: a thousandth of the limit. */
export const allowances = {
  rpm: { unit: "requests", perMinute: 300, minuteMs },
  tpm: { unit: "tokens", perMinute: 400_000, minuteMs },
} as const satisfies Readonly<Record<Binding, Allowance>>;

/** By Little's law the limit keeps this many in flight: 10 s a request, of 300 or 1,000 a minute. */
export const inFlight = { rpm: 50, tpm: 167 } as const;

/** A lane of its own under that limit, with half as many waiters as requests in flight, unless told. */
export function steadyLane(binding: Binding, loops = inFlight[binding] * 1.5): LaneRun {
  const { perMinute } = allowances[binding];
  return { lane: newLane(), limits: binding === "rpm" ? { rpm: perMinute } : { outputTpm: perMinute }, loops };
}

let lanes = 0;

/** A name that no other run has. */
export function newLane(): string {
  lanes += 1;
  return `bench-${Date.now()}-${process.pid}-${lanes}`;
}
