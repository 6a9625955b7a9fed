import {
  type ConfidenceTarget,
  classifyPatterns,
  judgementsOfWalk,
  type PatternAttempt,
  patternAttempts,
  patternShares,
  permutedPatternShares,
  type Walk,
} from "@hallumaze/metrics";
import { bootstrapDraws, resample } from "@hallumaze/statistics";
import {
  type Draws,
  type Estimate,
  type ExperimentOptions,
  type TrialSource,
  mazeKeyOf,
  openDraws,
} from "@hallumaze/trials";

import {
  calibrationNames,
  calibrationOf,
  calibrationResampler,
  binsOf,
  type Calibration,
  type ConfidenceLevel,
  poolLevels,
  toLevels,
} from "./confidence-levels.ts";
import { packAttempts, unpackAttempts } from "./packed-attempts.ts";
import type { ExperimentResult } from "./result.ts";
import { fewMazesOf } from "./sample-warnings.ts";
import { count, percent, two, withInterval } from "./wording.ts";

/** What the confidences of one trial show: made from its walk, which is not stored but read again from the reply. */
export interface ConfidenceTrial {
  readonly model: string;
  readonly mazeKey: string;
  readonly levels: Readonly<Record<ConfidenceTarget, readonly ConfidenceLevel[]>>;
  /** Attempts that could have carried a confidence and did not. */
  readonly missing: number;
  /** Made anew at each reading. */
  readonly attempts: readonly PatternAttempt[];
}

/** Takes the confidences out of a trial's walk. */
export function confidenceTrial(row: Pick<TrialSource, "alias" | "plan">, walk: Pick<Walk, "steps">): ConfidenceTrial {
  // A report holds many thousands of these.
  const packed = packAttempts(patternAttempts(walk));
  const [legal, onRoute] = [judgementsOfWalk(walk, "legal", "all"), judgementsOfWalk(walk, "onRoute", "all")];
  return {
    model: row.alias,
    mazeKey: mazeKeyOf(row.plan),
    levels: { legal: toLevels(legal.judgements), onRoute: toLevels(onRoute.judgements) },
    missing: legal.missing,
    get attempts() {
      return unpackAttempts(packed);
    },
  };
}

const targets = ["legal", "onRoute"] as const satisfies readonly ConfidenceTarget[];
const targetNames = { legal: "move is legal", onRoute: "move leads to EXIT" } as const;

/**
 * Confidence against truth: CE, bias, Brier, ECE and AUROC2 of each model, pooled over its attempts, with intervals from
 * resampling mazes; a reliability diagram; and the patterns of errors: A (doubt before, a fall at the error) and B
 * (confidence stays), beside the shares that chance would give.
 *
 * SOURCE: seed, section 9.2; spec/benchmark.md, section 6, confidence.
 */
