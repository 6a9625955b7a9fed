export { connectRedis, type RedisClient, type RedisTarget } from "./connect-redis.ts";
export { strictTls } from "./postgres-address.ts";
export { redactText, redactUrl } from "./redact.ts";
export { parseRedisUrl, type RedisAddress } from "./redis-address.ts";
export { explainTlsFailure } from "./tls-failure.ts";
