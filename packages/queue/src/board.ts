import type { BaseAdapter } from "@bull-board/api/baseAdapter";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";

import type { BackEnd } from "./back-end.ts";

/** One lane's queue as a board shows it: only to be looked at. */
export type BoardLane = BaseAdapter;

/** Shows the queues to a board. */
export interface QueueBoard {
  /** The queue of a lane, the same at each call; looking writes nothing, also where the queue is not there yet. */
  readonly boardOf: (lane: string) => BoardLane;
}

/** Lanes for a board, opened as they are asked for. */
export function openBoardLanes(backEnd: Pick<BackEnd, "openBoardQueue">): {
  readonly lane: (queueName: string) => BoardLane;
  readonly close: () => Promise<void>;
} {
  const queues = new Map<string, ReturnType<BackEnd["openBoardQueue"]>>();
  const lanes = new Map<string, BoardLane>();
  return {
    lane: (queueName) => {
      const known = lanes.get(queueName);
      if (known !== undefined) return known;
      const queue = backEnd.openBoardQueue(queueName);
      const lane = new BullMQAdapter(queue, { readOnlyMode: true, allowRetries: false });
      queues.set(queueName, queue);
      lanes.set(queueName, lane);
      return lane;
    },
    close: async () => {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
    },
  };
}
