export { createDatabase, type DisposableDatabase } from "./disposable-postgres.ts";
export { createRedis, type DisposableRedis, findFreePort, findRedis, type RedisForTests } from "./disposable-redis.ts";
export { createFaultProxy, type FaultProxy } from "./fault-proxy.ts";
export { describeQueueContract } from "./queue-contract.ts";
export type { QueueProcess, QueueUnderTest } from "./queue-stage.ts";
