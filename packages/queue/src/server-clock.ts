import type { RedisClient } from "@hallumaze/servers";
import { type BackendFactory, createRedisBackend, type RedisQueueBackend } from "bullmq";

/**
 * BullMQ's delays on the server's clock instead of each client's.
 *
 * BullMQ 6.7.0 sends its own `Date.now()` with every script that writes or compares a due time. With hosts minutes apart a
 * delay of a second ended minutes late on one host and at once on another. Its scripts get the server's time here, and
 * what they tell of the next due time is put back on the client's clock, by which the worker sleeps.
 */
const withTimestampSecond = /^(?:moveToActive|moveToDelayed|moveToFinished|retryJob):/;
const withPackedTimestamp = /^(?:addStandardJob|addDelayedJob|addPrioritizedJob):/;
const unpacks = "local args = cmsgpack.unpack(ARGV[1])";

/** Has the scripts that BullMQ will define on this client run by the server's clock; gives the client back. */
export function keepServerTime<Client extends RedisClient>(client: Client): Client {
  const define: Client["defineCommand"] = client.defineCommand.bind(client);
  client.defineCommand = (name, definition) => define(name, { ...definition, lua: onServerTime(name, definition.lua) });
  return client;
}

/** The script of that name with the server's time in place of the client's; unchanged where it takes none. */
export function onServerTime(name: string, lua: string): string {
  if (withTimestampSecond.test(name)) {
    return `${readTime}
local clientMs = tonumber(ARGV[2])
ARGV[2] = string.format('%.0f', serverMs)
local function run()
${lua}
end
local told = run()
if type(told) == 'table' and type(told[4]) == 'number' and told[4] > 0 then told[4] = told[4] + clientMs - serverMs end
return told`;
  }
  if (!withPackedTimestamp.test(name)) return lua;
  if (!lua.includes(unpacks)) throw new Error(`The script ${name} takes its time in a way that is not known here.`);
  return `${readTime}\n${lua.replace(unpacks, () => `${unpacks}\nargs[4] = serverMs`)}`;
}

const readTime = `local clock = redis.call('TIME')
local serverMs = clock[1] * 1000 + math.floor(clock[2] / 1000)`;

/** BullMQ's back end whose workers wake for a due time of the server's. */
export const createServerTimeBackend: BackendFactory<RedisQueueBackend> = (name, options, parts) => {
  const backend = createRedisBackend(name, options, parts);
  const waitForJob = backend.waitForJob.bind(backend);
  backend.waitForJob = async (timeoutSeconds) => {
    const woken = await waitForJob(timeoutSeconds);
    if (!woken || !(woken.score > 0)) return woken;
    const client = (await backend.client) as unknown as Pick<RedisClient, "time">;
    return { ...woken, score: woken.score - (await serverTimeMs(client)) + Date.now() };
  };
  return backend;
};

/** Milliseconds since 1970 by the server's clock. */
export async function serverTimeMs(client: Pick<RedisClient, "time">): Promise<number> {
  const [seconds, micros] = await client.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}
