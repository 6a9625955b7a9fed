import { createHash } from "node:crypto";

import { type SpanContext, TraceFlags } from "@opentelemetry/api";
import { type IdGenerator, RandomIdGenerator } from "@opentelemetry/sdk-trace-base";

/** Ids of one span. */
export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/**
 * Ids of the span that made a trial: they follow from the trial's id, so that every process that meets the trial, today or
 * after the queue was lost, adds to the same trace, and the queue carries ids only. A trial's UUID is its trace's id.
 */
export function trialSpanIds(trialId: string): SpanIds {
  const digits = trialId.replaceAll("-", "").toLowerCase();
  const traceId = /^(?!0{32})[0-9a-f]{32}$/.test(digits) ? digits : hash(trialId).slice(0, 32);
  return { traceId, spanId: hash(`create ${trialId}`).slice(0, 16) };
}

/** That span as a parent, made in this process or another; sampled wherever this process records. */
export function trialParent(trialId: string): SpanContext {
  return { ...trialSpanIds(trialId), traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

/** Gives the next span planned ids, all others random ones. */
export interface PlannedIds extends IdGenerator {
  /** Runs `start`, whose span gets these ids. Synchronous: no other span can begin in between. */
  readonly using: <T>(ids: SpanIds, start: () => T) => T;
}

/** Opens a generator of ids. */
export function openPlannedIds(): PlannedIds {
  const random = new RandomIdGenerator();
  let planned: SpanIds | null = null;
  return {
    generateTraceId: () => planned?.traceId ?? random.generateTraceId(),
    generateSpanId: () => planned?.spanId ?? random.generateSpanId(),
    using: (ids, start) => {
      planned = ids;
      try {
        return start();
      } finally {
        planned = null;
      }
    },
  };
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
