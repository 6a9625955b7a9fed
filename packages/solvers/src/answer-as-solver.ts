import { canonicalJson, createRandom } from "@hallumaze/foundation";

import { keyword, phantom, pump, raster, silent, tail, templateEcho, type TextSolver } from "./cheating-solvers.ts";
import { calibrated, errorAware, overconfident } from "./doubting-solvers.ts";
import { dfsForgetful, dfsHonest, greedySe, randomWalk, wallFollower } from "./explorers.ts";
import { hintDeaf, hintTaker } from "./hinted-solvers.ts";
import { type Message, readTask } from "./read-task.ts";
import { mirageProne, oracle } from "./route-solvers.ts";
import type { SolverName } from "./solver-names.ts";
import { commonParameters, parameterOf, type Parameters } from "./solver-parameters.ts";
import type { Solver } from "./solver.ts";
import { type Answer, cutToFit, writeLog } from "./write-log.ts";

/** What a solver is asked: a conversation and the limits of the answer. */
export interface SolverRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  /** 0-based repeat of the cell: another repeat is another draw. */
  readonly repeat: number;
  readonly maxTokens: number;
  readonly params: Parameters;
}

const solvers: Readonly<Record<SolverName, { readonly log: Solver } | { readonly text: TextSolver }>> = {
  oracle: { log: oracle },
  "wall-follower": { log: wallFollower },
  "dfs-honest": { log: dfsHonest },
  "dfs-forgetful": { log: dfsForgetful },
  "greedy-se": { log: greedySe },
  "random-walk": { log: randomWalk },
  "mirage-prone": { log: mirageProne },
  overconfident: { log: overconfident },
  calibrated: { log: calibrated },
  "error-aware": { log: errorAware },
  "hint-taker": { log: hintTaker },
  "hint-deaf": { log: hintDeaf },
  keyword: { text: keyword },
  tail: { text: tail },
  phantom: { log: phantom },
  silent: { text: silent },
  "template-echo": { text: templateEcho },
  raster: { log: raster },
  pump: { log: pump },
};

/**
 * Answers a conversation as a baseline agent, from its text alone and in its language and format.
 *
 * The same solver, conversation, own parameters and repeat give the same answer; `latencyMs`, `failureRate` and
 * `truncationRate` do not enter it. `finishReason` is `length` where the answer had to be cut to `maxTokens` (estimated).
 * A conversation without a whole maze gets one sentence without a walk. Never throws. SOURCE: spec section 8.
 */
export function answerAsSolver(name: SolverName, request: SolverRequest): Answer {
  const { messages, maxTokens, params } = request;
  const task = readTask(messages);
  const solver = solvers[name];
  if (task === null) return cutToFit("There is no maze in this prompt.", maxTokens);
  if ("text" in solver) return cutToFit(solver.text(task), maxTokens);
  const log = solver.log(task, {
    random: createRandom(seedText(name, request)),
    parameter: (parameter) => parameterOf(name, parameter, params),
    maxTokens,
  });
  return writeLog(log, { language: task.language, asksConfidence: task.asksConfidence, maxTokens });
}

function seedText(name: SolverName, { system, messages, params, repeat }: SolverRequest): string {
  const around = new Set(commonParameters.map((parameter) => parameter.name));
  const own = Object.fromEntries(
    Object.entries(params)
      .filter(([parameter]) => !around.has(parameter))
      .map(([parameter, value]) => [parameter, String(value)]),
  );
  const said = messages.map(({ role, content }) => ({ role, content }));
  return canonicalJson({ name, system, messages: said, params: own, repeat });
}
