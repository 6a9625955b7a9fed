// A worker process whose event loop stands still during its first call, longer than its lease. Says "asked" before.
import { openQueue } from "@hallumaze/queue";
import { openStore } from "@hallumaze/store";

import { openLogger } from "../src/logger.ts";
import { startSolveWorker } from "../src/worker.ts";
import { noLimits, reply, shortTimes } from "./worker-replies.ts";

const [databaseUrl = "", leaseMs = "", blockMs = ""] = process.argv.slice(2);
const store = await openStore({ databaseUrl, poolSize: 2 });
startSolveWorker({
  store,
  queue: await openQueue({ databaseUrl }, { ledger: store.ledgerId, onError: () => undefined }),
  provider: {
    complete: async () => {
      process.stdout.write("asked\n");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(blockMs));
      return reply("from the blocked worker");
    },
  },
  logger: openLogger("silent"),
  limiter: noLimits,
  rehearsal: false,
  concurrency: 1,
  lanes: null,
  times: { ...shortTimes, leaseMs: Number(leaseMs) },
});
