export type { BoardLane, QueueBoard } from "./board.ts";
export { queueEnv } from "./env.ts";
export { QueueError, type QueueErrorCode } from "./errors.ts";
export { openQueue, type QueueOptions, type QueueTarget } from "./open-queue.ts";
export { judgeQueueName, redisKeyPrefix, solveQueueName } from "./queue-name.ts";
export { defaultQueueSettings, type QueueSettings } from "./settings.ts";
