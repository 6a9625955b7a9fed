// Kills a random worker every few seconds while the server fails: 5 % answer 529, 2 % reset the connection, 1 % never
// answer, 2 % answer 429. Prints as JSON what the server saw and what the ledger keeps.
// npm run chaos -w apps/cli [-- TRIALS WORKERS]
import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

import { createRandom } from "@hallumaze/foundation";

import type { Program } from "../test/program-stage.ts";
import { askStatus, chaosSpec, type ChaosStage, openChaos, reckon } from "./chaos-stage.ts";

const cells = Number(process.argv[2] ?? 1000);
const workerCount = Number(process.argv[3] ?? 4);
const concurrency = 8;
const callTimeoutSeconds = 10;
const killEveryMs = { least: 2000, spread: 3000 } as const;

await using chaos = await openChaos(
  {
    seed: 529,
    latency: { baseMs: 500, perTokenMs: 0.5 },
    script: [
      { name: "529", probability: 0.05, fail: "overloaded" },
      { name: "reset before headers", probability: 0.01, delivery: { reset: "before_headers" } },
      { name: "reset in the body", probability: 0.01, delivery: { reset: "in_body" } },
      { name: "black hole", probability: 0.01, delivery: { blackHole: true } },
      { name: "429", probability: 0.02, fail: { kind: "rate_limited", retryAfterMs: 500 } },
    ],
  },
  callTimeoutSeconds,
);
const submitted = await chaos.stage.run(["submit", chaos.stage.spec("chaos", chaosSpec(cells))]);
if (submitted.code !== 0) throw new Error(submitted.err);
const startedMs = performance.now();
const kills = await killUntilDone(chaos);
const seconds = Math.round((performance.now() - startedMs) / 1000);
const reckoning = await reckon(chaos, "chaos");
const { money, lines } = await askStatus(chaos, "chaos");
const { byRule, byEnd, inFlightPeak } = chaos.mock.counts();
const report = {
  kills,
  seconds,
  loadAverage: loadavg(),
  ...reckoning,
  money,
  workerLostLine: lines.split("\n").find((line) => line.startsWith("worker_lost")) ?? null,
  server: { byRule, byEnd, inFlightPeak },
};
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);

/** Kills and replaces workers until every trial is finished; gives the number of kills. */
async function killUntilDone({ ledger, startWorker }: ChaosStage): Promise<number> {
  const random = createRandom("chaos");
  const all = new Set<Program>();
  // On a busy machine a worker would else die before it has begun.
  const working = new Set<Program>();
  const start = (): void => {
    const worker = startWorker(concurrency);
    all.add(worker);
    void worker.says("worker: role").then(
      () => working.add(worker),
      () => undefined,
    );
  };
  for (let number = 0; number < workerCount; number += 1) start();
  let killed = 0;
  for (;;) {
    await sleep(killEveryMs.least + random.below(killEveryMs.spread));
    if ((await ledger.count("state IN ('done', 'failed')")) >= cells) break;
    const victim = [...working][random.below(Math.max(1, working.size))];
    // Where starts take longer than the kills are apart, one is left to work.
    if (victim === undefined || working.size < 2) continue;
    working.delete(victim);
    all.delete(victim);
    victim.kill("SIGKILL");
    const { signal, err } = await victim.ended;
    if (signal !== "SIGKILL") throw new Error(`a worker had ended before its kill:\n${err}`);
    killed += 1;
    start();
  }
  for (const worker of all) worker.kill("SIGTERM");
  for (const { code, err } of await Promise.all([...all].map((worker) => worker.ended))) {
    // A worker that had not yet begun to listen for the signal is ended by it, without a code.
    if (code !== null && code !== 0) throw new Error(`a worker ended with ${code}:\n${err}`);
  }
  return killed;
}
