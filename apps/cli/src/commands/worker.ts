import { type AddCommand, exitCodes, integerBetween, list, UsageError } from "@hallumaze/console";
import {
  drainDeadlineMs,
  guardSchema,
  houseChecks,
  openHouse,
  type SchemaGuard,
  type SolveWorker,
  startBatchWorker,
  startJudgeWorker,
  startSolveWorker,
  watchHouse,
} from "@hallumaze/runtime";

import { readBuild } from "../env.ts";
import { chooseHealthPort, openHealthPort } from "../health-port.ts";

interface WorkerOptions {
  readonly role: readonly string[];
  readonly lanes?: readonly string[];
  readonly concurrency: number;
  readonly drainSeconds?: number;
  readonly healthPort?: number;
  readonly healthHost: string;
}

/** `worker`: works until it is told to stop, then drains. */
export const addWorkerCommand: AddCommand = (program, console, register) => {
  const command = program
    .command("worker")
    .description("take work from the queue until SIGTERM or Ctrl-C, then drain")
    .requiredOption("--role <roles>", "what to work on: solve, judge, batch", list)
    .option("--lanes <lanes>", "only these lanes, for example sim.oracle", list)
    .option("--concurrency <n>", "trials at once in each lane", integerBetween(1, 1000), 16)
    .option(
      "--drain-seconds <n>",
      "how long requests under way may take after the signal (default: the longest request and 15 s)",
      integerBetween(0, 3600),
    )
    .option(
      "--health-port <n>",
      "serve /healthz, /readyz and /metrics on this port; 0 takes a free one",
      integerBetween(0, 65_535),
    )
    .option(
      "--health-host <address>",
      "address of that port; elsewhere than loopback it asks for HALLUMAZE_API_TOKEN",
      "127.0.0.1",
    )
    .addHelpText("after", "\nExample:\n  $ hallumaze worker --role solve,judge,batch --concurrency 32\n");
  register(command, async (options: WorkerOptions) => {
    checkRoles(options.role);
    const healthPort = chooseHealthPort(console, options);
    const drainMs =
      options.drainSeconds === undefined ? drainDeadlineMs(console.environment()) : options.drainSeconds * 1000;
    await using house = await openHouse(console.environment(), console.logger(), console.variables);
    await using watch = await watchHouse(house, console.environment(), await readBuild(), {
      logger: console.logger(),
      variables: console.variables,
    });
    const shared = {
      store: house.store,
      queue: house.queue,
      limiter: house.limiter,
      rehearsal: false,
      logger: console.logger(),
      concurrency: options.concurrency,
      metrics: watch.metrics,
      tracing: watch.tracing,
    };
    let workers: readonly SolveWorker[] = [];
    let guard: SchemaGuard | null = null;
    const whyNotReady = (at: number) => (): string | null => {
      const worker = workers[at];
      return worker === undefined ? "it starts" : worker.whyNotReady();
    };
    const checks = Object.fromEntries(options.role.map((role, at) => [role, whyNotReady(at)]));
    // Before anything works: where the port is taken, the process ends, and nothing is left at work behind it.
    await using _health = await openHealthPort(console, healthPort, {
      checks: { ...houseChecks(house), schema: () => guard?.reason() ?? null, ...checks },
      metrics: watch.metrics,
    });
    const lanes = options.lanes ?? null;
    workers = options.role.map((role) => {
      if (role === "judge") return startJudgeWorker({ ...shared, provider: house.judgeProvider });
      if (role === "batch")
        return startBatchWorker({ ...shared, vendor: house.batches, lanes, repairs: !options.role.includes("solve") });
      return startSolveWorker({ ...shared, provider: house.provider, lanes });
    });
    const ended = new AbortController();
    guard = guardSchema(house, ended.signal);
    console.err(
      `worker: role ${options.role.join(", ")}, ${options.concurrency} trials a lane, ${house.queueName}, ${house.databaseName}`,
    );
    try {
      await Promise.race([interrupted(console.interrupt), guard.refused, ...workers.map(({ broken }) => broken)]);
      const inFlight = workers.reduce((sum, worker) => sum + worker.inFlight(), 0);
      console.err(`worker: draining ${inFlight} trials (at most ${drainMs / 1000} s; a second signal stops at once)`);
    } finally {
      ended.abort();
      // A worker that cannot reach its ledger has nowhere to put a reply.
      const isOrderly = console.interrupt.aborted || guard.reason() !== null;
      await Promise.all(workers.map((worker) => worker.drain(isOrderly ? drainMs : Math.min(drainMs, brokenDrainMs))));
    }
    console.err("worker: drained");
    return exitCodes.ok;
  });
};

const brokenDrainMs = 60_000;

const knownRoles: ReadonlySet<string> = new Set(["solve", "judge", "batch"]);

function checkRoles(roles: readonly string[]): void {
  for (const role of roles) {
    if (!knownRoles.has(role)) throw new UsageError(`unknown role "${role}". Roles: ${[...knownRoles].join(", ")}.`);
  }
}

function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
