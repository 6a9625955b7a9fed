import type { Judged, Level, MazeFacts } from "./judged.ts";
import { foldLookAlikes, makeVisible } from "./text-forms.ts";

/** What the old way of scoring says. */
export interface HeuristicVerdict {
  readonly level: Level;
  readonly reasoning: string;
  /** Distinct terms of the criterion that the response holds, in the criterion's order; for a maze the signals that counted. */
  readonly termsFound: readonly string[];
}

/**
 * The heuristic that the judge replaces, kept for comparison and as a visible fallback. It can be gamed, and is meant to be
 * shown so: for a general scenario it counts distinct terms (0: L1; 1 or 2: L2; 3 or more: L3), so a list of keywords is L3.
 * For a maze trial it climbs the ladder of signals that the walk confirms: none L1; a dead end, or a loop with a retreat, L2;
 * a change of strategy with a real change of route L3.
 *
 * `terms` replaces the terms taken from `expectedL3`. SOURCE: judge specification; seed, section 1.
 */
export function heuristicLevel(judged: Judged, options: { readonly terms?: readonly string[] } = {}): HeuristicVerdict {
  if (judged.facts !== null) return climbLadder(judged.facts);
  const text = matchForm(judged.response);
  const words = new Set(text.match(/[\p{L}\p{N}]+/gu) ?? []);
  const terms = options.terms ?? termsOf(judged.scenario.expectedL3);
  const found = [...new Set(terms)].filter((term) => holds(matchForm(term), text, words));
  const level = found.length === 0 ? 1 : found.length < 3 ? 2 : 3;
  const listed = found.length === 0 ? "" : ` (${found.slice(0, 10).join(", ")}${found.length > 10 ? ", …" : ""})`;
  return { level, reasoning: `${found.length} terms of the criterion found${listed}.`, termsFound: found };
}

function climbLadder(facts: MazeFacts): HeuristicVerdict {
  const signals = [
    ...(facts.trueDeadEndClaims > 0 ? ["dead end"] : []),
    ...(facts.trueLoopClaims > 0 && facts.backtracks > 0 ? ["loop with retreat"] : []),
    ...(facts.trueStrategyChanges > 0 ? ["change of strategy"] : []),
  ];
  const level = facts.trueStrategyChanges > 0 ? 3 : signals.length > 0 ? 2 : 1;
  const reasoning =
    signals.length === 0 ? "The walk confirms no sign of recognition." : `The walk confirms: ${signals.join(", ")}.`;
  return { level, reasoning, termsFound: signals };
}

/** A term of Latin letters or digits counts as a whole word; one in another script may carry an ending. */
function holds(term: string, text: string, words: ReadonlySet<string>): boolean {
  if (term === "") return false;
  return /^[a-z0-9]+$/.test(term) ? words.has(term) : text.includes(term);
}

function matchForm(text: string): string {
  return foldLookAlikes(makeVisible(text).text).text.toLowerCase().trim();
}

const stopWords = new Set(
  "the and for with that this from into not are was were has have its own then than which what when where why how does did but must should would could can may will only also each any all one two more less such very there their they them these those over under between about after before while being been because other another level answer response 것 수 등 및 그 이 저 때 또는 그리고 하지만 있다 없다 한다 된다 하고 있는 없는 하는 되는 응답 답변 기준".split(
    " ",
  ),
);

/** Endings that Korean hangs on a noun; cut once, longest first, where two signs stay. */
const particles =
  /(?<=[가-힣A-Za-z0-9]{2})(?:으로부터|에서는|으로서|으로써|이라는|에게서|까지|부터|에서|에게|으로|라는|처럼|보다|마다|이나|은|는|이|가|을|를|의|에|로|와|과|도|만|며)$/;
const hanStops = /[的了和与在是把被对从到为及或并而且就也都不能会要有这那其之用以使让它他她们个]/;

/** The terms of a criterion: words of three letters or more, Korean nouns without their particles, runs of Han signs. */
function termsOf(criterion: string): readonly string[] {
  const terms = new Set<string>();
  for (const word of makeVisible(criterion).text.match(/[\p{L}\p{N}]+/gu) ?? []) {
    const isHan = /^\p{Script=Han}+$/u.test(word);
    const parts = isHan
      ? word.split(hanStops).flatMap((run) => run.match(/.{2,4}/gu) ?? [])
      : [word.replace(particles, "")];
    for (const part of parts) {
      const term = part.toLowerCase();
      const isLong = /[^\u0000-\u02AF]/.test(term) ? term.length >= 2 : term.length >= 3;
      if (isLong && !stopWords.has(term) && !/^\d+$/.test(term)) terms.add(term);
    }
  }
  return [...terms];
}
