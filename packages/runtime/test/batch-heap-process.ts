// A batch worker in a process of its own that says, after each batch, how much it holds once garbage is collected.
import { openBatchVendors } from "@hallumaze/batch-providers";
import { openProviders } from "@hallumaze/providers";
import { openQueue } from "@hallumaze/queue";
import { openStore } from "@hallumaze/store";

import { startBatchWorker } from "../src/batch-worker.ts";
import { openLogger } from "../src/logger.ts";
import { shortBatchTimes } from "./batch-times.ts";
import { noLimits, shortTimes } from "./worker-replies.ts";

/** What the process is told, as JSON in its first argument. */
export interface BatchHeapPlan {
  readonly databaseUrl: string;
  /** Keys and servers of the vendors. */
  readonly variables: Readonly<Record<string, string>>;
  /** Most rows of a batch. */
  readonly rows: number;
}

const { databaseUrl, variables, rows } = JSON.parse(process.argv[2] ?? "") as BatchHeapPlan;
const store = await openStore({ databaseUrl, poolSize: 4, migrate: false });
const vendor = openBatchVendors(openProviders({ variables }));
startBatchWorker({
  store: {
    ...store,
    finishBatch: async (...given) => {
      await store.finishBatch(...given);
      globalThis.gc?.();
      process.stdout.write(`${process.memoryUsage().heapUsed}\n`);
    },
  },
  queue: await openQueue({ databaseUrl }, { ledger: store.ledgerId, onError: () => undefined }),
  vendor: { ...vendor, limitsOf: (provider) => ({ ...vendor.limitsOf(provider), rows }) },
  limiter: noLimits,
  logger: openLogger("silent"),
  lanes: null,
  rehearsal: false,
  repairs: false,
  times: { ...shortTimes, leaseMs: 60_000 },
  batchTimes: { ...shortBatchTimes, quietMs: 500, longestMs: 60_000 },
});
