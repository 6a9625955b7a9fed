import type { LaneLimits, LimiterPort, StorePort } from "@hallumaze/engine";
import {
  type JudgeClaim,
  type JudgeModel,
  type JudgeSettings,
  limiterLaneOf,
  type SweepJudging,
} from "@hallumaze/judging";
import { checkModel, costBound, costOf, findDefaultLimits } from "@hallumaze/providers";
import { limitsUnder, type SteeringPort } from "@hallumaze/steering";
import {
  batchLane,
  isBatchLane,
  type JudgeLane,
  judgesOf,
  liveLane,
  parseStoredSpec,
  rehearsalLane,
  type SweepSpec,
} from "@hallumaze/sweep";

/** What the stored specs say of judges. */
export interface JudgeCatalog {
  /** Reads the specs again, and tells the limiter the limits of judges' lanes that no trial uses. */
  readonly refresh: () => Promise<void>;
  /** The sweeps that ask for a judge, with their first judge. */
  readonly judgings: () => readonly SweepJudging[];
  /** The lanes of the sweeps' judges, each with the one in which it would be asked in the other mode. */
  readonly lanes: () => readonly { readonly sweepId: string; readonly lane: string; readonly otherMode: string }[];
  readonly isLimited: (limiterLane: string) => boolean;
  readonly settingsOf: (claim: JudgeClaim) => Promise<JudgeSettings>;
}

/** Room for a verdict with its evidence, and for thoughts of models that think unasked. */
const verdictTokens = 4000;

/** Opens an empty catalog; `refresh` fills it. `rehearsal` as in the worker. */
export function openJudgeCatalog(
  store: Pick<StorePort, "listSweeps"> & Pick<SteeringPort, "laneControls">,
  limiter: LimiterPort,
  options: { readonly rehearsal: boolean; readonly now: () => number },
): JudgeCatalog {
  const specs = new Map<
    string,
    {
      readonly specJson: string;
      readonly spec: SweepSpec;
      readonly isRehearsal: boolean;
      readonly weight: number;
      /** An operator holds it back, or cancelled it: no new judgement is asked for. */
      readonly isStopped: boolean;
    }
  >();
  const configured = new Map<string, string>();
  const laneOf = (judge: JudgeLane): string => (options.rehearsal ? rehearsalLane(judge.lane) : judge.lane);

  const refresh = async (): Promise<void> => {
    for (const sweep of await store.listSweeps()) {
      const known = specs.get(sweep.sweepId);
      const spec = known?.specJson === sweep.specJson ? known.spec : parseStoredSpec(sweep.specJson);
      const isPaused = sweep.paused !== null && sweep.paused.models.length === 0;
      specs.set(sweep.sweepId, {
        specJson: sweep.specJson,
        spec,
        isRehearsal: sweep.name.endsWith("-rehearsal"),
        weight: sweep.weight,
        isStopped: isPaused || sweep.cancelledAtMs !== null,
      });
    }
    const controls = new Map((await store.laneControls()).map((control) => [control.lane, control.limits]));
    for (const [lane, own] of limitsOfJudges()) {
      const limits = limitsUnder(own, controls.get(lane) ?? {});
      const text = JSON.stringify(limits);
      if (configured.get(lane) === text) continue;
      await limiter.configure(lane, limits);
      configured.set(lane, text);
    }
  };
  /** A later sweep's limits of a lane override an earlier one's, as for trials. */
  const limitsOfJudges = (): ReadonlyMap<string, LaneLimits> => {
    const known = [...specs.values()].map(({ spec }) => spec);
    // A model that is tested, in whatever sweep, and judges has one lane at its vendor: the trials' limits are its limits.
    const ofTrials = new Set(known.flatMap(({ models }) => models.flatMap(({ lane }) => [lane, rehearsalLane(lane)])));
    const merged = new Map<string, LaneLimits>();
    for (const spec of known) {
      for (const judge of judgesOf(spec)) {
        const lane = limiterLaneOf(laneOf(judge));
        if (ofTrials.has(lane) || judge.provider === "sim") continue;
        const own = spec.limits[`${judge.provider}/${judge.model}`];
        merged.set(lane, { ...findDefaultLimits(judge)?.limits, ...own });
      }
    }
    return merged;
  };
  return {
    refresh,
    isLimited: (lane) => !/^(?:rehearsal\.)?sim\./.test(lane),
    lanes: () =>
      [...specs].flatMap(([sweepId, { spec, isRehearsal }]) =>
        isRehearsal !== options.rehearsal
          ? []
          : judgesOf(spec).map((judge) => ({ sweepId, lane: laneOf(judge), otherMode: otherModeOf(laneOf(judge)) })),
      ),
    judgings: () =>
      [...specs].flatMap(([sweepId, { spec, isRehearsal, isStopped }]) => {
        const [first] = judgesOf(spec);
        if (isStopped || first === undefined || spec.judge === null || isRehearsal !== options.rehearsal) return [];
        const { share, repeats } = spec.judge;
        const judge = judgeModel(first, options.now());
        return [
          {
            sweepId,
            judge,
            lane: laneOf(first),
            promptVersion: "llm-judge-v1" as const,
            share,
            repeats,
            generation: 0,
          },
        ];
      }),
    settingsOf: async (claim) => {
      const { sweepId } = claim;
      if (sweepId !== null && !specs.has(sweepId)) await refresh();
      const spec = sweepId === null ? undefined : specs.get(sweepId)?.spec;
      const prices = spec?.prices ?? {};
      const priced = { ...claim.plan.judge, mode: isBatchLane(claim.lane) ? "batch" : "live" } as const;
      const second = spec === undefined ? undefined : judgesOf(spec)[1];
      return {
        tenant: "judge",
        weight: sweepId === null ? 1 : (specs.get(sweepId)?.weight ?? 1),
        costOf: (usage) => costOf(priced, usage, prices),
        boundOf: (inputTokens, outputTokens) => costBound(priced, { inputTokens, outputTokens }, prices),
        secondJudge: second === undefined ? null : { judge: judgeModel(second, options.now()), lane: laneOf(second) },
        consensusBelow: spec?.judge?.consensusBelow ?? 0.6,
        repeats: spec?.judge?.repeats ?? 1,
      };
    },
  };
}

function otherModeOf(lane: string): string {
  return isBatchLane(lane)
    ? liveLane(lane)
    : lane.replace(/^(?:rehearsal\.)?judge\./, (start) => start + batchLane(""));
}

/** A judge's model with what its family takes: no temperature where it refuses one. */
export function judgeModel(
  judge: Pick<JudgeLane, "provider" | "model"> & Partial<JudgeLane>,
  nowMs: number,
): JudgeModel {
  const { provider, model: name, baseUrl = null, keyEnv = null, params = {} } = judge;
  const maxTokens = judge.maxTokens ?? verdictTokens;
  const model = { provider, model: name, baseUrl, keyEnv, params, maxTokens, temperature: judge.temperature ?? 0 };
  const today = new Date(nowMs).toISOString().slice(0, 10);
  const { temperature } = checkModel({ ...model, temperatureExplicit: false }, today);
  return { ...model, temperature: judge.temperature === null ? null : temperature };
}
