import { setTimeout as sleep } from "node:timers/promises";

import { Redis } from "ioredis";

import { openQueue } from "../src/index.ts";
import { testLedger } from "./queue-process.ts";

/** What a process with a clock of its own does; its first argument, as JSON. */
export interface ClockTask {
  readonly redisUrl: string;
  readonly lane: string;
  readonly task: "consume" | "enqueue" | "count-calls";
  /** Of the delivery that is enqueued, or the time over which the server's calls are counted. */
  readonly delayMs?: number;
  /** How long the first delivery is put off; null where it is done at once. */
  readonly againMs?: number | null;
}

const given = process.argv[2];
if (given !== undefined && process.argv[1] === import.meta.filename) await run(JSON.parse(given));

/** Prints a word and this process's time for each thing that happens. */
async function run({ redisUrl, lane, task, delayMs = 0, againMs = null }: ClockTask): Promise<void> {
  const tell = (what: string, number = Date.now()): void => void process.stdout.write(`${what} ${number}\n`);
  if (task === "count-calls") {
    const client = new Redis(redisUrl);
    const calls = async () => Number(/^total_commands_processed:(\d+)/m.exec(await client.info("stats"))?.[1]);
    const before = await calls();
    await sleep(delayMs);
    tell("calls", (await calls()) - before);
    client.disconnect();
    return;
  }
  const queue = await openQueue({ redisUrl }, { ledger: testLedger, onError: console.error });
  if (task === "enqueue") {
    await queue.enqueue(lane, [{ trialId: "t0", generation: 0, delayMs }]);
    tell("sent");
    await queue.close();
    return;
  }
  let deliveries = 0;
  await queue.consume(lane, 2, async ({ trialId }) => {
    deliveries += 1;
    tell(trialId);
    return deliveries === 1 && againMs !== null ? { kind: "again", afterMs: againMs } : { kind: "done" };
  });
  tell("ready");
}
