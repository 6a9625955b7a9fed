import { findRedis } from "@hallumaze/testkit";
import { describe, expect, it, onTestFinished } from "vitest";

import { askStatus, reckon } from "../bench/chaos-reckon.ts";
import { runChaos } from "../bench/chaos-run.ts";
import { chaosModel, chaosSpec, openChaos } from "../bench/chaos-stage.ts";

const cells = 100;
const concurrency = 8;

describe.runIf(findRedis().kind === "installed")("kill -9 of workers while the server fails", () => {
  it("every cell is answered once, and each request the server counted is an exchange or listed as worker_lost", async () => {
    const chaos = await openChaos(
      {
        // Slow enough that every kill meets calls under way.
        latency: { baseMs: 1000, perTokenMs: 0.2 },
        script: [
          { name: "529", nth: [9, 31, 53, 75, 97], fail: { kind: "overloaded", retryAfterMs: 100 } },
          { name: "429", nth: [14, 80], fail: { kind: "rate_limited", retryAfterMs: 100 } },
          { name: "reset", nth: [27, 63], delivery: { reset: "before_headers" } },
          { name: "cut off", nth: [41, 85], delivery: { reset: "in_body" } },
          { name: "black hole", nth: [5, 69], delivery: { blackHole: true } },
        ],
      },
      4,
    );
    onTestFinished(() => chaos[Symbol.asyncDispose]());
    const { stage, ledger, mock } = chaos;
    const startWorker = () => stage.start(["worker", "--role", "solve", "--concurrency", `${concurrency}`]);
    expect(await stage.run(["submit", stage.spec("chaos", chaosSpec(cells))])).toMatchObject({ code: 0 });

    const workers = [startWorker(), startWorker()];
    for (const done of [10, 40]) {
      await ledger.reach("state = 'done'", done);
      await mock.until(({ inFlight }) => inFlight >= concurrency - 1, 60_000);
      const oldest = workers.shift();
      oldest?.kill("SIGKILL");
      expect(await oldest?.ended).toMatchObject({ signal: "SIGKILL" });
      workers.push(startWorker());
    }
    await ledger.reach("state IN ('done', 'failed')", cells);
    for (const worker of workers) worker.kill("SIGTERM");
    await Promise.all(workers.map((worker) => worker.ended));

    const found = await reckon(chaos, "chaos");
    expect(found).toMatchObject({
      cells,
      states: { done: cells },
      accepted: cells,
      scored: cells,
      replies: cells,
      repeated: 0,
      lateDuplicates: 0,
      unexplained: 0,
      invented: 0,
    });
    expect(mock.counts().byRule).toMatchObject({ "529": 5, "429": 2, reset: 2, "cut off": 2, "black hole": 2 });
    // A bound and no equality: a kill between the intent's commit and the socket leaves a lost request that never left.
    expect(found.lost - found.lostUnsent).toBeGreaterThanOrEqual(2);
    expect(found.lost).toBeLessThanOrEqual(2 * concurrency);

    const { money, lines } = await askStatus(chaos, "chaos");
    expect(money).toMatchObject({ open: { count: 0 }, lost: { count: found.lost, unpriced: 0 } });
    expect(Number(money.spentUsd) + Number(money.lost.boundUsd)).toBeGreaterThanOrEqual(found.servedUsd);
    expect(lines).toContain(
      `worker_lost: ${found.lost} requests whose worker ended before their reply was kept: at most $${money.lost.boundUsd}`,
    );
    expect(lines).toContain(chaosModel);
    // Seven starts of the program: half a minute where nothing else runs, and several where the machine is shared.
  }, 300_000);
});

describe.runIf(findRedis().kind === "installed")("faults of workers, servers and network by a seeded schedule", () => {
  it("leave every cell one accepted result and one verdict, and no request of the server's that is not accounted for", async () => {
    const { breaches, faults, seed } = await runChaos({
      seed: 2,
      trials: 60,
      workers: 3,
      concurrency: 4,
      faultsForMs: 25_000,
      calmForMs: 150_000,
      gapMs: { least: 300, most: 1500 },
      workerFaults: ["kill -9", "SIGTERM, then SIGKILL", "short freeze", "clock off"],
      serverFaults: [
        "Redis killed",
        "Redis emptied",
        "PostgreSQL stopped fast",
        "PostgreSQL stopped at once",
        "PostgreSQL stands still",
        "Redis stands still",
        "connections cut",
        "slow network",
        "provider outage",
      ],
      standstillMs: 5000,
      clockMs: 20_000,
      clockBy: "preload",
      callTimeoutSeconds: 5,
      latency: { baseMs: 1000, perTokenMs: 0.5 },
      rpm: 600,
      outageMs: 0,
      withDisk: false,
      say: () => undefined,
    });
    expect(breaches, `seed ${seed}`).toEqual([]);
    expect(Object.keys(faults).length).toBeGreaterThan(4);
    // A minute where nothing else runs.
  }, 400_000);
});
