import type { BaseAdapter } from "@bull-board/api/baseAdapter";

import type { BackEnd } from "./back-end.ts";

/** One lane's queue as a board shows it: only to be looked at. */
export type BoardLane = BaseAdapter;

/** Shows the queues to a board. */
export interface QueueBoard {
  /** The queue of a lane, the same at each call; looking writes nothing, also where the queue is not there yet. */
  readonly boardOf: (lane: string) => Promise<BoardLane>;
}

/** Lanes for a board, opened as they are asked for. */
export function openBoardLanes(backEnd: Pick<BackEnd, "openBoardQueue">): {
  readonly lane: (queueName: string) => Promise<BoardLane>;
  readonly close: () => Promise<void>;
} {
  const queues = new Map<string, ReturnType<BackEnd["openBoardQueue"]>>();
  const lanes = new Map<string, BoardLane>();
  return {
    lane: async (queueName) => {
      // Loaded with the first look: of all commands one has a board.
      const { BullMQAdapter } = await import("@bull-board/api/bullMQAdapter");
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