export function measureConfidence(
  trials: readonly ConfidenceTrial[],
  options: ExperimentOptions = {},
): ExperimentResult {
  const draws = openDraws("confidence", options);
  const models = [...new Set(trials.map(({ model }) => model))].sort();
  const found = models.map((model) => {
    const own = trials.filter((trial) => trial.model === model);
    const byMaze = groupByMaze(own);
    const pooled = targets.map((target) => ({ target, ...calibrate(byMaze, target, draws, model) }));
    return { model, own, mazes: byMaze.length, pooled, patterns: patternsOf(own, byMaze, draws, model) };
  });
  return {
    experiment: "confidence",
    title: "Confidence and reality",
    tables: [
      {
        name: "calibration",
        caption:
          "Stated confidence against truth, pooled over a model's attempts; intervals from resampling mazes. ECE from 50 attempts on.",
        columns: [
          { key: "model", label: "Model", kind: "text" },
          { key: "target", label: "Confidence that the", kind: "text" },
          { key: "attempts", label: "Attempts", kind: "count" },
          { key: "stated", label: "with a confidence", kind: "share", better: "high" },
          { key: "ce", label: "CE", kind: "interval", better: "low" },
          { key: "bias", label: "Bias", kind: "interval" },
          { key: "brier", label: "Brier", kind: "interval", better: "low" },
          { key: "ece", label: "ECE", kind: "interval", better: "low" },
          { key: "auroc2", label: "AUROC2", kind: "interval", better: "high" },
        ],
        rows: found.flatMap(({ model, own, pooled }) =>
          pooled.map(({ target, n, estimates }) => {
            const missing = own.reduce((sum, trial) => sum + trial.missing, 0);
            const all = n + missing;
            return {
              model,
              target: targetNames[target],
              attempts: all,
              stated: all === 0 ? null : n / all,
              ...estimates,
            };
          }),
        ),
      },
      {
        name: "patterns",
        caption:
          "Shares of the error events that can be classified, with intervals over mazes; by chance: the same confidences permuted within their trial.",
        columns: [
          { key: "model", label: "Model", kind: "text" },
          { key: "errors", label: "Errors", kind: "count" },
          { key: "unclassifiable", label: "unclassifiable", kind: "count" },
          { key: "a", label: "A", kind: "interval", better: "high" },
          { key: "aChance", label: "A by chance", kind: "share" },
          { key: "aLate", label: "A late", kind: "share" },
          { key: "b", label: "B", kind: "interval", better: "low" },
          { key: "bChance", label: "B by chance", kind: "share" },
          { key: "mixed", label: "mixed", kind: "share" },
          { key: "flat", label: "flat", kind: "share" },
          { key: "loopSteady", label: "B-loop of loops", kind: "share", better: "low" },
        ],
        rows: found.map(({ model, patterns: { seen, chance, a, b } }) => ({
          model,
          errors: seen.errorCount,
          unclassifiable: seen.unclassifiable,
          a,
          aChance: chance.shares?.A ?? null,
          aLate: seen.shares?.["A-late"] ?? null,
          b,
          bChance: chance.shares?.B ?? null,
          mixed: seen.shares?.mixed ?? null,
          flat: seen.flatShare,
          loopSteady: seen.loopSteadyShare,
        })),
      },
    ],
    figures: [
      {
        kind: "reliability",
        name: "reliability",
        title: "Stated confidence and accuracy (move is legal)",
        points: found.flatMap(({ model, pooled }) =>
          binsOf(pooled[0]?.levels ?? []).flatMap(({ meanConfidence, accuracy, count: size }) =>
            meanConfidence === null || accuracy === null
              ? []
              : [{ series: model, confidence: meanConfidence, accuracy, count: size }],
          ),
        ),
      },
    ],
    reading: found.map(sentence),
    warnings: found.flatMap(({ model, mazes, pooled }) => [
      ...fewMazesOf(model, mazes),
      ...((pooled[0]?.levels.length ?? 0) === 1
        ? [
            {
              code: "single-value" as const,
              message: `${model} states one confidence everywhere: it tells nothing, whatever its calibration.`,
            },
          ]
        : []),
    ]),
    provenance: draws.provenance(),
  };
}

type Maze = readonly ConfidenceTrial[];

function groupByMaze(trials: readonly ConfidenceTrial[]): readonly Maze[] {
  const mazes = new Map<string, ConfidenceTrial[]>();
  for (const trial of trials) {
    const own = mazes.get(trial.mazeKey);
    if (own === undefined) mazes.set(trial.mazeKey, [trial]);
    else own.push(trial);
  }
  return [...mazes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, own]) => own);
}

function calibrate(mazes: readonly Maze[], target: ConfidenceTarget, draws: Draws, model: string) {
  const levels = mazes.map((maze) => poolLevels(maze.map((trial) => trial.levels[target])));
  const pooled = poolLevels(levels);
  const value = calibrationOf(pooled);
  const { resamples, level } = draws.options;
  const options = { resamples: Math.min(resamples, 2000), level };
  // All are read off the same resamples, which are drawn once.
  const drawn: Calibration[] = [];
  const draw = calibrationResampler(levels, pooled);
  const estimates = Object.fromEntries(
    calibrationNames.map((name) => {
      const random = draws.stream(`${model}/${target}`);
      let next = 0;
      const { lo, hi } = bootstrapDraws(
        value[name],
        () => {
          const calibration = drawn[next] ?? draw(random);
          drawn[next++] = calibration;
          return calibration[name];
        },
        { random, ...options },
      );
      return [name, mazes.length < 2 ? { value: value[name], lo: null, hi: null } : { value: value[name], lo, hi }];
    }),
  ) as Record<keyof Calibration, Estimate>;
  return { levels: pooled, n: pooled.reduce((sum, { count: size }) => sum + size, 0), estimates };
}

