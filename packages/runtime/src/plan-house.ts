import { type AutoPlan, joinAuto } from "@hallumaze/batching";
import { type EstimatePorts, planSweep, type StorePort, type SweepPlan, type SweepRecord } from "@hallumaze/engine";
import type { JudgeStorePort } from "@hallumaze/judging";
import { findCapabilities, findDefaultLimits, findPrice, readThinking } from "@hallumaze/providers";
import {
  askedLive,
  deadlineOf,
  judgesOf,
  liveLane,
  type ModelSpec,
  parseStoredSpec,
  type SweepSpec,
} from "@hallumaze/sweep";

/** Trials at once in each lane, as `run` and `worker` take them unless told. */
export const defaultSlots = 16;

/** A plan, and what its models of mode auto come to; null where it has none to run. */
export type HousePlan = SweepPlan & { readonly auto: AutoPlan | null };

type PlanStore = Pick<StorePort, "findSweep" | "progress" | "replyHistory" | "findAnswered"> &
  Pick<JudgeStorePort, "judgeProgress">;

/**
 * Plans a spec on what the ledger knows: what is answered, what like replies took, what was spent. Its deadlines are dates
 * and times; `nowMs` is the moment that they are counted from.
 */
export async function planInHouse(
  { store }: { readonly store: PlanStore },
  spec: SweepSpec,
  options: {
    readonly fresh: boolean;
    readonly rehearsal: boolean;
    readonly concurrency: number;
    readonly nowMs: number;
  },
): Promise<HousePlan> {
  const sweep = await store.findSweep(spec.name);
  const spentUsd = sweep === null ? 0 : Number((await store.progress(sweep.sweepId)).money.spentUsd);
  const ports = planPorts(spec, { slots: options.concurrency, history: store.replyHistory, spentUsd });
  const planned = { ...options, judged: sweep === null ? 0 : await countJudged(store, spec, sweep) };
  const plan = await planSweep(store, spec, planned, ports);
  const models = spec.models.flatMap((model) => {
    const deadline = deadlineOf(spec, model);
    return deadline === null ? [] : [{ alias: model.alias, liveLane: liveLane(model.lane), deadline }];
  });
  if (models.length === 0) return { ...plan, auto: null };
  const live = await planSweep(store, askedLive(spec), planned, ports);
  return { ...plan, ...joinAuto(plan.estimate, live.estimate, { models, nowMs: options.nowMs }) };
}

/** Requests to the spec's judges that have ended; other judges than the stored spec's have been asked nothing. */
async function countJudged(store: PlanStore, spec: SweepSpec, { sweepId, specJson }: SweepRecord): Promise<number> {
  const namesOf = (one: SweepSpec): string =>
    JSON.stringify(judgesOf(one).map(({ provider, model }) => [provider, model]));
  if (namesOf(parseStoredSpec(specJson)) !== namesOf(spec)) return 0;
  const { states } = await store.judgeProgress(sweepId);
  return (states["done"] ?? 0) + (states["failed"] ?? 0);
}

/** What an estimate asks of the providers, and of the ledger where it is given. */
export function planPorts(
  spec: Pick<SweepSpec, "prices">,
  known: Partial<Pick<EstimatePorts, "slots" | "history" | "spentUsd">> = {},
): EstimatePorts {
  return {
    limitsOf: (model) => findDefaultLimits(model)?.limits ?? null,
    priceOf: (model) => findPrice(model, spec.prices),
    thinks,
    slots: known.slots ?? defaultSlots,
    history: known.history ?? null,
    spentUsd: known.spentUsd ?? 0,
  };
}

/** A family's habit of thinking before it answers, unless the spec's parameters turn it on or off. */
export function thinks(model: ModelSpec): boolean {
  const { budget, effort, mode } = readThinking(model.params);
  const told = [budget, effort, mode].filter((word) => word !== undefined);
  if (told.length === 0) return findCapabilities(model).thinksByDefault;
  return !told.some((word) => word === 0 || word === false || word === "none" || word === "disabled");
}
