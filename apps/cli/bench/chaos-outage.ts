// One server away for a long time and nothing else: how soon does work go on after its return?
import { setTimeout as sleep } from "node:timers/promises";

import type { ChaosStage } from "./chaos-stage.ts";

/** What an outage cost. */
export interface OutageFigures {
  readonly server: "Redis" | "PostgreSQL";
  readonly awaySeconds: number;
  /** From the server's return to the first request at the provider, and to the first trial done after it; null: none within a minute. */
  readonly firstRequestSeconds: number | null;
  readonly firstDoneSeconds: number | null;
  /** Trials that failed between the outage's beginning and a minute after its end. */
  readonly failed: number;
  /** Requests that the provider got while the server was away, beyond those under way when it went. */
  readonly requestsMeanwhile: number;
}

/** Takes a server away in mid-work, brings it back, and watches what happens. */
export async function takeAway(
  chaos: ChaosStage,
  server: OutageFigures["server"],
  awayMs: number,
): Promise<OutageFigures> {
  const { ledger, mock, redis, postgres, postgresProxy } = chaos;
  const failedBefore = await ledger.count("state = 'failed'");
  const requestsBefore = mock.counts().requests;
  if (server === "Redis") {
    await redis.kill();
    await sleep(awayMs);
    await redis.restart();
  } else {
    await postgresProxy.refuse();
    await postgres.restart("immediate");
    await sleep(awayMs);
    await postgresProxy.accept();
  }
  const returnedMs = performance.now();
  const requestsAtReturn = mock.counts().requests;
  const doneAtReturn = await ledger.count("state = 'done'");
  const seconds = (): number => Math.round((performance.now() - returnedMs) / 100) / 10;
  let firstRequestSeconds: number | null = null;
  let firstDoneSeconds: number | null = null;
  while (performance.now() - returnedMs < 60_000 && (firstRequestSeconds === null || firstDoneSeconds === null)) {
    if (firstRequestSeconds === null && mock.counts().requests > requestsAtReturn) firstRequestSeconds = seconds();
    if (firstDoneSeconds === null && (await ledger.count("state = 'done'")) > doneAtReturn)
      firstDoneSeconds = seconds();
    await sleep(50);
  }
  return {
    server,
    awaySeconds: Math.round(awayMs / 1000),
    firstRequestSeconds,
    firstDoneSeconds,
    failed: (await ledger.count("state = 'failed'")) - failedBefore,
    requestsMeanwhile: requestsAtReturn - requestsBefore,
  };
}
