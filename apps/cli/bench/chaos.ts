// Chaos: workers killed, frozen, blocked and out of time, Redis and PostgreSQL stopped, emptied, stalled, out of reach and
// without disk, a slow and broken network, a provider that fails; then every promise is checked against what the provider's
// server counted. Prints JSON; exits 1 where a promise is broken, with the seed that broke it.
// npm run chaos [-- --trials 3000 --minutes 30 --seed 1 --workers 4 --gap-seconds 15 --outage-seconds 60]
import { parseArgs } from "node:util";

import { findTool } from "@hallumaze/testkit";

import { serverFaults, workerFaults } from "./chaos-faults.ts";
import { runChaos } from "./chaos-run.ts";

const { values } = parseArgs({
  options: {
    trials: { type: "string", default: "400" },
    minutes: { type: "string", default: "5" },
    seed: { type: "string", default: "1" },
    workers: { type: "string", default: "4" },
    "outage-seconds": { type: "string", default: "60" },
    "gap-seconds": { type: "string", default: "15" },
  },
});
const [trials, minutes, seed, workers, outageSeconds, gapSeconds] = [
  Number(values.trials),
  Number(values.minutes),
  Number(values.seed),
  Number(values.workers),
  Number(values["outage-seconds"]),
  Number(values["gap-seconds"]),
];
// Ended early, it still stops what it has started.
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
// Where it is missing, the place where it was looked for is said, and no clock is set.
const faketime = findTool("faketime");
const hasClock = faketime.kind === "installed";

const report = await runChaos({
  seed,
  trials,
  workers,
  concurrency: 6,
  faultsForMs: minutes * 60_000,
  calmForMs: 15 * 60_000,
  gapMs: { least: gapSeconds * 150, most: gapSeconds * 1000 },
  workerFaults: (Object.keys(workerFaults) as (keyof typeof workerFaults)[]).filter(
    (name) => hasClock || name !== "clock off",
  ),
  serverFaults: Object.keys(serverFaults) as (keyof typeof serverFaults)[],
  standstillMs: 60_000,
  clockMs: 180_000,
  clockBy: hasClock ? { libfaketime: faketime.path } : "preload",
  callTimeoutSeconds: 15,
  latency: { baseMs: 2500, perTokenMs: 1 },
  // A fifth more than the sweep needs, since faults take time.
  rpm: Math.ceil((trials / minutes) * 1.4),
  outageMs: outageSeconds * 1000,
  withDisk: true,
  stop: stop.signal,
  say: (line) => void process.stderr.write(`${new Date().toISOString()} ${line}\n`),
});
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
if (report.breaches.length > 0) {
  process.stderr.write(`seed ${seed}: ${report.breaches.length} promises broken\n  ${report.breaches.join("\n  ")}\n`);
  process.exitCode = 1;
}
