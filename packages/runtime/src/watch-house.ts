import { limiterLaneOf } from "@hallumaze/judging";
import { type Metrics, openMetrics, type Tracing, tracingFromEnvironment } from "@hallumaze/telemetry";
import { type FiguresReader, openFiguresReader } from "@hallumaze/watching";

import type { Environment } from "./environment.ts";
import type { House } from "./house.ts";

/** What watches an open house. Closing sends the spans that wait. */
export interface Watch extends AsyncDisposable {
  readonly figures: FiguresReader;
  readonly metrics: Metrics;
  /** Null where the environment configures no exporter. */
  readonly tracing: Tracing | null;
}

/** Opens figures, metrics and traces of a house; nothing is read before somebody asks. */
export function watchHouse(
  house: Pick<House, "store" | "queue" | "limiter">,
  environment: Environment,
  build: { readonly version: string; readonly commit: string | null },
): Watch {
  const { store, queue, limiter } = house;
  const monotonicMs = (): number => performance.now();
  const figures = openFiguresReader({ store, queue, limiter, limiterLaneOf, monotonicMs });
  const tracing = tracingFromEnvironment(environment, build.version);
  return {
    figures,
    metrics: openMetrics({ figures, poolUse: store.poolUse, build, monotonicMs }),
    tracing,
    // An exporter's server that is away must not turn the end of the work into an error.
    [Symbol.asyncDispose]: async () => tracing?.close().catch(() => undefined),
  };
}
