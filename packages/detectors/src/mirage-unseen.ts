import type { MirageTally, ModelFacts, SweepAggregates } from "./aggregates.ts";
import { mergeBaselines } from "./baselines.ts";
import type { Finding } from "./finding.ts";
import { thresholds } from "./thresholds.ts";
import { outOf } from "./wording.ts";

/**
 * A mirage that made no difference: not in the tokens that the provider counts (it never got there), or not in the
 * answers. Answers alike are a fault where replies are sampled; of greedy decoding and of built-in solvers that read no
 * hints they are information.
 */
export function findMirageUnseen({ models, mirages }: SweepAggregates): readonly Finding[] {
  const findings = models.flatMap((model) => {
    const tally = mirages.find(({ alias }) => alias === model.alias);
    return tally === undefined ? [] : (findUncounted(tally) ?? findAlike(model, tally) ?? []);
  });
  return mergeBaselines(
    models,
    findings,
    "answer alike with and without the mirage: built-in solvers that read no hints",
  );
}

function findUncounted({ alias, counted, sameInput, examples }: MirageTally): Finding | null {
  const share = sameInput / counted;
  if (counted < thresholds.unseenPairsMin || share < thresholds.unseenShareMin) return null;
  return {
    detector: "mirage-unseen",
    severity: "warning",
    model: alias,
    condition: "mirage on and off",
    observed: share,
    expected: 0,
    n: counted,
    message: `for ${outOf(sameInput, counted)} mazes the server counted the same input tokens with and without the mirage: the hints did not reach the model`,
    advice: "look for a cache, a cut context or a rewriting proxy; mirage on and off cannot be compared for this model",
    examples,
  };
}

function findAlike({ alias, temperature }: ModelFacts, tally: MirageTally): Finding | null {
  const { pairs, identical, counted, examples } = tally;
  const share = identical / pairs;
  const isGreedy = temperature === 0;
  const least = isGreedy ? thresholds.greedySameShareMin : thresholds.sampledSameShareMin;
  if (pairs < thresholds.pairsMin || share < least) return null;
  const received = counted > 0 ? "the server counted the hints' tokens" : "the server tells no tokens";
  return {
    detector: "mirage-unseen",
    severity: isGreedy ? "info" : "warning",
    model: alias,
    condition: "mirage on and off",
    observed: share,
    expected: isGreedy ? null : 0,
    n: pairs,
    message: `${outOf(identical, pairs)} answers are word for word the same with and without the mirage; ${received}`,
    advice: isGreedy
      ? "at temperature 0 this is a model that does not heed the hints; a few trials at a higher temperature tell it from a cache"
      : "replies are sampled, so a cache is likely: switch it off and run the cells again with --fresh",
    examples,
  };
}
