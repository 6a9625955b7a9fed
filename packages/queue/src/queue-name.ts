import { QueueError } from "./errors.ts";

/** Name of the queue that delivers the trials of a lane. */
export function solveQueueName(lane: string): string {
  return `solve.${safeLane(lane)}`;
}

/** Name of the queue that delivers the verdicts to fetch for a lane. */
export function judgeQueueName(lane: string): string {
  return `judge.${safeLane(lane)}`;
}

/**
 * Prefix of a queue's Redis keys. The ledger stands in it because ledgers may share a Redis: a delivery of another one
 * names no trial of ours, and would be taken off the queue as settled.
 *
 * The braces are a Redis Cluster hash tag: BullMQ's scripts touch several keys of one queue at once, so all keys of one
 * queue must share a slot, while different queues may live on different nodes. A board needs this prefix to find a queue.
 */
export function redisKeyPrefix(ledger: string, queueName: string): string {
  return `hallumaze.${checkLedger(ledger)}{${queueName}}`;
}

/** Gives the id back where it can stand in a key: a brace in it would move the hash tag. */
export function checkLedger(ledger: string): string {
  if (/^[A-Za-z0-9-]{1,64}$/.test(ledger)) return ledger;
  throw new QueueError(
    "queue-input",
    `A ledger's id may hold 1 to 64 letters, digits and dashes; got ${JSON.stringify(ledger.slice(0, 80))}.`,
  );
}

/** A colon would break BullMQ's keys, a brace the hash tag, other characters somebody's board. */
function safeLane(lane: string): string {
  if (/^[A-Za-z0-9._-]{1,200}$/.test(lane)) return lane;
  throw new QueueError(
    "queue-input",
    `A lane may hold 1 to 200 letters, digits, dots, dashes and underscores; got ${JSON.stringify(lane.slice(0, 80))}.`,
  );
}
