export { answerAsSolver, type SolverRequest } from "./answer-as-solver.ts";
export type { Message } from "./read-task.ts";
export { isSolverName, type SolverName, solverNames } from "./solver-names.ts";
export { commonParameters, type Parameters, type SolverParameter, solverParameters } from "./solver-parameters.ts";
export type { Answer } from "./write-log.ts";
