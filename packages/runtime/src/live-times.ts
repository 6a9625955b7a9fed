import type { AutoModel, OpenCount } from "@hallumaze/batching";
import { laneHours, type LaneLimits, openLiveEstimator, type StorePort } from "@hallumaze/engine";
import type { Clock } from "@hallumaze/foundation";
import { rehearsalLane, type SweepSpec } from "@hallumaze/sweep";

import { thinks } from "./plan-house.ts";

/** What the stored sweeps say to whoever asks how long their lanes are busy. */
export interface LiveSweep {
  readonly spec: SweepSpec;
  /** In force now. */
  readonly weight: number;
  readonly priority: number;
}

/** What live times follow from. */
export interface LiveTimesPorts {
  readonly store: Pick<StorePort, "replyHistory">;
  readonly sweeps: () => ReadonlyMap<string, LiveSweep>;
  /** In force now in a live lane. */
  readonly limitsOf: (lane: string) => LaneLimits;
  /** Trials at once in each lane. */
  readonly slots: number;
  readonly rehearsal: boolean;
  readonly now: Clock;
}

/** How long what the ledger knows of like replies is taken to stand, in ms: a look at it reads all of a model's trials. */
const historyMs = 600_000;

/**
 * Opens the times that live lanes take, by the estimate that `plan` makes of a whole sweep: of what is open in the lane, and
 * of what mode auto may send there. A sweep of the same lane counts in full where its priority is higher, not at all
 * where it is lower, and else for no more than its share of the lane while ours is answered.
 */
export function openLiveTimes(
  ports: LiveTimesPorts,
): (model: AutoModel, open: readonly OpenCount[]) => Promise<number> {
  const estimators = new Map<string, { readonly spec: SweepSpec; readonly of: ReturnType<typeof openLiveEstimator> }>();
  const histories = new Map<string, { readonly atMs: number; readonly known: ReturnType<StorePort["replyHistory"]> }>();

  const history: StorePort["replyHistory"] = async (model, options) => {
    const key = JSON.stringify([model.provider, model.model, model.baseUrl, model.params]);
    const kept = histories.get(key);
    if (kept !== undefined && ports.now() - kept.atMs < historyMs) return kept.known;
    const known = ports.store.replyHistory(model, options);
    histories.set(key, { atMs: ports.now(), known });
    known.catch(() => histories.delete(key));
    return known;
  };
  const estimatorOf = (sweepId: string, spec: SweepSpec): ReturnType<typeof openLiveEstimator> => {
    const kept = estimators.get(sweepId);
    if (kept?.spec === spec) return kept.of;
    // The limits in force are asked for instead of the spec's.
    const of = openLiveEstimator({ ...spec, limits: {} }, { rehearsal: ports.rehearsal });
    estimators.set(sweepId, { spec, of });
    return of;
  };
  const hoursOf = async (sweepId: string, spec: SweepSpec, liveLane: string, open: readonly OpenCount[]) => {
    const counts = new Map<string, number>();
    for (const { alias, lane, trials } of open.filter((count) => count.sweepId === sweepId)) {
      // What a batch holds for good never comes here.
      const isAuto = spec.models.some((model) => model.alias === alias && model.mode === "auto");
      if (lane === liveLane || isAuto) counts.set(alias, (counts.get(alias) ?? 0) + trials);
    }
    if (counts.size === 0) return 0;
    const name = (lane: string): string => (ports.rehearsal ? rehearsalLane(lane) : lane);
    const estimate = await estimatorOf(sweepId, spec)(counts, {
      limitsOf: (model) => ports.limitsOf(name(model.lane)),
      priceOf: () => null,
      thinks,
      slots: ports.slots,
      history,
      spentUsd: 0,
    });
    const lane = estimate.lanes.find((one) => name(one.lane) === liveLane)?.lane;
    return lane === undefined ? 0 : laneHours(estimate, lane).high;
  };

  return async ({ sweepId, lane, liveLane }, open) => {
    const sweeps = ports.sweeps();
    const own = sweeps.get(sweepId);
    if (own === undefined) return 0;
    const here = open.filter((count) => count.lane === lane || count.lane === liveLane);
    const ownHours = await hoursOf(sweepId, own.spec, liveLane, here);
    let hours = ownHours;
    for (const otherId of new Set(here.map((count) => count.sweepId))) {
      const other = sweeps.get(otherId);
      if (other === undefined || otherId === sweepId || other.priority < own.priority) continue;
      const theirs = await hoursOf(otherId, other.spec, liveLane, here);
      hours += other.priority > own.priority ? theirs : Math.min(theirs, (ownHours * other.weight) / own.weight);
    }
    return hours;
  };
}
