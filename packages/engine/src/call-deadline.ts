/** A signal that fires at a deadline or with an outer signal, and that leaves nothing behind when it is disposed. */
export interface CallDeadline extends Disposable {
  readonly signal: AbortSignal;
  readonly timedOut: () => boolean;
  /** Rejects when the signal fires; pending otherwise. */
  readonly fired: Promise<never>;
}

/**
 * Opens a deadline of one call. Not `AbortSignal.timeout` with `AbortSignal.any`: those live until the timeout, however
 * soon the call ends, and hold what was raced with them: a worker of short calls would keep every reply of ten minutes.
 */
export function openCallDeadline(outer: AbortSignal, timeoutMs: number): CallDeadline {
  const controller = new AbortController();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    controller.abort(new Error(`no complete reply within ${timeoutMs} ms`));
  }, timeoutMs);
  const onOuter = (): void => controller.abort(outer.reason);
  outer.addEventListener("abort", onOuter, { once: true });
  if (outer.aborted) onOuter();
  const fired = new Promise<never>((_, reject) => {
    const { signal } = controller;
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
  fired.catch(() => undefined);
  return {
    signal: controller.signal,
    timedOut: () => isLate,
    fired,
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      outer.removeEventListener("abort", onOuter);
    },
  };
}
