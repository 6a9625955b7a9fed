import { createHash } from "node:crypto";

import { connectRedis, type RedisTarget } from "@hallumaze/servers";

import { LimiterError, toLimiterError, withinDeadline } from "./errors.ts";
import type { LaneServer } from "./lane-server.ts";
import { luaReserve } from "./lua-reserve.ts";
import {
  luaCancel,
  luaConfigure,
  luaCool,
  luaLearn,
  luaPark,
  luaRenew,
  luaResume,
  luaSettle,
  luaUse,
} from "./lua-scripts.ts";
import type { LimiterSettings } from "./settings.ts";

/**
 * Opens lanes on a Redis from 6.2: one script an operation, all keys of a lane in one hash slot.
 *
 * Rejects with `limiter-unreachable` or `limiter-refused` within the request timeout.
 */
export async function openRedisServer(
  target: RedisTarget,
  settings: LimiterSettings,
  onError: (error: unknown) => void,
): Promise<LaneServer> {
  const url = target.redisUrl;
  const client = open(target, settings);
  let lastError: unknown;
  client.on("error", (error: unknown) => {
    lastError = error;
    onError(toLimiterError(error, url));
  });
  try {
    await withinDeadline(client.ping(), settings.requestTimeoutMs, url);
  } catch (error) {
    client.disconnect();
    // "No answer within 10 s" hides the cause where a refused connection was retried meanwhile.
    throw lastError === undefined ? error : toLimiterError(lastError, url);
  }

  const run = (script: Script, lane: string, ...values: readonly (string | number | null)[]): Promise<unknown> => {
    const rest = [...laneKeys(lane), settings.minuteMs, ...values.map((value) => value ?? "")];
    const answer = client.evalsha(script.sha, laneKeyNames.length, ...rest).catch((error: unknown) => {
      if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
      return client.eval(script.lua, laneKeyNames.length, ...rest);
    });
    return withinDeadline(answer, settings.requestTimeoutMs, url);
  };

  return {
    reserve: async (call) => {
      const answer = await run(
        scripts.reserve,
        call.lane,
        call.id,
        call.inputTokens,
        call.outputTokens,
        call.tenant,
        call.weight,
        settings.leaseMs,
        settings.reservationMs,
        ...call.configured,
      );
      const [kind, afterMs, ...numbers] = Array.isArray(answer) ? answer.map(String) : [];
      const [dimension, amount, limit] = numbers.map((text) => (text === "" ? null : Number(text)));
      return {
        kind: `${kind}`,
        afterMs: Number(afterMs),
        dimension: dimension ?? null,
        amount: amount ?? null,
        limit: limit ?? null,
      };
    },
    configure: async (lane, limits) => void (await run(scripts.configure, lane, ...limits)),
    settle: async (lane, id, input, output) => void (await run(scripts.settle, lane, id, input, output)),
    cancel: async (lane, id) => void (await run(scripts.cancel, lane, id)),
    renew: async (lane, ids) => {
      await run(scripts.renew, lane, settings.leaseMs, settings.reservationMs, ...ids);
    },
    cool: async (lane, forMs, shrink) => void (await run(scripts.cool, lane, forMs, shrink ? 1 : 0)),
    learn: async (lane, readings) => void (await run(scripts.learn, lane, ...readings.flat())),
    park: async (lane, reason, afterMs) => (await run(scripts.park, lane, reason, afterMs)) === 1,
    resume: async (lane) => (await run(scripts.resume, lane)) === 1,
    use: async (lane) => JSON.parse(String(await run(scripts.use, lane))),
    close: async () => {
      await client.quit().catch(() => client.disconnect());
    },
  };
}

function open(target: RedisTarget, { requestTimeoutMs }: LimiterSettings): ReturnType<typeof connectRedis> {
  try {
    return connectRedis(target, {
      connectTimeout: requestTimeoutMs,
      socketTimeout: requestTimeoutMs,
      maxRetriesPerRequest: 8,
    });
  } catch (error) {
    throw new LimiterError("limiter-config", error instanceof Error ? error.message : "REDIS_URL cannot be used.");
  }
}

const laneKeyNames = ["state", "turns", "due", "tickets", "tenants", "reservations", "expiry", "leases"] as const;

/** Keys of a lane; the braces put them into one slot of a cluster, so the lane's own braces are escaped. */
function laneKeys(lane: string): readonly string[] {
  return laneKeyNames.map((name) => `hallumaze:limit:{${encodeURIComponent(lane)}}:${name}`);
}

interface Script {
  readonly lua: string;
  readonly sha: string;
}

function script(lua: string): Script {
  return { lua, sha: createHash("sha1").update(lua).digest("hex") };
}

const scripts = {
  reserve: script(luaReserve),
  configure: script(luaConfigure),
  settle: script(luaSettle),
  cancel: script(luaCancel),
  renew: script(luaRenew),
  cool: script(luaCool),
  learn: script(luaLearn),
  park: script(luaPark),
  resume: script(luaResume),
  use: script(luaUse),
};
