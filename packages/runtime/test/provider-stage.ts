import type { LimiterPort } from "@hallumaze/engine";
import { openLimiter } from "@hallumaze/limiter";
import { type MockProviders, type MockProvidersOptions, startMockProviders } from "@hallumaze/mock-providers";
import { type Deadlines, openProviders, type Providers } from "@hallumaze/providers";
import { onTestFinished } from "vitest";

import type { SolveWorker, WorkerOptions } from "../src/worker.ts";
import { type AtEnd, openWorkerStage, type WorkerStage } from "./worker-stage.ts";

/** A worker's stage with the vendors' servers on loopback, the real SDKs before them and a real limiter. */
export interface ProviderStage extends WorkerStage {
  readonly mock: MockProviders;
  readonly providers: Providers;
  readonly limiter: LimiterPort;
  /** A worker on those providers and limits. */
  readonly workPaced: (given?: Partial<WorkerOptions>) => SolveWorker;
  /** Exchanges in the order in which they were recorded. */
  readonly exchanges: () => Promise<readonly RecordedExchange[]>;
}

/** What of an exchange these tests look at. */
export interface RecordedExchange {
  readonly lane: string;
  readonly trialId: string;
  readonly outcome: string | null;
  readonly costUsd: string | null;
  readonly late: boolean;
  readonly message: string | null;
}

/** Opens the stage; all of it is closed when the test ends, or by `atEnd`, in the reverse order. */
export async function openProviderStage(
  options: MockProvidersOptions = {},
  given: {
    readonly redisUrl?: string;
    readonly deadlines?: Partial<Deadlines>;
    /** What "per minute" means to the limiter; as long as the server's clock says. */
    readonly minuteMs?: number;
    readonly atEnd?: AtEnd;
  } = {},
): Promise<ProviderStage> {
  const atEnd = given.atEnd ?? onTestFinished;
  const mock = await startMockProviders(options);
  atEnd(() => mock.close());
  const providers = openProviders({
    variables: mock.environment(),
    ...(given.deadlines && { deadlines: given.deadlines }),
  });
  atEnd(() => providers.close());
  const limiters: LimiterPort[] = [];
  // Registered before the stage: closed after its workers have drained.
  atEnd(async () => {
    for (const limiter of limiters) await limiter.close();
  });
  const stage = await openWorkerStage(given.redisUrl, atEnd);
  const limiter = await openLimiter(
    given.redisUrl === undefined ? { databaseUrl: stage.databaseUrl } : { redisUrl: given.redisUrl },
    given.minuteMs === undefined ? {} : { settings: { minuteMs: given.minuteMs } },
  );
  limiters.push(limiter);
  return {
    ...stage,
    mock,
    providers,
    limiter,
    workPaced: (own = {}) => stage.work({ provider: providers, limiter, ...own }),
    exchanges: () =>
      stage.sql<RecordedExchange>(
        `SELECT t.lane, t.id::text AS "trialId", e.outcome, e.cost_usd::text AS "costUsd", e.late_duplicate AS late,
           e.error_message AS message FROM exchanges e JOIN trials t ON t.id = e.trial_id ORDER BY e.sequence`,
      ),
  };
}
