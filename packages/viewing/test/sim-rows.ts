import type { SolverName } from "@hallumaze/solvers";
import type { TrialSource } from "@hallumaze/trials";

import { simDossier } from "./sim-dossier.ts";

/** The rows of a built-in solver over seeds 1 … `mazes`. */
export function simRows(
  mazes: number,
  cell: { readonly solver: SolverName; readonly mirage?: boolean },
): readonly TrialSource[] {
  return Array.from({ length: mazes }, (_, at) => {
    const { alias, plan, state, outcome, scores } = simDossier(cell.solver, {
      seed: at + 1,
      mirage: cell.mirage ?? true,
    });
    return { alias, plan, state, outcome, scores, readingJson: null };
  });
}
