// A batch worker in a process of its own that is killed, as by kill -9, at one point of its work.
import { openBatchVendors } from "@hallumaze/batch-providers";
import { openProviders } from "@hallumaze/providers";
import { openQueue } from "@hallumaze/queue";
import { openStore } from "@hallumaze/store";

import { startBatchWorker } from "../src/batch-worker.ts";
import { openLogger } from "../src/logger.ts";
import { shortBatchTimes } from "./batch-times.ts";
import { noLimits, shortTimes } from "./worker-replies.ts";

/** What the process is told, as JSON in its first argument. */
export interface BatchProcessPlan {
  readonly databaseUrl: string;
  /** Keys and servers of the vendors. */
  readonly variables: Readonly<Record<string, string>>;
  /** The call at which it dies, before it is made or after it came back. */
  readonly call: string;
  readonly when: "before" | "after";
  /** How far its clock is ahead, in ms; 0 unless told. */
  readonly aheadMs?: number;
}

const plan = JSON.parse(process.argv[2] ?? "") as BatchProcessPlan;
const die = async (): Promise<never> => {
  process.kill(process.pid, "SIGKILL");
  return new Promise<never>(() => undefined);
};

/** The same object, but that the chosen call is the last. */
function mortal<Port extends object>(port: Port): Port {
  return new Proxy(port, {
    get: (target, name): unknown => {
      const member: unknown = Reflect.get(target, name);
      if (name !== plan.call || typeof member !== "function") return member;
      return async (...given: unknown[]): Promise<unknown> => {
        if (plan.when === "before") return die();
        await Reflect.apply(member, target, given);
        return die();
      };
    },
  });
}

const { databaseUrl } = plan;
const store = await openStore({ databaseUrl, poolSize: 4, migrate: false });
startBatchWorker({
  store: mortal(store),
  queue: await openQueue({ databaseUrl }, { ledger: store.ledgerId, onError: () => undefined }),
  vendor: mortal(openBatchVendors(openProviders({ variables: plan.variables }))),
  limiter: noLimits,
  logger: openLogger("silent"),
  lanes: null,
  rehearsal: false,
  repairs: true,
  clock: () => Date.now() + (plan.aheadMs ?? 0),
  times: { ...shortTimes, leaseMs: 60_000 },
  batchTimes: shortBatchTimes,
});
