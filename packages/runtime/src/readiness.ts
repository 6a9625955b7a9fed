import type { ReadyCheck } from "@hallumaze/contract";
import type { Consumer } from "@hallumaze/engine";
import { HalluMazeError } from "@hallumaze/foundation";

import type { House } from "./house.ts";

/** Longest wait for database or queue to say that they are there. */
const pingMs = 2000;
/** Work that waits so long beside a free slot, with nothing started: longer than the queue's watchdog bears it. */
const standstillMs = 15_000;
/** A worker looks for lanes every second; its back-off is 15 s at most. */
const lookAgeMaxMs = 30_000;

/** What every role needs: database and queue answer. */
export function houseChecks(house: Pick<House, "store" | "queue">): Readonly<Record<string, ReadyCheck>> {
  return {
    database: () => answers(house.store.ping(pingMs)),
    queue: () => answers(house.queue.ping(pingMs)),
  };
}

/** What a worker knows of its own consumption. */
export interface Consumption {
  readonly isDraining: boolean;
  /** Whether the first comparison of ledger and queue is over. */
  readonly isRepaired: boolean;
  /** Since it last looked for lanes with success; null before. */
  readonly lookAgeMs: number | null;
  readonly consumers: ReadonlyMap<string, Pick<Consumer, "standsStillForMs">>;
}

/** Why a worker does not consume, in plain words; null where it does. */
export function whyNotConsuming({ isDraining, isRepaired, lookAgeMs, consumers }: Consumption): string | null {
  if (isDraining) return "it drains and takes no more work";
  if (!isRepaired) return "the first repair of the queue from the ledger is not over";
  if (lookAgeMs === null) return "it has not looked for lanes yet";
  if (lookAgeMs > lookAgeMaxMs) return `it last looked for lanes ${Math.round(lookAgeMs / 1000)} s ago`;
  const still = [...consumers].flatMap(([lane, consumer]) => {
    const forMs = consumer.standsStillForMs();
    return forMs < standstillMs ? [] : [`${lane} (${Math.round(forMs / 1000)} s)`];
  });
  return still.length === 0 ? null : `work waits beside free slots and nothing starts: ${still.join(", ")}`;
}

/** By its code only: an error's own words name hosts. */
async function answers(ping: Promise<void>): Promise<string | null> {
  try {
    await ping;
    return null;
  } catch (error) {
    return `no answer (${error instanceof HalluMazeError ? error.code : "unknown error"})`;
  }
}