/** Permutations of each trial: 50, and from 1,000 trials on so many that all have 50,000 between them, which leave less than 0.3 %. */
function roundsFor(trials: number): number {
  return Math.max(10, Math.min(50, Math.floor(50_000 / trials)));
}

function patternsOf(trials: readonly ConfidenceTrial[], mazes: readonly Maze[], draws: Draws, model: string) {
  const attempts = trials.map((trial) => trial.attempts);
  const seen = patternShares(attempts);
  const rounds = roundsFor(attempts.length);
  const chance = permutedPatternShares(attempts, draws.stream(`${model}/permuted`), { rounds });
  const byMaze = mazes.map((maze) => {
    const errors = maze.flatMap((trial) => classifyPatterns(trial.attempts).filter(({ kind }) => kind === "error"));
    const classified = errors.filter(({ pattern }) => pattern !== "unclassifiable");
    const has = (name: string): number => classified.filter(({ pattern }) => pattern === name).length;
    return { classified: classified.length, A: has("A"), B: has("B") };
  });
  const shareOf = (name: "A" | "B"): Estimate => {
    const ratio = (drawn: typeof byMaze): number | null => {
      const whole = drawn.reduce((sum, { classified }) => sum + classified, 0);
      return whole === 0 ? null : drawn.reduce((sum, maze) => sum + maze[name], 0) / whole;
    };
    const { resamples, level } = draws.options;
    const options = { random: draws.stream(`${model}/pattern ${name}`), resamples: Math.min(resamples, 2000), level };
    const { value, lo, hi } = bootstrapDraws(ratio(byMaze), (random) => ratio(resample(byMaze, random)), options);
    return byMaze.length < 2 ? { value, lo: null, hi: null } : { value, lo, hi };
  };
  return { seen, chance, a: shareOf("A"), b: shareOf("B") };
}

function sentence(found: {
  readonly model: string;
  readonly pooled: readonly { readonly n: number; readonly estimates: Readonly<Record<keyof Calibration, Estimate>> }[];
  readonly patterns: ReturnType<typeof patternsOf>;
}): string {
  const { model, pooled, patterns } = found;
  const legal = pooled[0];
  if (legal === undefined || legal.n === 0) return `${model}: no confidence was given.`;
  const { ce, bias, auroc2 } = legal.estimates;
  const lean =
    bias.lo !== null && bias.lo > 0
      ? "overconfident"
      : bias.hi !== null && bias.hi < 0
        ? "underconfident"
        : "neither clearly over- nor underconfident";
  const sees =
    auroc2.value === null
      ? ""
      : auroc2.lo !== null && auroc2.lo > 0.5
        ? " Its confidence is lower where it errs."
        : " Its confidence cannot be shown to be lower where it errs.";
  return `${model}: CE ${withInterval(ce)}, ${lean} (bias ${withInterval(bias)}).${sees} ${patternWords(patterns)}`;
}

function patternWords({ seen, chance, a, b }: ReturnType<typeof patternsOf>): string {
  if (seen.shares === null) return `None of ${count(seen.errorCount, "error")} can be classified.`;
  const main =
    (b.value ?? 0) >= 0.5
      ? "Pattern B, confidence that stays,"
      : (a.value ?? 0) >= 0.5
        ? "Pattern A, a doubt and a fall,"
        : "No single pattern";
  const beyond = (of: Estimate, by: number | undefined): string =>
    `${percent(of.value)} (by chance ${percent(by ?? null)})`;
  const prevails = main.startsWith("No") ? "prevails" : "prevails at its errors";
  return `${main} ${prevails}: A ${beyond(a, chance.shares?.A)}, B ${beyond(b, chance.shares?.B)}; interval of B [${two(b.lo)}, ${two(b.hi)}].`;
}
