import { confidenceStart } from "./confidence.ts";
import { readMoves } from "./read-moves.ts";
import { readStep, type StepDraft } from "./read-step.ts";
import { scanTokens, type Token } from "./scan-tokens.ts";
import type { Line } from "./split-lines.ts";

/** A line in the move format without a STEP label. */
export interface Unlabelled {
  /**
   * `move`: one move, numbered or with a confidence, so that it can only be a step. `listing`: a cell with several
   * directions, as when the maze is written out; such lines make the others of their shape doubtful.
   */
  readonly kind: "move" | "listing";
  readonly index: number | null;
  readonly draft: StepDraft;
}

const ownNumber = /^(?:(?:move|turn|이동)\s{0,2})?#?(\d{1,6})\s{0,2}[:.)-]\s{0,3}(?=[([{<])/i;

/**
 * Reads `1. (0,0) → [S] | 확신도: 90%`: nothing but a place, an arrow and where it leads, then fields; null for any other
 * line. The caller takes such lines only where no line of the reply has a STEP label: beside a log they are notes.
 */
export function readUnlabelled(line: Line): Unlabelled | null {
  const own = ownNumber.exec(line.text);
  const text = line.text.slice(own?.[0].length ?? 0);
  if (!"([{<".includes(text.charAt(0)) || text.length > 1000) return null;
  const first = text.split("|", 1)[0] ?? "";
  const cut = confidenceStart(first);
  const tokens = scanTokens(cut < 0 ? first : first.slice(0, cut).replace(/[\s(,;[-]+$/, ""), { barePairs: false });
  if (tokens[0]?.kind !== "cell" || !tokens.slice(1, 3).some(isArrow) || !tokens.every(isOfMove)) return null;
  // Three cells are a path, not a move.
  if (tokens.filter((token) => token.kind === "cell").length > 2) return null;
  const { moves, moved } = readMoves(first);
  const [move] = moves;
  if (!moved || move === undefined) return null;
  const draft = readStep(text);
  const index = own?.[1] === undefined ? line.number : Number(own[1]);
  if (moves.length > 1 || move.flags.includes("ambiguousDirection")) return { kind: "listing", index, draft };
  return index === null && draft.confidence === null ? null : { kind: "move", index, draft };
}

function isArrow(token: Token): boolean {
  return token.kind === "separator" || (token.kind === "direction" && token.separates);
}

function isOfMove(token: Token): boolean {
  if (token.kind === "mark") return "[](){},".includes(token.text);
  return token.kind === "cell" || token.kind === "direction" || token.kind === "separator";
}
