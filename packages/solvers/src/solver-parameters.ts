import type { SolverName } from "./solver-names.ts";

/** A number that a sweep may set for a solver. */
export interface SolverParameter {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly default: number;
  /** True where only whole numbers make sense. */
  readonly integer: boolean;
  /** What it does, in one plain sentence. */
  readonly meaning: string;
}

/** Parameters by name, as they stand in a request. */
export type Parameters = Readonly<Record<string, number | string | boolean>>;

/** Parameters of every solver, which the provider applies around the answer: they never change it. */
export const commonParameters: readonly SolverParameter[] = [
  {
    name: "latencyMs",
    min: 0,
    max: 600_000,
    default: 0,
    integer: true,
    meaning: "How long an answer takes, in milliseconds.",
  },
  rate("failureRate", 0, "Share of requests that fail as a server error would."),
  rate("truncationRate", 0, "Share of answers that are cut off as at a token limit."),
];

const ownParameters: Readonly<Partial<Record<SolverName, readonly SolverParameter[]>>> = {
  "dfs-forgetful": [rate("forgetRate", 0.9, "Chance that a dead end wipes the memory of all branches seen.")],
  "random-walk": [
    {
      name: "attemptBudget",
      min: 0,
      max: 20_000,
      default: 0,
      integer: true,
      meaning: "Moves before it gives up; 0 means 2·size², at most what fits the token limit.",
    },
  ],
  "mirage-prone": [rate("trapRate", 0.8, "Chance that a tempting hint is followed.")],
  overconfident: [rate("wallRate", 0.3, "Chance of a step through a wall that stands on the side of EXIT.")],
  "error-aware": [rate("bumpRate", 0.3, "Chance of bumping into a wall once its confidence has recovered.")],
};

/** The parameters that a solver takes, its own first, then {@link commonParameters}. */
export function solverParameters(name: SolverName): readonly SolverParameter[] {
  return [...(ownParameters[name] ?? []), ...commonParameters];
}

/**
 * The value of a solver's own parameter in a request: its default where it is not a number, brought into its range.
 * A spec is checked before it gets here; this keeps a request from elsewhere harmless.
 */
export function parameterOf(name: SolverName, parameter: string, given: Parameters): number {
  const known = ownParameters[name]?.find((one) => one.name === parameter);
  if (known === undefined) return 0;
  const value = given[parameter];
  if (typeof value !== "number" || !Number.isFinite(value)) return known.default;
  const bounded = Math.min(known.max, Math.max(known.min, value));
  return known.integer ? Math.round(bounded) : bounded;
}

function rate(name: string, fallback: number, meaning: string): SolverParameter {
  return { name, min: 0, max: 1, default: fallback, integer: false, meaning };
}
