import { setTimeout as pause } from "node:timers/promises";

/** How long a failure is held back, in ms. */
const failurePauseMs = 100;

/**
 * Lets a failure wait. BullMQ's fetch loop asks again at once after an error that it does not take for one of the
 * connection, such as that of a pool or client that was ended. Where that answer comes without a round trip, no timer and
 * no socket of the process is heard again: it spins for ever.
 */
export async function notAtOnce<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    await pause(failurePauseMs, undefined, { ref: false });
    throw error;
  }
}
