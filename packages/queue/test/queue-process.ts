import { openQueue, type QueueTarget } from "../src/index.ts";

/** What a process of its own is to do; its first argument, as JSON. */
export interface ProcessRequest {
  readonly task: "consume" | "enqueue";
  readonly target: QueueTarget;
  readonly lane: string;
  /** Trials to enqueue. */
  readonly count: number;
  readonly settings: Parameters<typeof openQueue>[1]["settings"];
}

/** The ledger that the tests' deliveries belong to. */
export const testLedger = "test";

/** Printed once the process is under way. */
export const underWayLine = "under way";

const requestJson = process.argv[2];
if (requestJson !== undefined && process.argv[1] === import.meta.filename) await run(JSON.parse(requestJson));

async function run({ task, target, lane, count, settings }: ProcessRequest): Promise<void> {
  const queue = await openQueue(target, {
    ledger: testLedger,
    onError: console.error,
    ...(settings === undefined ? {} : { settings }),
  });
  if (task === "consume") {
    await queue.consume(lane, 1, () => {
      console.log(underWayLine);
      return new Promise(() => undefined);
    });
    return;
  }
  const trials = Array.from({ length: count }, (_, index) => ({ trialId: `t${index}`, generation: 0, delayMs: 0 }));
  // The first chunk apart, so that the kill falls into the second call's many.
  await queue.enqueue(lane, trials.slice(0, 1_000));
  console.log(underWayLine);
  await queue.enqueue(lane, trials.slice(1_000));
  // Stays until it is killed, in time or not.
  setInterval(() => undefined, 60_000);
}
