import {
  ablate,
  compareJudge,
  compareLanguages,
  compareModels,
  compareProfiles,
  compareReasoning,
  compareWithHumans,
  describeOutcomes,
  difficultyCurve,
  type ExperimentName,
  type ExperimentResult,
  measureAriadne,
  measureConfidence,
  measureMirage,
  type Warning,
} from "@hallumaze/experiments";
import type { ExperimentOptions } from "@hallumaze/trials";

import type { AnalysisData } from "./gather.ts";

type Experiment = (data: AnalysisData, options: ExperimentOptions) => ExperimentResult;

const experiments: Readonly<Record<ExperimentName, Experiment>> = {
  models: ({ table }, options) => compareModels(table, options),
  outcomes: ({ table }, options) => describeOutcomes(table, options),
  mirage: ({ table }, options) => measureMirage(table, options),
  ariadne: ({ table }, options) => measureAriadne(table, options),
  difficulty: ({ table }, options) => difficultyCurve(table, options),
  confidence: ({ confidences }, options) => measureConfidence(confidences, options),
  ablation: ({ table }, options) => ablate(table, options),
  reasoning: ({ table, reasoning }, options) => compareReasoning(table, { ...options, reasoning }),
  human: ({ table, people, aggregates, errors }, options) =>
    compareWithHumans(table, { people, aggregates, errors }, options),
  language: ({ table }, options) => compareLanguages(table, options),
  judge: ({ table }, options) => compareJudge(table, options),
  profiles: ({ table }, options) => compareProfiles(table, options),
};

/** The experiments in the order of a report. */
export const experimentNames = Object.keys(experiments) as readonly ExperimentName[];

/** What each experiment is called, before it is run. */
export const experimentTitles: Readonly<Record<ExperimentName, string>> = {
  models: "Model comparison",
  outcomes: "Outcomes and coverage",
  mirage: "Linguistic Mirage",
  ariadne: "Ariadne's Thread",
  difficulty: "Difficulty curve",
  confidence: "Confidence and reality",
  ablation: "Ablation",
  reasoning: "Reasoning models against plain ones",
  human: "People and models",
  language: "Korean and English",
  judge: "Judge level against metrics",
  profiles: "Profiles side by side",
};

/** Runs one experiment over gathered data. */
export function runExperiment(name: ExperimentName, data: AnalysisData, options: ExperimentOptions): ExperimentResult {
  const result = experiments[name](name === "human" ? data : withoutPeople(data), options);
  return data.walkStep > 1 && readsWalks.has(name)
    ? { ...result, warnings: [...result.warnings, sampled(data)] }
    : result;
}

/** People belong to the comparison with people: elsewhere their names would be models, and one more pair to correct for each. */
export function withoutPeople(data: AnalysisData): AnalysisData {
  if (data.people.length === 0) return data;
  const { table, people } = data;
  return { ...data, table: { ...table, models: () => table.models().filter((model) => !people.includes(model)) } };
}

const readsWalks: ReadonlySet<ExperimentName> = new Set(["confidence", "human"]);

function sampled({ walkStep, confidences }: AnalysisData): Warning {
  return {
    code: "walks-sampled",
    message:
      `Walks are read of one trial in ${walkStep}, evenly over the sweep (${confidences.length} with confidences): ` +
      "all of them are more than memory should hold. The counts are those of the sample.",
  };
}

/** Whether the data hold what an experiment compares; a report leaves the others out and says why. */
export function whyNot(name: ExperimentName, data: AnalysisData): string | null {
  const models = data.table.models().filter((model) => !data.people.includes(model));
  const conditions = (value: (condition: Conditions) => unknown): number => {
    const seen = new Set<unknown>();
    for (const model of models) for (const { condition } of data.table.ofModel(model)) seen.add(value(condition));
    return seen.size;
  };
  switch (name) {
    case "mirage":
      return conditions(({ mirage }) => mirage) < 2 ? "all trials are of one kind of maze text" : null;
    case "ariadne":
      return conditions(({ group }) => group) < 2 ? "all trials are of one group" : null;
    case "difficulty":
      return conditions(({ size }) => size) < 2 ? "all mazes are of one size" : null;
    case "language":
      return conditions(({ language }) => language) < 2 ? "all prompts are in one language" : null;
    case "confidence":
      return data.confidences.length === 0 ? "no trial asked for a confidence, or its replies are pruned" : null;
    case "reasoning":
      return data.reasoning.length === 0 || data.reasoning.length === models.length
        ? "no model, or every model, told of reasoning tokens; --reasoning names them"
        : null;
    case "human":
      return data.people.length + data.aggregates.length === 0 ? "no record of people was imported" : null;
    case "judge":
      return models.some((model) => data.table.ofModel(model).some((trial) => trial.value("level") !== null))
        ? null
        : "no judge has given a level";
    default:
      return null;
  }
}

type Conditions = ReturnType<AnalysisData["table"]["ofModel"]>[number]["condition"];
