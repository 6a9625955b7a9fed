import type { ModelFacts, SweepAggregates } from "./aggregates.ts";
import { mergeBaselines } from "./baselines.ts";
import type { Finding } from "./finding.ts";
import { thresholds } from "./thresholds.ts";
import { countOf, outOf, sumOf } from "./wording.ts";

/** The same reply text for different mazes, or for every repeat of a cell: a cache, or a model that does not look. */
export function findIdenticalAnswers({ models, answers, repeats }: SweepAggregates): readonly Finding[] {
  const acrossMazes = models.flatMap((model) => findSharedTexts(model, answers));
  const acrossRepeats = models.flatMap((model) => findCopiedRepeats(model, repeats));
  return [
    ...mergeBaselines(
      models,
      acrossMazes,
      "answer different mazes with the same text: built-in solvers that do so by design",
    ),
    ...mergeBaselines(models, acrossRepeats, "give the same text in every repeat: built-in solvers draw by seed"),
  ];
}

function findSharedTexts({ alias }: ModelFacts, answers: SweepAggregates["answers"]): readonly Finding[] {
  const ofModel = answers.filter((tally) => tally.alias === alias);
  const n = sumOf(ofModel, (tally) => tally.answers);
  const shared = sumOf(ofModel, (tally) => tally.shared);
  const widest = ofModel.toSorted((a, b) => b.largest - a.largest)[0];
  if (widest === undefined || widest.largest < thresholds.sameTextMazesMin) return [];
  if (shared / n < thresholds.sameTextShareMin) return [];
  return [
    {
      detector: "identical-answers",
      severity: "warning",
      model: alias,
      condition: ofModel.length === 1 ? `size ${widest.size}` : null,
      observed: shared / n,
      expected: 0,
      n,
      message: `${outOf(shared, n)} answers have word for word the text of another maze's, ${countOf(widest.largest)} mazes one and the same (size ${widest.size})`,
      advice:
        "compare the two trials named in the JSON; a cache or proxy that ignores the prompt has to be switched off and the cells run again with --fresh; else the model does not look at the maze",
      examples: widest.examples,
    } satisfies Finding,
  ];
}

function findCopiedRepeats(
  { alias, temperature }: ModelFacts,
  repeats: SweepAggregates["repeats"],
): readonly Finding[] {
  const tally = repeats.find((each) => each.alias === alias);
  if (tally === undefined || tally.sets < thresholds.pairsMin) return [];
  const share = tally.identical / tally.sets;
  const isGreedy = temperature === 0;
  if (share < (isGreedy ? thresholds.greedySameShareMin : thresholds.sampledSameShareMin)) return [];
  return [
    {
      detector: "identical-answers",
      severity: isGreedy ? "info" : "warning",
      model: alias,
      condition: "repeats",
      observed: share,
      expected: isGreedy ? 1 : 0,
      n: tally.sets,
      message: `in ${outOf(tally.identical, tally.sets)} cells all repeats are word for word the same`,
      advice: isGreedy
        ? "at temperature 0 repeats add nothing: use one, or a temperature above 0"
        : "replies are sampled, so a cache answers in the model's place: switch it off, and run the repeats again with --fresh",
      examples: tally.examples,
    } satisfies Finding,
  ];
}
