// A judge worker in a process of its own whose first call never ends, to be killed in it. Says "asked" once it is sent.
import { openQueue } from "@hallumaze/queue";
import { openStore } from "@hallumaze/store";

import { startJudgeWorker } from "../src/judge-worker.ts";
import { openLogger } from "../src/logger.ts";
import { noLimits, shortTimes } from "./worker-replies.ts";

const [databaseUrl = ""] = process.argv.slice(2);
const store = await openStore({ databaseUrl, poolSize: 2, migrate: false });
startJudgeWorker({
  store,
  queue: await openQueue({ databaseUrl }, { ledger: store.ledgerId, onError: () => undefined }),
  provider: {
    complete: () => {
      process.stdout.write("asked\n");
      return new Promise<never>(() => undefined);
    },
  },
  limiter: noLimits,
  logger: openLogger("silent"),
  concurrency: 1,
  rehearsal: false,
  times: { ...shortTimes, leaseMs: 60_000 },
});
