import type { SweepSpec } from "./spec.ts";

/** Splits `HH:MM`; null for a date and time. */
function clockOf(deadline: string): readonly [hours: number, minutes: number] | null {
  const [, hours, minutes] = /^(\d\d):(\d\d)$/.exec(deadline) ?? [];
  return hours === undefined || minutes === undefined ? null : [Number(hours), Number(minutes)];
}

/**
 * The spec with its deadline as an ISO date and time: `HH:MM` is the next such moment after `nowMs` on this process' own
 * clock and in its time zone.
 */
export function withAbsoluteDeadline<Spec extends Pick<SweepSpec, "deadline">>(spec: Spec, nowMs: number): Spec {
  const clock = spec.deadline === null ? null : clockOf(spec.deadline);
  if (clock === null) return spec;
  const [hours, minutes] = clock;
  const next = new Date(nowMs);
  next.setHours(hours, minutes, 0, 0);
  // By the calendar, not by 24 hours: a day may have 23 or 25.
  if (next.getTime() <= nowMs) next.setDate(next.getDate() + 1);
  return { ...spec, deadline: next.toISOString() };
}

/** The moment of an absolute deadline, milliseconds since the Unix epoch; null where there is none. */
export function deadlineMs({ deadline }: Pick<SweepSpec, "deadline">): number | null {
  return deadline === null || clockOf(deadline) !== null ? null : Date.parse(deadline);
}
