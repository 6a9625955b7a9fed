// The `worker` command with a call deadline of its own, in ms: a black hole must not hold a run for ten minutes.
// chaos-worker.ts CONCURRENCY CALL_TIMEOUT_MS
import { once } from "node:events";

import { openHouse, openLogger, parseEnvironment, startSolveWorker, workerTimes } from "@hallumaze/runtime";

const [concurrency, callTimeoutMs] = process.argv.slice(2).map(Number);
if (!concurrency || !callTimeoutMs) throw new Error("usage: chaos-worker.ts CONCURRENCY CALL_TIMEOUT_MS");

const logger = openLogger("error");
await using house = await openHouse(parseEnvironment(process.env), logger, process.env);
const { store, queue, provider, limiter } = house;
const worker = startSolveWorker({
  store,
  queue,
  provider,
  limiter,
  logger,
  concurrency,
  lanes: null,
  rehearsal: false,
  times: { ...workerTimes, callTimeoutMs },
});
process.stderr.write("worker: started\n");
await Promise.race([once(process, "SIGTERM"), worker.broken]);
await worker.drain(60_000);
