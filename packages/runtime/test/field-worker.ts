// A worker process on a stage's servers, to be killed or to share limits. Says "ready" when it works.
import { openLimiter } from "@hallumaze/limiter";
import { openProviders } from "@hallumaze/providers";
import { openQueue } from "@hallumaze/queue";
import { openStore } from "@hallumaze/store";

import { openLogger } from "../src/logger.ts";
import { startSolveWorker } from "../src/worker.ts";
import { shortTimes } from "./worker-replies.ts";

/** What the process is told, as JSON in its first argument. */
export interface FieldWorkerPlan {
  readonly databaseUrl: string;
  readonly redisUrl: string | null;
  /** Keys and servers of the vendors. */
  readonly variables: Readonly<Record<string, string>>;
  readonly minuteMs: number;
  readonly concurrency: number;
}

const plan = JSON.parse(process.argv[2] ?? "") as FieldWorkerPlan;
const { databaseUrl, redisUrl } = plan;
const store = await openStore({ databaseUrl, poolSize: 4 });
const target = redisUrl === null ? { databaseUrl } : { redisUrl };
startSolveWorker({
  store,
  queue: await openQueue(target, {
    ledger: store.ledgerId,
    onError: () => undefined,
    settings: { lockMs: 2000, stalledCheckMs: 500 },
  }),
  provider: openProviders({ variables: plan.variables }),
  logger: openLogger("silent"),
  limiter: await openLimiter(target, { settings: { minuteMs: plan.minuteMs } }),
  rehearsal: false,
  concurrency: plan.concurrency,
  lanes: null,
  times: shortTimes,
});
process.stdout.write("ready\n");
