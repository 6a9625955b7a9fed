import type { LaneLimits } from "@hallumaze/engine";
import type { Figures, LaneFigures, LedgerFigures, Reading } from "@hallumaze/watching";
import { Counter, Gauge, type MetricConfiguration, type Registry } from "prom-client";

/** Dimensions of a limit that are counted a minute, by the label they are shown under. */
const perMinute = {
  rpm: "requests",
  inputTpm: "input_tokens",
  outputTpm: "output_tokens",
  tpm: "tokens",
} as const satisfies Partial<Record<keyof LaneLimits, string>>;

/**
 * Declares what the ledger, the queue and the limiter tell; gives what sets it from a reading. The same in every process
 * that shows it: a query takes the maximum over instances, not the sum.
 */
export function declareLedgerMetrics(registry: Registry): (reading: Reading) => void {
  const age = gauge(
    registry,
    "ledger_reading_age_seconds",
    "Age of the ledger's, queue's and limiter's figures below.",
  );
  const failures = new Counter({
    name: "hallumaze_ledger_reading_failures_total",
    help: "Readings of those figures that failed.",
    registers: [registry],
  });
  const show = [
    declareLanes(registry),
    declareTrials(registry),
    declareJudges(registry),
    declareBatches(registry),
    declareSweeps(registry),
  ];
  let countedFailures = 0;
  return (reading) => {
    failures.inc(reading.failures - countedFailures);
    countedFailures = reading.failures;
    if (reading.ageMs !== null) age.set(reading.ageMs / 1000);
    const { figures } = reading;
    if (figures !== null) for (const one of show) one(figures);
  };
}

type Show = (figures: Figures) => void;

function declareLanes(registry: Registry): Show {
  const labels = ["lane", "dimension"] as const;
  const limit = gauge(registry, "lane_limit_per_minute", "Configured limit of a lane.", labels);
  const inForce = gauge(
    registry,
    "lane_limit_in_force_per_minute",
    "Limit in force: learned, shrunk, growing.",
    labels,
  );
  const slots = gauge(registry, "lane_slots", "Requests that a lane allows at once.", ["lane"]);
  const used = gauge(registry, "lane_slots_used", "Requests of a lane under way, of all processes.", ["lane"]);
  const ratio = gauge(registry, "lane_utilisation_ratio", "Accepted over allowed in the last minute, binding limit.", [
    "lane",
  ]);
  const parked = gauge(registry, "lane_parked", "1 where a lane is stopped until told or until its time.", ["lane"]);
  const granted = follow(registry, "lane_granted_total", "Requests that a lane's limits let through.");
  const limited = follow(registry, "lane_limited_total", "Requests that a vendor answered with 429.");
  const queued = gauge(registry, "lane_deliveries", "Deliveries in a lane's queue.", ["lane", "state"]);
  const all = [limit, inForce, slots, used, ratio, parked, queued];

  const showUse = ({ lane, use }: LaneFigures): void => {
    if (use === null) return;
    for (const [name, dimension] of Object.entries(perMinute)) {
      const key = name as keyof typeof perMinute;
      if (use.limits[key] !== undefined) limit.set({ lane, dimension }, use.limits[key]);
      if (use.effective[key] !== undefined) inForce.set({ lane, dimension }, use.effective[key]);
    }
    if (use.limits.concurrency !== undefined) slots.set({ lane }, use.limits.concurrency);
    used.set({ lane }, use.inFlight);
    if (use.utilisation !== null) ratio.set({ lane }, use.utilisation);
    parked.set({ lane }, use.parked === null ? 0 : 1);
    granted(lane, use.granted);
    limited(lane, use.limited);
  };
  return ({ lanes }) => {
    for (const one of all) one.reset();
    for (const figures of lanes) {
      showUse(figures);
      const { lane, depth } = figures;
      if (depth === null) continue;
      for (const state of ["waiting", "active", "delayed"] as const) queued.set({ lane, state }, depth[state]);
    }
  };
}

function declareTrials(registry: Registry): Show {
  const trials = gauge(registry, "trials", "Trials of the newest sweeps' grids.", [
    "sweep",
    "model",
    "state",
    "outcome",
  ]);
  const oldest = gauge(registry, "oldest_waiting_seconds", "Since the first that may start was queued.", [
    "kind",
    "lane",
  ]);
  return ({ ledger }) => {
    trials.reset();
    oldest.reset();
    for (const { sweep, alias, state, outcome, count } of ledger.trials) {
      trials.inc({ sweep, model: alias, state, outcome: hasEnded(state) ? (outcome ?? "") : "" }, count);
    }
    for (const kind of ["trial", "judge"] as const) {
      for (const [lane, ms] of oldestByLane(kind === "trial" ? ledger.trials : ledger.judges)) {
        oldest.set({ kind, lane }, ms / 1000);
      }
    }
  };
}

