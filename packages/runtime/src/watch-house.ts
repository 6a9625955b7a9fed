import { limiterLaneOf } from "@hallumaze/judging";
import { type Metrics, openMetrics, type Tracing, tracingFromEnvironment } from "@hallumaze/telemetry";
import { type FiguresReader, openFiguresReader } from "@hallumaze/watching";

import type { Environment } from "./environment.ts";
import type { House } from "./house.ts";
import type { Logger } from "./logger.ts";
import { startNotifier } from "./notifier.ts";

/** What watches an open house. Closing tells the last news and sends the spans that wait. */
export interface Watch extends AsyncDisposable {
  readonly figures: FiguresReader;
  readonly metrics: Metrics;
  /** Null where the environment configures no exporter. */
  readonly tracing: Tracing | null;
}

/**
 * Opens figures, metrics and traces of a house; nothing is read before somebody asks. With `tellWith`, people are told of
 * what comes about, where the environment names somebody.
 */
export async function watchHouse(
  house: Pick<House, "store" | "queue" | "limiter">,
  environment: Environment,
  build: { readonly version: string; readonly commit: string | null },
  tellWith: { readonly logger: Logger; readonly variables: Readonly<Record<string, string | undefined>> } | null,
): Promise<Watch> {
  const { store, queue, limiter } = house;
  const monotonicMs = (): number => performance.now();
  const figures = openFiguresReader({ store, queue, limiter, limiterLaneOf, monotonicMs });
  const tracing = await tracingFromEnvironment(environment, build.version);
  const metrics = openMetrics({ figures, poolUse: store.poolUse, build, monotonicMs });
  const notifier =
    tellWith === null
      ? null
      : startNotifier({ store, figures, metrics, logger: tellWith.logger }, environment, tellWith.variables);
  return {
    figures,
    metrics,
    tracing,
    [Symbol.asyncDispose]: async () => {
      await notifier?.close();
      // An exporter's server that is away must not turn the end of the work into an error.
      await tracing?.close().catch(() => undefined);
    },
  };
}
