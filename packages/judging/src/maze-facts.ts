import { readConversation } from "@hallumaze/ariadne";
import { conversationOf, mazeOf } from "@hallumaze/engine";
import type { Judged, MazeFacts } from "@hallumaze/judge";
import { conversationText, mazeScenario } from "@hallumaze/judge";
import { openDirections, sameCell } from "@hallumaze/maze";
import type { Walk } from "@hallumaze/metrics";
import { buildPrompt, type Claim, type FinishReason } from "@hallumaze/protocol";
import type { CellPlan } from "@hallumaze/sweep";

import type { JudgedSource } from "./ports.ts";

/** What a judge is given of a trial or of a response: never who answered, nor under which condition. */
export function judgedOf(source: JudgedSource): Judged {
  if (source.kind === "response") {
    return { scenario: source.scenario, response: source.response, truncated: false, facts: null };
  }
  const { plan, replies } = source;
  const maze = mazeOf(plan);
  const { language, mirage, confidence } = plan;
  const prompt = buildPrompt({ maze, mirage, language, confidence });
  return {
    scenario: mazeScenario({ size: plan.size, language, promptText: prompt.user }),
    response: conversationText(replies.map(({ text }) => text)),
    truncated: replies.at(-1)?.finishReason === "length",
    facts: mazeFacts(plan, replies),
  };
}

/** What the walk of a trial verified. */
export function mazeFacts(
  plan: CellPlan,
  replies: readonly { readonly text: string; readonly finishReason: string | null }[],
): MazeFacts {
  const maze = mazeOf(plan);
  const answers = replies.map(({ text, finishReason }) => ({
    text,
    finishReason: finishReason as FinishReason | null,
  }));
  const { reading, walk } = readConversation(conversationOf(plan, maze, false), answers, "strict");
  const exit = [maze.size - 1, maze.size - 1] as const;
  const reached = new Set(walk.steps.flatMap(({ grounded, to }) => (grounded && to !== null ? [to.join()] : [])));
  const isTrueDeadEnd = ({ kind, at, form }: Claim): boolean =>
    kind === "deadEnd" &&
    form === "protocol" &&
    at !== null &&
    reached.has(at.join()) &&
    !sameCell(at, exit) &&
    openDirections(maze, at).length === 1;
  return {
    escaped: walk.sr === 1,
    attempts: walk.steps.filter(({ kind }) => kind !== "afterExit").length,
    illegalMoves: walk.hc,
    backtracks: walk.bt,
    loopEvents: walk.loopEvents,
    wrongBranches: walk.branchEntries.length,
    trueDeadEndClaims: reading.claims.filter(isTrueDeadEnd).length,
    trueLoopClaims: walk.lt,
    trueStrategyChanges: reading.claims.filter((claim) => isRealChange(claim, walk)).length,
    falseClaims: walk.falseClaims,
  };
}

/**
 * A STRATEGY_CHANGE line is true where something had gone wrong in the stretch before it (an illegal move, a repeated
 * edge, a retreat), and the next legal moves come to a cell that the log had not reached.
 */
function isRealChange({ kind, form, afterAttempt }: Claim, { steps }: Walk): boolean {
  if (kind !== "strategyChange" || form !== "protocol") return false;
  const before = steps.slice(0, afterAttempt);
  const wentWrong = before
    .slice(-recentAttempts)
    .some(
      ({ kind: move, repeatsEdge, relocation }) =>
        move === "wall" || move === "outOfGrid" || repeatsEdge || relocation !== null,
    );
  const known = new Set(before.flatMap(({ to }) => (to === null ? [] : [to.join()])));
  const turned = isRetreat(before);
  const next = steps.slice(afterAttempt, afterAttempt + recentAttempts);
  return (
    (wentWrong || turned) &&
    next.some(({ kind: move, grounded, to }) => move === "ok" && grounded && to !== null && !known.has(to.join()))
  );
}

/** How far a change of strategy looks back and ahead, in attempts. */
const recentAttempts = 12;

/** Whether the last moves led back over a cell that they had come from. */
function isRetreat(steps: Walk["steps"]): boolean {
  const cells = steps.slice(-recentAttempts).flatMap(({ to }) => (to === null ? [] : [to.join()]));
  return new Set(cells).size < cells.length;
}