function declareBatches(registry: Registry): Show {
  const batches = gauge(registry, "batches", "Batches at a vendor or on their way there.", ["provider"]);
  const rows = gauge(registry, "batch_rows", "Requests of batches: under way, or waiting to be gathered.", [
    "provider",
    "state",
  ]);
  const oldest = gauge(registry, "batch_oldest_seconds", "Since the oldest batch under way was submitted.", [
    "provider",
  ]);
  return ({ ledger }) => {
    for (const one of [batches, rows, oldest]) one.reset();
    for (const { provider, underWay, rows: held, waiting, oldestAtMs } of ledger.batches) {
      batches.set({ provider }, underWay);
      rows.set({ provider, state: "under_way" }, held);
      rows.set({ provider, state: "waiting" }, waiting);
      if (oldestAtMs !== null) oldest.set({ provider }, Math.max(0, ledger.atMs - oldestAtMs) / 1000);
    }
  };
}

function declareJudges(registry: Registry): Show {
  const requests = gauge(registry, "judgements", "Requests to judges.", ["sweep", "lane", "state", "outcome"]);
  const labels = ["judge", "prompt_version"] as const;
  const agreement = gauge(registry, "judge_agreement_ratio", "Agreement with a gold set's test half, 0 to 1.", labels);
  const open = gauge(registry, "judge_gate_open", "1 where a judge's calibration lets it score.", labels);
  return ({ ledger }) => {
    for (const one of [requests, agreement, open]) one.reset();
    for (const { sweep, lane, state, outcome, count } of ledger.judges) {
      requests.inc({ sweep, lane, state, outcome: hasEnded(state) ? (outcome ?? "") : "" }, count);
    }
    for (const { judge, promptVersion, items, agreed, open: isOpen } of ledger.agreements) {
      if (items > 0) agreement.set({ judge, prompt_version: promptVersion }, agreed / items);
      open.set({ judge, prompt_version: promptVersion }, isOpen ? 1 : 0);
    }
  };
}

function declareSweeps(registry: Registry): Show {
  const spent = gauge(registry, "sweep_spent_usd", "What a sweep's requests have cost, at most where not known.", [
    "sweep",
  ]);
  const reserved = gauge(registry, "sweep_reserved_usd", "What its requests under way may cost at most.", ["sweep"]);
  const paused = gauge(registry, "sweep_paused", "1 where an operator holds a sweep back; of some models, by model.", [
    "sweep",
    "model",
  ]);
  const budget = gauge(registry, "sweep_budget_usd", "Its cap; absent where there is none.", ["sweep"]);
  return ({ ledger }) => {
    for (const one of [spent, reserved, budget, paused]) one.reset();
    for (const { sweep, spentUsd, reservedUsd, budgetUsd, paused: held } of ledger.sweeps) {
      paused.set({ sweep, model: "" }, held !== null && held.length === 0 ? 1 : 0);
      for (const model of held ?? []) paused.set({ sweep, model }, 1);
      spent.set({ sweep }, spentUsd);
      reserved.set({ sweep }, reservedUsd);
      if (budgetUsd !== null) budget.set({ sweep }, budgetUsd);
    }
  };
}

/** The outcome of a retry under way is not one of the trial. */
function hasEnded(state: LedgerFigures["trials"][number]["state"]): boolean {
  return state !== "planned" && state !== "queued" && state !== "running";
}

function oldestByLane(
  groups: readonly { readonly lane: string; readonly oldestWaitingMs: number | null }[],
): ReadonlyMap<string, number> {
  const oldest = new Map<string, number>();
  for (const { lane, oldestWaitingMs } of groups) {
    if (oldestWaitingMs !== null) oldest.set(lane, Math.max(oldestWaitingMs, oldest.get(lane) ?? 0));
  }
  return oldest;
}

function gauge<Label extends string = never>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly Label[] = [],
): Gauge<Label> {
  const configuration: MetricConfiguration<Label> = {
    name: `hallumaze_${name}`,
    help,
    labelNames: [...labelNames],
    registers: [registry],
  };
  return new Gauge(configuration);
}

/**
 * A counter that follows a count kept elsewhere. That count goes back by a few where a request was granted and not sent:
 * such a step is no restart, and the counter stands still until it is made up for.
 */
function follow(registry: Registry, name: string, help: string): (lane: string, total: number) => void {
  const counter = new Counter({ name: `hallumaze_${name}`, help, labelNames: ["lane"], registers: [registry] });
  const shown = new Map<string, number>();
  return (lane, total) => {
    const before = shown.get(lane) ?? 0;
    // A server that lost its memory counts from 0 again; so does the sum that is shown, by all that came since.
    const isRestart = total < before / 2;
    const step = isRestart ? total : total - before;
    counter.inc({ lane }, Math.max(0, step));
    if (isRestart || step > 0) shown.set(lane, total);
  };
}
