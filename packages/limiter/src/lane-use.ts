import type { LaneLimits, LaneUse, LimitDimension } from "@hallumaze/engine";
import { z } from "zod";

import { pacing } from "./pacing.ts";

/** Dimensions in the order of the scripts, which count them from 1. */
export const limitDimensions = [
  "rpm",
  "inputTpm",
  "outputTpm",
  "tpm",
  "concurrency",
  "cooldown",
  "parked",
] as const satisfies readonly LimitDimension[];

const rawUse = z.object({
  now: z.number(),
  factor: z.number(),
  granted: z.number(),
  limited: z.number(),
  inFlight: z.number(),
  binding: z.number().nullish(),
  boundAt: z.number().nullish(),
  firstAt: z.number().nullish(),
  configured: z.array(z.number()).length(5),
  learned: z.array(z.number()).length(5),
  /** Share of each limit that others of the same key leave. */
  left: z.array(z.number()).length(5),
  used: z.array(z.number()).length(3),
  parked: z.object({ reason: z.string(), sinceMs: z.number(), resumesAtMs: z.number() }).nullish(),
});

/**
 * What a script told of a lane, as the port tells it; rates are compared with what the last minute allowed before any
 * shrinking, so that a shrunk lane shows as less than full.
 */
export function readUse(lane: string, told: unknown, minuteMs: number): LaneUse {
  const raw = rawUse.parse(told);
  const bases = raw.configured.map((configured, index) => smaller(configured, raw.learned[index] ?? 0));
  const shares = raw.firstAt == null ? [] : shareUsed(raw, bases, raw.now - raw.firstAt, minuteMs);
  const fullest = shares.reduce<number | null>(
    (best, share, index) => (share !== null && (best === null || share > (shares[best] ?? 0)) ? index : best),
    null,
  );
  const recent =
    raw.binding != null && raw.boundAt != null && raw.now - raw.boundAt < minuteMs ? raw.binding - 1 : null;
  const bound = recent ?? fullest;
  const utilisation = (bound === null ? null : shares[bound]) ?? (fullest === null ? null : shares[fullest]) ?? null;
  return {
    lane,
    limits: limitsOf(raw.configured),
    effective: limitsOf(
      bases.map((base, index) => (index < 4 ? base * Math.min(raw.factor, raw.left[index] ?? 1) : base)),
    ),
    inFlight: raw.inFlight,
    utilisation,
    binding: bound === null ? null : (limitDimensions[bound] ?? null),
    granted: raw.granted,
    limited: raw.limited,
    parked:
      raw.parked == null
        ? null
        : {
            reason: raw.parked.reason,
            sinceMs: Math.round(raw.parked.sinceMs),
            resumesAtMs: raw.parked.resumesAtMs === 0 ? null : Math.round(raw.parked.resumesAtMs),
          },
  };
}

/** Used over allowed for each of the five dimensions; null where none is set. */
function shareUsed(
  raw: z.infer<typeof rawUse>,
  bases: readonly number[],
  sinceFirstMs: number,
  minuteMs: number,
): readonly (number | null)[] {
  const [requests = 0, input = 0, output = 0] = raw.used;
  const slotMs = minuteMs / pacing.useSlots;
  const countedMs = raw.now - (Math.floor(raw.now / slotMs) - pacing.useSlots + 1) * slotMs;
  const spanMs = Math.max(slotMs, Math.min(countedMs, sinceFirstMs));
  return bases.map((base, index) => {
    if (base === 0) return null;
    if (index === 4) return raw.inFlight / base;
    const used = [requests, input, output, input + output][index] ?? 0;
    return Math.max(0, used) / ((base * spanMs) / minuteMs);
  });
}

/** The smaller of two limits, where 0 stands for none. */
function smaller(a: number, b: number): number {
  return a === 0 || b === 0 ? a + b : Math.min(a, b);
}

function limitsOf(row: readonly number[]): LaneLimits {
  const names = ["rpm", "inputTpm", "outputTpm", "tpm", "concurrency"] as const;
  return Object.fromEntries(names.flatMap((name, index) => (row[index] ? [[name, row[index]]] : [])));
}
