import type { LaneLimits, StorePort, SweepRecord } from "@hallumaze/engine";
import { judgesOf, lanesOf, type ModelSpec, parseStoredSpec, rehearsalLane, type SweepSpec } from "@hallumaze/sweep";

import { checkWord } from "./refusal.ts";

/** A lane of some sweep's spec. */
export interface KnownLane {
  readonly lane: string;
  /** The names by which its models may be called. */
  readonly models: readonly string[];
  /** Of the specs, over the providers' defaults. */
  readonly limits: LaneLimits;
}

/** A provider's published limits of a model; null where none are known. */
export type DefaultLimits = (model: ModelSpec) => { readonly limits: LaneLimits } | null;

/** Every lane of these sweeps' specs, a later sweep's limits over an earlier one's, as workers have it. */
export function knownLanes(sweeps: readonly SweepRecord[], defaults: DefaultLimits = () => null): readonly KnownLane[] {
  const lanes = new Map<string, { lane: string; models: Set<string>; limits: LaneLimits }>();
  const add = (lane: string, models: readonly string[], limits: LaneLimits | null): void => {
    const before = lanes.get(lane);
    lanes.set(lane, {
      lane,
      models: new Set([...(before?.models ?? []), ...models]),
      limits: limits ?? before?.limits ?? {},
    });
  };
  for (const { specJson } of sweeps) {
    const spec = parseStoredSpec(specJson);
    for (const { lane, limits } of lanesOf(spec)) {
      const models = namesIn(spec, lane);
      const model = spec.models.find((one) => one.lane === lane);
      const merged = { ...(model === undefined ? null : defaults(model))?.limits, ...limits };
      add(lane, models, merged);
      add(rehearsalLane(lane), models, merged);
    }
    for (const judge of judgesOf(spec)) add(judge.lane, [`${judge.provider}/${judge.model}`], null);
  }
  return [...lanes.values()].map(({ lane, models, limits }) => ({ lane, models: [...models], limits }));
}

/** The lanes that a word names: a lane itself, or those of a model by alias, `provider/model` or its own name. */
export async function namedLanes(store: Pick<StorePort, "listSweeps">, word: string): Promise<readonly string[]> {
  const known = knownLanes(await store.listSweeps());
  const exact = known.filter(({ lane }) => lane === word);
  if (exact.length > 0) return exact.map(({ lane }) => lane);
  const ofModel = known.filter(({ lane, models }) => !lane.startsWith("rehearsal.") && models.includes(word));
  if (ofModel.length > 0) return ofModel.map(({ lane }) => lane);
  checkWord("lane", word, [...known.map(({ lane }) => lane), ...known.flatMap(({ models }) => models)]);
  return [];
}

function namesIn(spec: SweepSpec, lane: string): readonly string[] {
  return spec.models
    .filter((model) => model.lane === lane)
    .flatMap(({ alias, provider, model }) => [alias, `${provider}/${model}`, model]);
}
