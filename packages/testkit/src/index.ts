export { createPgBouncer, type DisposablePgBouncer } from "./disposable-pgbouncer.ts";
export { createDatabase, type DisposableDatabase } from "./disposable-postgres.ts";
export { createRedis, type DisposableRedis, findFreePort, findRedis, type RedisForTests } from "./disposable-redis.ts";
export { createFaultProxy, type FaultProxy } from "./fault-proxy.ts";
export { createCertificates, type TestCertificates } from "./test-certificates.ts";
export { findTool, runTool, skewedClock, type ToolForTests } from "./test-tools.ts";
export { createPostgresServer, type PostgresServer, type PostgresStop } from "./postgres-server.ts";
export { describeQueueContract } from "./queue-contract.ts";
export type { QueueProcess, QueueUnderTest } from "./queue-stage.ts";
