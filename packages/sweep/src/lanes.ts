import { contentId } from "@hallumaze/foundation";

import type { JudgeMode, LaneLimits, ProviderName, SweepSpec } from "./spec.ts";

/** What a lane's name follows from. */
export interface LaneOwner {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string | null;
  readonly laneOverride: string | null;
}

/** A lane of a sweep: its limits (empty: the provider's defaults) and the aliases of the models on it. */
export interface Lane {
  readonly lane: string;
  readonly provider: string;
  readonly aliases: readonly string[];
  readonly limits: LaneLimits;
}

/** A name that ends like a hash gets one of its own, so that no plain name can equal a hashed one. */
const PLAIN_NAME = /^(?!.*-[0-9a-f]{12}$)[A-Za-z0-9_.-]{1,80}$/;

/**
 * The queue lane of a model: `<provider>.<model>` where that is a safe name, else made safe with a short hash of
 * (provider, model, base URL) behind; `lane.<provider>.<name>` for a lane that the spec names. Unique a lane.
 */
export function laneName({ provider, model, baseUrl, laneOverride }: LaneOwner): string {
  if (laneOverride !== null) return `lane.${provider}.${laneOverride}`;
  if (baseUrl === null && PLAIN_NAME.test(model)) return `${provider}.${model}`;
  const safe = model.replace(/[^A-Za-z0-9_.-]/g, "-").slice(0, 60);
  return `${provider}.${safe}-${contentId([provider, model, baseUrl]).slice(0, 12)}`;
}

/** The lanes of a sweep in the models' order. Limits named by alias, `provider/model` and lane merge, in that order. */
export function lanesOf(spec: Pick<SweepSpec, "models" | "limits">): readonly Lane[] {
  const lanes = new Map<string, { lane: string; provider: string; aliases: string[]; limits: LaneLimits }>();
  for (const model of spec.models) {
    const lane = lanes.get(model.lane) ?? { lane: model.lane, provider: model.provider, aliases: [], limits: {} };
    lane.aliases.push(model.alias);
    for (const name of limitNames(model)) {
      if (Object.hasOwn(spec.limits, name)) lane.limits = { ...lane.limits, ...spec.limits[name] };
    }
    lanes.set(model.lane, lane);
  }
  return [...lanes.values()];
}

/** The names by which `limits` may call a model's lane. */
export function limitNames(model: LaneOwner & { readonly alias: string; readonly lane: string }): readonly string[] {
  const names = [model.alias, `${model.provider}/${model.model}`, model.lane];
  return model.laneOverride === null ? names : [...names, model.laneOverride];
}

/** The names by which `prices` may call a model; a later one overrides. */
export function priceNames(
  model: Pick<LaneOwner, "provider" | "model"> & { readonly alias: string },
): readonly string[] {
  return [`${model.provider}/${model.model}`, model.alias];
}

/** A judge with its defaults filled in, and the queue lane of its own beside the trials'. */
export interface JudgeLane {
  readonly provider: ProviderName;
  readonly model: string;
  readonly baseUrl: string | null;
  readonly keyEnv: string | null;
  /** Null where the vendor's own default is meant. */
  readonly temperature: number | null;
  /** Null where the program's own limit for verdicts is meant. */
  readonly maxTokens: number | null;
  readonly params: Readonly<Record<string, number | string | boolean>>;
  /** Asked in the vendor's batches, or one by one. */
  readonly mode: JudgeMode;
  /** `judge.` and the lane whose limits its calls take. */
  readonly lane: string;
}

/** The judges that a spec names, in its order: the first judges, the second gives the second opinion. */
export function judgesOf(spec: Pick<SweepSpec, "judge">): readonly JudgeLane[] {
  return (spec.judge?.models ?? []).map((entry) => {
    const given = typeof entry === "string" ? { model: entry } : entry;
    const { baseUrl = null, keyEnv = null, temperature = 0, maxTokens = null, params = {}, mode = "live" } = given;
    const at = given.model.indexOf("/");
    const [provider, model] = [given.model.slice(0, at) as ProviderName, given.model.slice(at + 1)];
    const own = laneName({ provider, model, baseUrl, laneOverride: null });
    const lane = judgeLane(mode === "batch" ? batchLane(own) : own);
    return { provider, model, baseUrl, keyEnv, temperature, maxTokens, params, mode, lane };
  });
}

/** The queue lane of judges on a lane. */
export function judgeLane(lane: string): string {
  return `judge.${lane}`;
}

/** Whether a lane delivers requests to judges. */
export function isJudgeLane(lane: string): boolean {
  return /^(?:rehearsal\.)?judge\./.test(lane);
}

/** Whether triggered trials of group A get a neutral turn: where group B is in the sweep, unless the spec says no. */
export function givesShadow({ ariadne, groups }: Pick<SweepSpec, "ariadne" | "groups">): boolean {
  return ariadne.shadow && groups.includes("A") && groups.includes("B");
}

/** Providers whose batch interface this version speaks. */
export const batchProviders: readonly ProviderName[] = ["anthropic", "openai", "google"];

/** The lane of what is asked in batches of `lane`'s models. The queue knows no such lane: the ledger is read. */
export function batchLane(lane: string): string {
  return `batch.${lane}`;
}

/** The lane in which a batch lane's trials, or its requests to judges, are asked live. */
export function liveLane(lane: string): string {
  return lane.replace(/^(rehearsal\.)?(judge\.)?batch\./, "$1$2");
}

/** The spec as if what may go live all went live. */
export function askedLive<Spec extends Pick<SweepSpec, "models">>(spec: Spec): Spec {
  const models = spec.models.map((model) =>
    model.mode === "auto" ? { ...model, mode: "live" as const, lane: liveLane(model.lane) } : model,
  );
  return { ...spec, models };
}

/** Whether what waits in a lane, trials or requests to judges, is asked in batches. */
export function isBatchLane(lane: string): boolean {
  return /^(?:rehearsal\.)?(?:judge\.)?batch\./.test(lane);
}

/** Whether a model of that vendor, on that server, can be asked in batches. */
export function hasBatches(provider: string, baseUrl: string | null): boolean {
  return baseUrl === null && batchProviders.some((known) => known === provider);
}

/** Prefix of the lanes of rehearsals. A worker takes either these or the real ones: a rehearsal must never buy an answer. */
const rehearsalPrefix = "rehearsal.";

/** The lane of a rehearsal of `lane`. */
export function rehearsalLane(lane: string): string {
  return `${rehearsalPrefix}${lane}`;
}

/** Whether a lane belongs to a rehearsal. */
export function isRehearsalLane(lane: string): boolean {
  return lane.startsWith(rehearsalPrefix);
}
