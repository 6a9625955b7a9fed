import { DateTime } from "luxon";

import type { ModelSpec, SweepSpec } from "./spec.ts";

/** When and where a spec is submitted: what a deadline by the clock is counted from. */
export interface SubmissionMoment {
  /** Milliseconds since the Unix epoch. */
  readonly nowMs: number;
  /** The submitter's IANA time zone, such as `Asia/Seoul`. */
  readonly zone: string;
}

type DeadlineSpec = Pick<SweepSpec, "deadline"> & { readonly models: readonly Pick<ModelSpec, "deadline">[] };

/**
 * The spec with its deadlines, its models' own too, as ISO dates and times: `HH:MM` is the next such moment of the
 * submitter's clock, written with the offset that his zone has then. A date and time stays what it is, past or not. Throws a RangeError on an unknown zone.
 *
 * Where a night skips the time, it is as long after midnight as it says (02:30 becomes 03:30); where a night has it twice,
 * both count, and the next one is meant.
 */
export function withAbsoluteDeadlines<Spec extends DeadlineSpec>(spec: Spec, moment: SubmissionMoment): Spec {
  const absolute = (deadline: string | null): string | null =>
    deadline === null || !isClock(deadline) ? deadline : isoIn(moment.zone, nextMs(deadline, moment));
  return {
    ...spec,
    deadline: absolute(spec.deadline),
    models: spec.models.map((model) => ({ ...model, deadline: absolute(model.deadline) })),
  };
}

/** Whether every deadline of a spec names its day. */
export function hasAbsoluteDeadlines({ deadline, models }: DeadlineSpec): boolean {
  return [deadline, ...models.map((model) => model.deadline)].every((one) => one === null || !isClock(one));
}

/**
 * The ISO date and time by which a model of mode auto is to be answered: its own, else the sweep's. Null for another mode,
 * and where no deadline with its day is known.
 */
export function deadlineOf(
  spec: Pick<SweepSpec, "deadline">,
  model: Pick<ModelSpec, "mode" | "deadline">,
): string | null {
  const deadline = model.deadline ?? spec.deadline;
  return model.mode !== "auto" || deadline === null || isClock(deadline) ? null : deadline;
}

/** A moment as an ISO date and time, to the second, with the offset from UTC that an ISO deadline has. */
export function likeDeadline(ms: number, deadline: string): string {
  return isoIn(DateTime.fromISO(deadline, { setZone: true }).zoneName ?? "utc", ms);
}

function isoIn(zone: string, ms: number): string {
  const iso = DateTime.fromMillis(ms, { zone }).toISO({ suppressMilliseconds: true });
  if (iso === null) throw new RangeError(`no date and time in zone "${zone}"`);
  return iso;
}

function isClock(deadline: string): boolean {
  return /^\d\d:\d\d$/.test(deadline);
}

/** The next moment after `nowMs` at which clocks in `zone` show `HH:MM`. */
function nextMs(clock: string, { nowMs, zone }: SubmissionMoment): number {
  const now = DateTime.fromMillis(nowMs, { zone });
  if (!now.isValid) throw new RangeError(`no time zone "${zone}" is known here: set TZ to one such as Europe/Berlin`);
  const [hour = 0, minute = 0] = clock.split(":").map(Number);
  // A day may have 23 or 25 hours, and a zone may leave one out: the calendar is asked, day by day.
  const moments = [0, 1, 2].flatMap((days) =>
    now
      .startOf("day")
      .plus({ days })
      .set({ hour, minute })
      .getPossibleOffsets()
      .map((one) => one.toMillis()),
  );
  return Math.min(...moments.filter((ms) => ms > nowMs));
}
