import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";

import { HalluMazeError } from "@hallumaze/foundation";
import { Cluster, Redis } from "ioredis";

import { parseRedisUrl, type RedisAddress } from "./redis-address.ts";

/** Which Redis, and whom to trust there. */
export interface RedisTarget {
  readonly redisUrl: string;
  /** PEM file of the authority that signed the server's certificate; absent for those that Node knows. */
  readonly redisCaFile?: string | undefined;
}

/** What the users of a connection choose. */
export interface RedisTimes {
  readonly connectTimeout: number;
  /** Longest silence while an answer is awaited, in ms: longer than any blocking read. */
  readonly socketTimeout: number;
  /** How often a command outlives a lost connection; null for ever. */
  readonly maxRetriesPerRequest: number | null;
}

/** A connection to one server, found directly or through sentinels, or to a cluster. */
export type RedisClient = Redis | Cluster;

/** Longest pause before the next try to connect. The library's ceiling would be most of what a recovery may take. */
const retryMaxMs = 2000;

/**
 * Opens a client, which connects by itself and again after each loss. After a failover the name or the sentinels are asked
 * anew. Throws `redis-address` on an URL or a CA file that cannot be used.
 */
export function connectRedis(target: RedisTarget, times: RedisTimes): RedisClient {
  const parsed = parseRedisUrl(target.redisUrl);
  if (parsed.kind === "unusable") throw new HalluMazeError("redis-address", `REDIS_URL ${parsed.reason}.`);
  const { address } = parsed;
  const tls = address.tls ? trusted(target.redisCaFile) : null;
  const common = {
    ...times,
    keepAlive: 10_000,
    retryStrategy: retryDelayMs,
    // After a failover the old master is a replica: the name must be resolved again.
    reconnectOnError: (error: Error) => error.message.includes("READONLY"),
    ...(address.username === null ? {} : { username: address.username }),
    ...(address.password === null ? {} : { password: address.password }),
    ...(address.family === null ? {} : { family: address.family }),
    ...(tls === null ? {} : { tls }),
  };
  const [first] = address.hosts;
  if (address.kind === "cluster") {
    return new Cluster([...address.hosts], {
      redisOptions: common,
      clusterRetryStrategy: retryDelayMs,
      // A managed cluster's certificate is for names; ioredis would look them up and connect to the numbers.
      ...(tls === null ? {} : { dnsLookup: (host, found) => found(null, host) }),
    });
  }
  if (address.kind === "sentinel") return new Redis({ ...common, ...sentinelOptions(address, tls) });
  return new Redis({ ...common, host: first?.host ?? "localhost", port: first?.port ?? 6379, db: address.database });
}

function sentinelOptions(address: RedisAddress, tls: ConnectionOptions | null) {
  return {
    sentinels: [...address.hosts],
    name: address.masterName ?? "",
    db: address.database,
    sentinelRetryStrategy: retryDelayMs,
    ...(address.sentinelUsername === null ? {} : { sentinelUsername: address.sentinelUsername }),
    ...(address.sentinelPassword === null ? {} : { sentinelPassword: address.sentinelPassword }),
    ...(tls === null ? {} : { enableTLSForSentinelMode: true, sentinelTLS: tls }),
  };
}

function retryDelayMs(times: number): number {
  return Math.min(50 * 2 ** Math.min(times, 10), retryMaxMs) + Math.random() * 200;
}

function trusted(caFile: string | undefined): ConnectionOptions {
  if (caFile === undefined) return {};
  try {
    return { ca: readFileSync(caFile, "utf8") };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    throw new HalluMazeError("redis-address", `REDIS_CA_FILE names a file that cannot be read (${code}).`);
  }
}
