import type { Delivery, Enqueue } from "@hallumaze/engine";
import { z } from "zod";

import { QueueError } from "./errors.ts";

/** Ids only: what a trial is, stands in the ledger. Strict, so that a newer version's payload is not half understood. */
const payloadSchema = z.strictObject({
  // Printable ASCII: the Postgres back end refuses NUL and lone surrogates, so neither back end gets them.
  trialId: z.string().regex(/^[\x21-\x7e]{1,200}$/),
  generation: z.int().min(0),
});

/** Longest delay: a year. Above 2039 the Redis back end's 53-bit score of time × 4096 would lose milliseconds. */
const delayMaxMs = 365 * 24 * 3_600_000;

/** Reads a job's payload; null where this version cannot. */
export function readPayload(data: unknown): Delivery | null {
  const parsed = payloadSchema.safeParse(data);
  return parsed.success ? parsed.data : null;
}

/** Checks a delivery to enqueue and gives its payload. */
export function writePayload(delivery: Delivery): Delivery {
  const payload = readPayload({ trialId: delivery.trialId, generation: delivery.generation });
  if (payload !== null) return payload;
  throw new QueueError(
    "queue-input",
    `A delivery needs a trialId of 1 to 200 printable ASCII characters and a generation that is a whole number from 0; got ${JSON.stringify(delivery).slice(0, 200)}.`,
  );
}

/**
 * Id of a delivery's job: the same delivery always has the same id, and no two deliveries share one.
 *
 * BullMQ drops an add whose id is there already, and refuses ids that hold a colon or are a whole number.
 */
export function deliveryJobId(delivery: Delivery): string {
  return `${encodeURIComponent(delivery.trialId)}~${delivery.generation}`;
}

/** A delay that both back ends keep exactly: whole milliseconds, 0 to a year. */
export function safeDelayMs(delayMs: number): number {
  if (Number.isNaN(delayMs)) throw new QueueError("queue-input", "A delay must be a number of milliseconds; got NaN.");
  return Math.ceil(Math.min(Math.max(delayMs, 0), delayMaxMs));
}

/** Priorities -10 … 10, and the rounds of turns that a priority has room for: BullMQ takes 1 … 2,097,151, small ones first. */
const priorityMax = 10;
const roundsPerPriority = 99_864;
/** Turns that count as equal. Small, so that sweeps take turns often; large, so that long sweeps find room. */
const turnsPerRound = 4;

/**
 * A delivery's place in its lane, as BullMQ's priority. What lies beyond the last round (400,000 trials of one sweep and
 * weight 1) is delivered behind it, in the order enqueued.
 */
export function deliveryRank({ priority = 0, turn = 0 }: Pick<Enqueue, "priority" | "turn">): number {
  const below = priorityMax - Math.min(Math.max(Math.round(priority), -priorityMax), priorityMax);
  const round = Math.min(Math.max(Math.floor(turn / turnsPerRound), 0), roundsPerPriority - 1);
  return 1 + below * roundsPerPriority + round;
}
