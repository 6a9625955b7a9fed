import type { CallFacts } from "@hallumaze/engine";
import type { FiguresReader, PoolUse } from "@hallumaze/watching";
import { collectDefaultMetrics, Counter, Gauge, Histogram, type MetricConfiguration, Registry } from "prom-client";

import { declareLedgerMetrics } from "./ledger-metrics.ts";

/** Whether a worker asks models about mazes or judges about answers. */
export type WorkKind = "trial" | "judge";

/** Counts what one process does, and shows it with the ledger's figures in Prometheus' text format. */
export interface Metrics {
  readonly contentType: string;
  /** The exposition; never rejects because the ledger is away: its figures then stay, and their age tells. */
  readonly expose: () => Promise<string>;
  /** A call came back, answered or not. */
  readonly called: (kind: WorkKind, model: string, call: CallFacts) => void;
  /** A try ended: `done`, `retry`, `failed`, `blocked`. */
  readonly ended: (kind: WorkKind, model: string, end: string, outcome: string) => void;
  /** A reply came whose claim was lost. */
  readonly late: (kind: WorkKind) => void;
  readonly begun: (kind: WorkKind, id: string) => void;
  readonly released: (kind: WorkKind, id: string) => void;
  /** A notification was sent or given up. */
  readonly notified: (event: string, channel: string, isSent: boolean) => void;
}

/** What the metrics show beside their own counts. */
export interface MetricsSources {
  readonly figures: FiguresReader;
  readonly poolUse: () => PoolUse;
  readonly build: { readonly version: string; readonly commit: string | null };
  /** Milliseconds on a clock that only runs forward. */
  readonly monotonicMs: () => number;
}

/** Seconds of calls: from a baseline's microseconds to a long thought. */
const callBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640];

/** Opens the metrics of this process. Names and units: https://prometheus.io/docs/practices/naming/ (read 2026-11-30). */
export function openMetrics(sources: MetricsSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Gauges whose names end as a counter's: Prometheus' own checker refuses them, and their parts are shown by type.
  for (const sum of ["handles", "requests", "resources"]) registry.removeSingleMetric(`nodejs_active_${sum}_total`);
  const of = namesIn(registry);
  const calls = new Counter(
    of("calls_total", "Requests of this process that came back.", ["kind", "model", "outcome"]),
  );
  const tokens = new Counter(
    of("tokens_total", "Tokens as the providers counted them; cached is part of input, reasoning of output.", [
      "kind",
      "model",
      "type",
    ]),
  );
  const cost = new Counter(of("cost_usd_total", "Known cost of this process's requests.", ["kind", "model"]));
  const unpriced = new Counter(
    of("calls_cost_unknown_total", "Requests that may be on the bill and whose cost is not known.", ["kind", "model"]),
  );
  const duration = new Histogram({
    ...of("call_duration_seconds", "From sending a request to its last byte.", ["kind", "model"]),
    buckets: callBuckets,
  });
  const ends = new Counter(of("tries_total", "Tries of this process that ended.", ["kind", "model", "end", "outcome"]));
  const late = new Counter(of("late_replies_total", "Replies that came after their claim was lost.", ["kind"]));
  const notifications = new Counter(
    of("notifications_total", "Notifications of this process.", ["event", "channel", "result"]),
  );
  const underWay = { trial: new Map<string, number>(), judge: new Map<string, number>() };
  const showProcess = declareProcess(of, sources, underWay);
  const showLedger = declareLedgerMetrics(registry);

  return {
    contentType: registry.contentType,
    expose: async () => {
      showProcess();
      showLedger(await sources.figures.read());
      return registry.metrics();
    },
    called: (kind, model, call) => {
      calls.inc({ kind, model, outcome: call.outcome ?? "reply" });
      duration.observe({ kind, model }, call.httpMs / 1000);
      const { inputTokens, outputTokens, cachedTokens, reasoningTokens } = call.usage;
      const counted = { input: inputTokens, output: outputTokens, cached: cachedTokens, reasoning: reasoningTokens };
      for (const [type, count] of Object.entries(counted)) {
        if (count !== null && count > 0) tokens.inc({ kind, model, type }, count);
      }
      if (call.costUsd !== null) cost.inc({ kind, model }, Number(call.costUsd));
      if (call.isCostUnknown) unpriced.inc({ kind, model });
    },
    ended: (kind, model, end, outcome) => ends.inc({ kind, model, end, outcome }),
    late: (kind) => late.inc({ kind }),
    begun: (kind, id) => underWay[kind].set(id, sources.monotonicMs()),
    released: (kind, id) => underWay[kind].delete(id),
    notified: (event, channel, isSent) => notifications.inc({ event, channel, result: isSent ? "sent" : "failed" }),
  };
}

type Names = ReturnType<typeof namesIn>;

/** What every metric of ours has: the prefix, its help, its labels, its registry. */
function namesIn(registry: Registry) {
  return <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
    ({
      name: `hallumaze_${name}`,
      help,
      labelNames: [...labelNames],
      registers: [registry],
    }) satisfies MetricConfiguration<Label>;
}

/** Declares what is looked at when somebody asks; gives what looks. */
function declareProcess(
  of: Names,
  sources: MetricsSources,
  underWay: Readonly<Record<WorkKind, ReadonlyMap<string, number>>>,
): () => void {
  const count = new Gauge(of("in_flight", "Trials and judgements under way in this process.", ["kind"]));
  const oldest = new Gauge(
    of("in_flight_oldest_seconds", "Age of the oldest of them; 0 where there is none.", ["kind"]),
  );
  const pool = new Gauge(of("database_pool_connections", "Connections of this process to the database.", ["state"]));
  const waiting = new Gauge(of("database_pool_waiting", "Calls that wait for a connection to the database."));
  const { version, commit } = sources.build;
  const build = { version, commit: commit ?? "", node: process.version };
  new Gauge(of("build_info", "The running program; always 1.", ["version", "commit", "node"])).set(build, 1);
  return () => {
    const nowMs = sources.monotonicMs();
    for (const kind of ["trial", "judge"] as const) {
      count.set({ kind }, underWay[kind].size);
      oldest.set({ kind }, Math.max(0, nowMs - Math.min(nowMs, ...underWay[kind].values())) / 1000);
    }
    const use = sources.poolUse();
    pool.set({ state: "idle" }, use.idle);
    pool.set({ state: "used" }, use.total - use.idle);
    waiting.set(use.waiting);
  };
}
