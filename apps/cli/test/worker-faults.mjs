// Faults inside a process of the program, for tests; loaded with `node --import`. On SIGUSR2 it does what the file named
// by WORKER_FAULT says: its event loop stands still for `blockMs`, or its wall clock is off by `clockMs` from then on. With
// WORKER_CLOCK_MS the clock is off from its start.
import { readFileSync } from "node:fs";

const RealDate = Date;
let clockMs = Number(process.env.WORKER_CLOCK_MS ?? 0);

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length === 0 ? [RealDate.now() + clockMs] : given, newTarget),
  get: (target, name) => (name === "now" ? () => RealDate.now() + clockMs : Reflect.get(target, name)),
});

process.on("SIGUSR2", () => {
  const fault = JSON.parse(readFileSync(process.env.WORKER_FAULT, "utf8"));
  clockMs = fault.clockMs ?? clockMs;
  if (fault.blockMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fault.blockMs);
});
