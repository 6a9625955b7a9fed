/** What a coalescer needs to know. */
export interface CoalesceOptions<Item, Result> {
  /** Handles a batch in one go; gives one result an item, in the items' order. */
  readonly runBatch: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Items of one key never share a batch: they run in the order of their calls. */
  readonly keyOf: (item: Item) => string;
  /** Most items of a batch. */
  readonly maxItems: number;
  /** Size of an item in any unit, and the most of it in a batch; one item larger than that goes alone. */
  readonly sizeOf: (item: Item) => number;
  readonly maxSize: number;
  /** Most batches under way at once. */
  readonly maxInFlight: number;
  /** True where a failed batch may hold one bad item, so that each is worth a try alone. */
  readonly isItemsFault: (error: unknown) => boolean;
}

/** Calls of one kind, gathered. */
export interface Coalescer<Item, Result> {
  readonly call: (item: Item) => Promise<Result>;
  /** Resolves when all calls made so far have settled. */
  readonly drain: () => Promise<void>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers the calls of one tick, and those that come while earlier batches are under way, into batches: many concurrent
 * single-row writes become one statement, and a lone call is not held back. A batch that fails by the fault of an item
 * is repeated item by item, so that no call fails because of its neighbour.
 */
export function coalesce<Item, Result>(options: CoalesceOptions<Item, Result>): Coalescer<Item, Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let inFlight = 0;
  let isScheduled = false;
  const keysInFlight = new Set<string>();
  const idle: (() => void)[] = [];

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      startBatches();
    });
  };

  const startBatches = (): void => {
    while (inFlight < options.maxInFlight) {
      const batch = takeBatch();
      if (batch.length === 0) return;
      inFlight += 1;
      void settle(batch);
    }
  };

  /** The oldest calls whose keys are free, up to the bounds; what is passed over keeps its place. */
  const takeBatch = (): Waiting<Item, Result>[] => {
    const batch: Waiting<Item, Result>[] = [];
    const passedOver = new Set<string>();
    const left: Waiting<Item, Result>[] = [];
    let size = 0;
    let isFull = false;
    for (const call of waiting) {
      const key = options.keyOf(call.item);
      const itemSize = options.sizeOf(call.item);
      isFull ||= batch.length >= options.maxItems || (batch.length > 0 && size + itemSize > options.maxSize);
      if (isFull || keysInFlight.has(key) || passedOver.has(key)) {
        passedOver.add(key);
        left.push(call);
        continue;
      }
      keysInFlight.add(key);
      size += itemSize;
      batch.push(call);
    }
    waiting = left;
    return batch;
  };

  const settle = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await options.runBatch(batch.map((call) => call.item));
      for (const [index, call] of batch.entries()) call.resolve(results[index] as Result);
    } catch (error) {
      if (batch.length > 1 && options.isItemsFault(error)) await settleOneByOne(batch);
      else for (const call of batch) call.reject(error);
    }
    for (const call of batch) keysInFlight.delete(options.keyOf(call.item));
    inFlight -= 1;
    if (waiting.length > 0) schedule();
    else if (inFlight === 0) for (const resolve of idle.splice(0)) resolve();
  };

  const settleOneByOne = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    for (const call of batch) {
      try {
        const [result] = await options.runBatch([call.item]);
        call.resolve(result as Result);
      } catch (error) {
        call.reject(error);
      }
    }
  };

  return {
    call: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        schedule();
      }),
    drain: () =>
      waiting.length === 0 && inFlight === 0 ? Promise.resolve() : new Promise((resolve) => void idle.push(resolve)),
  };
}
