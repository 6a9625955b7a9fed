import type { Consumer, Delivery, DeliveryResult, LaneDepth, QueuePort } from "@hallumaze/engine";
import type { HalluMazeError } from "@hallumaze/foundation";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";

/**
 * A back end and its adapter, with short times: a lock of 2 s, a look for dead workers every 500 ms, 300 ms before a
 * thrown-at delivery comes again, 500 ms for aborted handlers, requests given up after 5 s.
 */
export interface QueueUnderTest {
  readonly open: (onError?: (error: HalluMazeError) => void) => Promise<QueuePort>;
  /** Loses everything that is queued, as a Redis without persistence does when it crashes. */
  readonly wipe: () => Promise<void>;
  /** Puts any payload into a lane, past the adapter. */
  readonly addForeign: (lane: string, jobId: string, data: unknown) => Promise<void>;
  /** Pauses a lane in the back end, past the adapter. */
  readonly pause: (lane: string) => Promise<void>;
  /** A process of its own that takes one delivery of the lane and never ends it. */
  readonly consumeInProcess: (lane: string) => Promise<QueueProcess>;
  /** A process of its own that enqueues the trials `t0` to `t<count - 1>` one chunk after another. */
  readonly enqueueInProcess: (lane: string, count: number) => Promise<QueueProcess>;
  readonly drop: () => Promise<void>;
}

/** A process that works on the queue. */
export interface QueueProcess {
  /** Resolves when it has taken its delivery, or enqueued a first chunk. */
  readonly underWay: Promise<void>;
  /** SIGKILL; resolves once it is gone. */
  readonly kill: () => Promise<void>;
}

/** The delivery is handled. */
export const done = { kind: "done" } as const;

/** Nothing waits, runs or rests. */
export const empty: LaneDepth = { waiting: 0, active: 0, delayed: 0 };

/** What a handler saw, and a way to wait for it. */
export function createRecorder() {
  const seen: { readonly id: string; readonly atMs: number }[] = [];
  return {
    seen,
    ids: () => seen.map((each) => each.id),
    note: ({ trialId, generation }: Delivery) => {
      seen.push({ id: `${trialId}/${generation}`, atMs: performance.now() });
    },
    reach: (count: number, timeout = 10_000) =>
      vi.waitFor(() => expect(seen.length).toBeGreaterThanOrEqual(count), { timeout, interval: 10 }),
  };
}

/** A door that handlers wait at. */
export function createGate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** A delivery to enqueue. */
export const trial = (trialId: string, delayMs = 0, generation = 0) => ({ trialId, generation, delayMs });
/** The deliveries `t0` to `t<count - 1>`. */
export const trials = (count: number) => Array.from({ length: count }, (_, index) => trial(`t${index}`));

/** One test's queue, lane and consumers. */
export interface QueueStage {
  readonly server: QueueUnderTest;
  readonly queue: QueuePort;
  /** A lane of this test alone. */
  readonly lane: string;
  /** All that the ports of this test have reported. */
  readonly errors: readonly HalluMazeError[];
  /** One more port, as another process would have it; closed after the test. */
  readonly openPort: () => Promise<QueuePort>;
  readonly consume: (concurrency: number, handle: Handle, port?: QueuePort) => Promise<Consumer>;
  readonly depthBecomes: (depth: LaneDepth, timeoutMs?: number) => Promise<void>;
}

type Handle = (delivery: Delivery, signal: AbortSignal) => Promise<DeliveryResult>;

/** States a guarantee and how it is tested. */
export type Guarantee = (title: string, test: (on: QueueStage) => Promise<void>) => void;

/** Opens the server for a suite and a fresh port and lane for each of its tests; call it inside `describe`. */
export function stageQueue(start: () => Promise<QueueUnderTest>): Guarantee {
  let server: QueueUnderTest | undefined;
  let laneCount = 0;
  const ports: QueuePort[] = [];
  beforeAll(async () => {
    server = await start();
  });
  afterEach(async () => {
    await Promise.all(ports.splice(0).map((port) => port.close()));
  });
  // Undefined where the start failed, which is what the report should say.
  afterAll(() => server?.drop());

  return (title, test) =>
    it(title, async () => {
      laneCount += 1;
      const lane = `sim.contract-${laneCount}`;
      const errors: HalluMazeError[] = [];
      if (server === undefined) throw new Error("the server under test did not start");
      const started = server;
      const openPort = async (): Promise<QueuePort> => {
        const port = await started.open((error) => errors.push(error));
        ports.push(port);
        return port;
      };
      const queue = await openPort();
      await test({
        server: started,
        queue,
        lane,
        errors,
        openPort,
        consume: (concurrency, handle, port = queue) => port.consume(lane, concurrency, handle),
        depthBecomes: (depth, timeout = 5_000) =>
          vi.waitFor(async () => expect(await queue.depth(lane)).toEqual(depth), { timeout, interval: 20 }),
      });
    });
}
