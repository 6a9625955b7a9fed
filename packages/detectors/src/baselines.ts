import type { ModelFacts } from "./aggregates.ts";
import type { Finding } from "./finding.ts";
import { listed } from "./wording.ts";

/**
 * Puts what was found of built-in solvers into one piece of information, since they do by design what would be a fault
 * in a model; other findings stay as they are.
 */
export function mergeBaselines(
  models: readonly ModelFacts[],
  findings: readonly Finding[],
  message: string,
): readonly Finding[] {
  const baselines = new Set(models.filter(({ isBaseline }) => isBaseline).map(({ alias }) => alias));
  const ofBaselines = findings.filter(({ model }) => model !== null && baselines.has(model));
  const [first] = ofBaselines;
  const rest = findings.filter((finding) => !ofBaselines.includes(finding));
  if (first === undefined) return rest;
  return [
    ...rest,
    {
      detector: first.detector,
      severity: "info",
      model: null,
      condition: null,
      observed: ofBaselines.length,
      expected: null,
      n: baselines.size,
      message: `${listed(ofBaselines.map(({ model }) => model ?? ""))} ${message}`,
      advice: "nothing to do",
      examples: [],
    },
  ];
}
