import { loadavg } from "node:os";

import { capacityShare } from "./limit-run.ts";
import type { Counted, Unit } from "./limit-server.ts";

/** One measured figure; where something is promised of it, the bound and whether it holds. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** Least and most that keep the promise, both included. */
  readonly bound?: Bound;
  readonly holds?: boolean;
  /** Runnable processes over the last minute, when it was measured: on a busy machine timers come late. */
  readonly load: number;
}

/** Least and most, both included; a side that is left out is open. */
export interface Bound {
  readonly least?: number;
  readonly most?: number;
}

/** What spec and decision 0008 promise, in percent; a minute is any 60 s of a run. */
export const promised = {
  used: { least: 97 },
  refused: { most: 0.5 },
  fullestMinute: { most: 105 },
  /** Seconds of a real minute until a changed limit is followed. */
  followSeconds: { most: 30 },
  makespan: { most: 1.05 },
} as const satisfies Readonly<Record<string, Bound>>;

/** A figure with its verdict. */
export function figure(name: string, value: number, unit: string, bound?: Bound): Figure {
  const base = { name, value, unit, load: loadavg()[0] ?? 0 };
  if (bound === undefined) return base;
  const holds = value >= (bound.least ?? -Infinity) && value <= (bound.most ?? Infinity);
  return { ...base, bound, holds };
}

/** A limit: so many requests or tokens in a minute of `minuteMs`. */
export interface Allowance {
  readonly unit: Unit;
  readonly perMinute: number;
  readonly minuteMs: number;
}

function costOf(unit: Unit, tokens: number): number {
  return unit === "requests" ? 1 : tokens;
}

/** Completed over allowed between two minutes of a run. */
export function utilisation({ completions }: Counted, allowance: Allowance, from: number, to: number): number {
  const { unit, perMinute, minuteMs } = allowance;
  const used = completions
    .filter(({ atMs }) => atMs >= from * minuteMs && atMs < to * minuteMs)
    .reduce((sum, { tokens }) => sum + costOf(unit, tokens), 0);
  return used / (perMinute * (to - from));
}

/** Most that fell into any window of one minute, over the limit: of completions, unless told. */
export function fullestMinute(
  { completions }: Counted,
  { unit, perMinute, minuteMs }: Allowance,
  events: Counted["completions"] = completions,
): number {
  let [sum, first, most] = [0, 0, 0];
  for (const { atMs, tokens } of events) {
    sum += costOf(unit, tokens);
    while (atMs - (events[first]?.atMs ?? 0) >= minuteMs) {
      sum -= costOf(unit, events[first]?.tokens ?? 0);
      first += 1;
    }
    most = Math.max(most, sum);
  }
  return most / perMinute;
}

/**
 * The fullest minute as a vendor charges: requests when they are let in, tokens when they end. On a lane of few requests
 * the ends alone are uneven by more than the promise: ten in flight end by three more or less a minute.
 */
export function fullestChargedMinute(counted: Counted, allowance: Allowance): number {
  return fullestMinute(counted, allowance, allowance.unit === "requests" ? counted.admitted : counted.completions);
}

/** 429s over all that was sent. */
export function refusedShare(counted: readonly Pick<Counted, "completions" | "refusals">[]): number {
  const refused = counted.reduce((sum, { refusals }) => sum + refusals.length, 0);
  const sent = counted.reduce((sum, { completions, refusals }) => sum + completions.length + refusals.length, 0);
  return refused / Math.max(1, sent);
}

/** Seconds of a real minute from `from` on until for the first time a quarter of a minute's requests were within the bound. */
export function secondsToFollow(
  { admitted, refusals }: Counted,
  { perMinute, minuteMs }: Allowance,
  { from, to }: { readonly from: number; readonly to: number },
  { least = 0, most = Infinity }: Bound,
): number {
  // When they were sent: completions come as late and as unevenly as requests last.
  const sentMs = [...admitted.map(({ atMs }) => atMs), ...refusals];
  const width = 0.25;
  for (let at = from; at + width <= to; at += 1 / 120) {
    const sent = sentMs.filter((ms) => ms >= at * minuteMs && ms < (at + width) * minuteMs).length;
    const percent = (100 * sent) / (perMinute * width);
    if (percent >= least && percent <= most) return (at - from) * 60;
  }
  return (to - from) * 60;
}

/**
 * When the last request of those let in ends, in milliseconds, where a lane works at its limit from the first moment: each is
 * let in as soon as the limit has given what those before it took, and takes its own time. `banked` is a share of a minute's
 * allowance that a full bucket gives at once; 0 for what the limit itself gives.
 */
export function idealEndMs(
  admitted: Counted["admitted"],
  { unit, perMinute, minuteMs }: Allowance,
  banked: number,
): number {
  const capacity = Math.max(1, perMinute * banked);
  let [used, endMs] = [0, 0];
  for (const { tokens, takesMs } of admitted) {
    const admitMs = Math.max(0, ((used + 1 - capacity) / perMinute) * minuteMs);
    endMs = Math.max(endMs, admitMs + takesMs);
    used += costOf(unit, tokens);
  }
  return endMs;
}

/**
 * The makespan over the ideal one: with all lanes at their limits, as promised; and with the vendors' buckets emptied at once
 * on top, which no lane that stays within 105 % of its limit can do.
 */
export function makespanFigures(
  name: string,
  lanes: readonly { readonly counted: Counted; readonly allowance: Allowance; readonly endMs: number }[],
): readonly Figure[] {
  const endMs = Math.max(...lanes.map((lane) => lane.endMs));
  const over = (banked: number): number =>
    endMs / Math.max(...lanes.map(({ counted, allowance }) => idealEndMs(counted.admitted, allowance, banked)));
  const late = lanes.map((lane) => lane.endMs / idealEndMs(lane.counted.admitted, lane.allowance, 0));
  return [
    figure(`${name}/makespan-over-ideal`, over(0), "×", promised.makespan),
    figure(`${name}/makespan-over-ideal-with-full-buckets`, over(capacityShare), "×"),
    figure(`${name}/slowest-lane-over-its-ideal`, Math.max(...late), "×"),
  ];
}

/** Use from the second minute on, 429s and the fullest minute of a steady run. */
export function steadyFigures(
  name: string,
  counted: Counted,
  allowance: Allowance,
  minutes: number,
): readonly Figure[] {
  const used = 100 * utilisation(counted, allowance, 1, minutes);
  return [
    figure(`${name}/used`, used, "%", promised.used),
    figure(`${name}/429`, 100 * refusedShare([counted]), "%", promised.refused),
    figure(`${name}/fullest-minute`, 100 * fullestMinute(counted, allowance), "%", promised.fullestMinute),
  ];
}
