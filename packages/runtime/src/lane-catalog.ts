import type { AutoModel } from "@hallumaze/batching";
import {
  type Claim,
  type LaneLimits,
  type LimiterPort,
  type ModelSettings,
  operatorReason,
  type StorePort,
} from "@hallumaze/engine";
import { limiterLaneOf } from "@hallumaze/judging";
import { costBound, costOf, findDefaultLimits } from "@hallumaze/providers";
import type { LiveSweep } from "./live-times.ts";
import { type LaneControl, limitsUnder, type SteeringPort } from "@hallumaze/steering";
import {
  deadlineOf,
  givesShadow,
  isBatchLane,
  lanesOf,
  liveLane,
  parseStoredSpec,
  rehearsalLane,
  type SweepSpec,
} from "@hallumaze/sweep";

/** What the stored specs say of lanes and models beside their plans. */
export interface LaneCatalog {
  /** Reads the specs again, and tells the limiter each lane's limits where they have changed. */
  readonly refresh: () => Promise<void>;
  /** True where the limiter is asked: something limits the lane, or its vendor may stop it (no credit, wrong key). */
  readonly isLimited: (lane: string) => boolean;
  readonly settingsOf: (claim: Pick<Claim, "sweepId" | "alias" | "lane" | "plan">) => Promise<ModelSettings>;
  /** The models that are asked in batches until their deadline calls. */
  readonly autoModels: (rehearsal: boolean) => readonly AutoModel[];
  /** What the stored sweeps say, by id, as of the last look. */
  readonly sweeps: () => ReadonlyMap<string, LiveSweep>;
  /** Limits in force in a lane as of the last look. */
  readonly limitsOf: (lane: string) => LaneLimits;
  /** Tells what a reply really took, for the next reservation's estimate. */
  readonly sawReply: (lane: string, outputTokens: number | null) => void;
}

interface StoredSpec extends LiveSweep {
  readonly specJson: string;
}

/** Share of a new reply in the running mean of a lane's reply length. */
const newShare = 0.1;
/** Before the first reply of a lane: what a short log takes. */
const firstGuessTokens = 1200;

/**
 * Opens an empty catalog; `refresh` fills it. A later sweep's limits of a lane override an earlier one's, and an operator's
 * all of them.
 */
export function openLaneCatalog(
  store: Pick<StorePort, "listSweeps"> & Pick<SteeringPort, "laneControls">,
  limiter: LimiterPort,
): LaneCatalog {
  const specs = new Map<string, StoredSpec>();
  const limits = new Map<string, LaneLimits>();
  const replyTokens = new Map<string, number>();
  const parks = new Map<string, number>();

  const refresh = async (): Promise<void> => {
    const merged = new Map<string, LaneLimits>();
    for (const sweep of await store.listSweeps()) {
      const known = specs.get(sweep.sweepId);
      const { specJson, weight, priority } = sweep;
      const spec = known?.specJson === specJson ? known.spec : parseStoredSpec(specJson);
      const stored = { specJson, weight, priority, spec };
      specs.set(sweep.sweepId, stored);
      for (const [lane, own] of limitsOf(stored.spec)) merged.set(lane, own);
    }
    for (const control of await store.laneControls()) {
      const own = merged.get(control.lane);
      if (own !== undefined) merged.set(control.lane, limitsUnder(own, control.limits));
      await followPark(limiter, control, parks);
    }
    for (const [lane, own] of merged) {
      if (JSON.stringify(limits.get(lane)) === JSON.stringify(own)) continue;
      // Limits that are gone must leave the server too.
      if (isShared(lane, own) || limits.has(lane)) await limiter.configure(lane, own);
      limits.set(lane, own);
    }
  };
  return {
    refresh,
    isLimited: (lane) => isShared(lane, limits.get(lane) ?? {}),
    settingsOf: async (claim) => {
      // A submission newer than the last look: nothing may go out before its limits are known.
      if (!specs.has(claim.sweepId) || !limits.has(claim.lane)) await refresh();
      const spec = specs.get(claim.sweepId)?.spec;
      const model = spec?.models.find(({ alias }) => alias === claim.alias);
      const prices = spec?.prices ?? {};
      const mode = isBatchLane(claim.lane) ? "batch" : "live";
      const priced = { ...claim.plan, alias: claim.alias, mode } as const;
      return {
        ...(model?.mode === "auto" && mode === "batch" ? { liveLane: liveLane(claim.lane) } : {}),
        keyEnv: model?.keyEnv ?? null,
        tenant: spec?.name ?? claim.sweepId,
        weight: specs.get(claim.sweepId)?.weight ?? 1,
        expectedOutputTokens: Math.ceil(replyTokens.get(claim.lane) ?? firstGuessTokens),
        shadow: spec !== undefined && givesShadow(spec),
        costOf: (usage) => costOf(priced, usage, prices),
        boundOf: (inputTokens, outputTokens) => costBound(priced, { inputTokens, outputTokens }, prices),
      };
    },
    autoModels: (rehearsal) =>
      [...specs].flatMap(([sweepId, { spec }]) =>
        spec.models.flatMap((model) => {
          const deadline = deadlineOf(spec, model);
          if (deadline === null) return [];
          const lane = rehearsal ? rehearsalLane(model.lane) : model.lane;
          return [{ sweepId, alias: model.alias, lane, liveLane: liveLane(lane), deadlineMs: Date.parse(deadline) }];
        }),
      ),
    sweeps: () => specs,
    limitsOf: (lane) => limits.get(lane) ?? {},
    sawReply: (lane, outputTokens) => {
      if (outputTokens === null) return;
      const before = replyTokens.get(lane);
      replyTokens.set(lane, before === undefined ? outputTokens : before + (outputTokens - before) * newShare);
    },
  };
}

/**
 * Tells the limiter of an operator's park that this process has not told it, for those who wait there; a limiter that lost
 * its memory hears of it from the next process. At the park's end only what an operator parked is let go.
 */
async function followPark(
  limiter: LimiterPort,
  { lane, parked }: LaneControl,
  told: Map<string, number>,
): Promise<void> {
  const limiterLane = limiterLaneOf(lane);
  if (parked === null) {
    if (!told.delete(lane)) return;
    const [use] = await limiter.use([limiterLane]);
    if (use?.parked?.reason.startsWith(operatorReason)) await limiter.resume(limiterLane);
    return;
  }
  if (told.get(lane) === parked.sinceMs) return;
  await limiter.park(limiterLane, parked.reason, parked.leftMs === null ? null : Math.max(0, parked.leftMs));
  told.set(lane, parked.sinceMs);
}

/** The baselines' lanes cost nothing and never stop: without limits of the spec nobody is asked about them. */
function isShared(lane: string, limits: LaneLimits): boolean {
  return Object.keys(limits).length > 0 || !/^(?:rehearsal\.)?(?:lane\.)?sim\./.test(lane);
}

/** The limits of each lane: the provider's defaults, overridden by the spec. */
function limitsOf(spec: SweepSpec): readonly (readonly [lane: string, limits: LaneLimits])[] {
  return lanesOf(spec).flatMap(({ lane, limits }) => {
    const model = spec.models.find((one) => one.lane === lane);
    const defaults = model === undefined ? null : findDefaultLimits(model);
    const merged = { ...defaults?.limits, ...limits };
    // What goes live after all has the limits of any live call.
    const lanes = model?.mode === "auto" ? [lane, liveLane(lane)] : [lane];
    return lanes.flatMap((each) => [[each, merged] as const, [rehearsalLane(each), merged] as const]);
  });
}
