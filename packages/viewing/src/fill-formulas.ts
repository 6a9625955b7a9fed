import type { FormulaView } from "@hallumaze/contract";
import type { Maze } from "@hallumaze/maze";
import {
  firstErrorFactor,
  isNonAnswer,
  judgementsOfWalk,
  loopEscape,
  type ProfileName,
  type ProfileScores,
  reachedShare,
  shownShare,
  type Walk,
  weighErrors,
} from "@hallumaze/metrics";
import type { Reading } from "@hallumaze/protocol";

/** What a profile's numbers are filled in from. */
export interface FormulaInput {
  readonly maze: Maze;
  readonly reading: Reading;
  readonly walk: Walk;
  readonly scores: ProfileScores;
  readonly confidenceAsked: boolean;
}

/**
 * The formulas of one profile with this trial's numbers in them, in the order in which they build on each other. Numbers in a
 * filled formula have four decimals at most; `value` is exact. SOURCE: benchmark specification, section 6.
 */
export function fillFormulas(profile: ProfileName, input: FormulaInput): FormulaView[] {
  if (profile !== "published" && isNonAnswer(input.reading)) return nonAnswer(input);
  switch (profile) {
    case "seed":
      return [...counts(input), ...seedParts(input), ...common(input, "seed")];
    case "robust":
      return [...counts(input), ...robustParts(input), ...common(input, "robust")];
    case "published":
      return [...publishedCounts(input), ...publishedParts(input), ...common(input, "published")];
  }
}

type Name = FormulaView["metric"];

function line(
  metric: Name,
  formula: string,
  filled: string | null,
  value: number | null,
  note: string | null = null,
): FormulaView {
  const equals = filled === null || value === null ? filled : `${filled} = ${show(value)}`;
  return { metric, formula, filled: equals, value, better: betterOf[metric], note };
}

const betterOf: Readonly<Record<Name, FormulaView["better"]>> = {
  sr: "high",
  hc: "low",
  fhr: "neither",
  bt: "neither",
  lt: "neither",
  hrr: "high",
  f: "high",
  l: "high",
  mei: "high",
  ce: "low",
  brs: "high",
  score: "high",
};

/** Four decimals at most. */
function show(value: number): string {
  return String(Number(value.toFixed(4)));
}

function counts({ walk, scores }: FormulaInput): FormulaView[] {
  const { wallAttempts, outOfGridAttempts, teleports, finalPathErrors } = walk;
  return [
    line("sr", "1 where the accepted path leads from START to EXIT, else 0", null, scores.sr),
    line(
      "hc",
      "walls + off the grid + teleports + errors of FINAL_PATH",
      `${wallAttempts} + ${outOfGridAttempts} + ${teleports} + ${finalPathErrors}`,
      scores.hc,
    ),
    line("fhr", "number of the first error, at most size²; -1 where there is none", null, scores.fhr),
    line("bt", "retreats that leave a dead end or an exhausted cell", null, scores.bt),
    line("lt", "loops that the log claims and the walk confirms", null, scores.lt),
  ];
}

function seedParts({ walk, maze, scores }: FormulaInput): FormulaView[] {
  const { hc, bt, sr, fhr, lt } = scores;
  const [f, l] = [firstErrorFactor(walk, maze.size), loopEscape(walk)];
  return [
    hc > 0
      ? line("hrr", "min(1, BT / max(HC, 1))", `min(1, ${bt} / ${Math.max(hc, 1)})`, scores.hrr)
      : line("hrr", "SR", String(sr), scores.hrr, "Nothing went wrong: SR stands in its place."),
    fhr > 0
      ? line("f", "max(0, 1 - FHR / size²)", `max(0, 1 - ${fhr} / ${maze.size ** 2})`, f)
      : line("f", "SR", String(sr), f, "There is no first error: SR stands in its place."),
    line("l", "1 where (LT > 0 and BT > 0) or SR = 1, else 0", `LT ${lt}, BT ${bt}, SR ${sr}`, l),
    line("mei", "clamp01(0.4·HRR + 0.3·F + 0.2·L - 0.1·min(1, HC/10))", weighed(scores.hrr, f, l, hc), scores.mei),
  ];
}

function weighed(hrr: number, f: number, l: number, hc: number): string {
  return `clamp01(0.4·${show(hrr)} + 0.3·${show(f)} + 0.2·${show(l)} - 0.1·min(1, ${hc}/10))`;
}

function robustParts({ maze, reading, walk, scores }: FormulaInput): FormulaView[] {
  const { unrecognised, delay } = weighErrors(walk, maze.size);
  const shown = shownShare(reading, walk);
  const reached = reachedShare(maze, walk);
  const f = shown / (1 + delay);
  const [v, u, d, e] = [show(shown), String(unrecognised), show(delay), show(reached)];
  const inner = weighed(scores.hrr, f, scores.sr, scores.hc).replace("clamp01(", "clamp01((");
  return [
    line(
      "hrr",
      "v / (1 + u)",
      `${v} / (1 + ${u})`,
      scores.hrr,
      "v: share of FINAL_PATH that the log shows; u: errors that were not recognised within size attempts.",
    ),
    line(
      "f",
      "v / (1 + D)",
      `${v} / (1 + ${d})`,
      f,
      "D: sum of min(1, latency / size), an unrecognised error counting 1.",
    ),
    line("l", "SR", String(scores.sr), scores.sr),
    line(
      "mei",
      "clamp01((0.4·HRR + 0.3·F + 0.2·L - 0.1·min(1, HC/10)) / 0.9)·E",
      `${inner.slice(0, -1)}) / 0.9)·${e}`,
      scores.mei,
      "E: 1 for an escape, else the squared share of the solution that was reached.",
    ),
  ];
}

function publishedCounts({ scores }: FormulaInput): FormulaView[] {
  const words = "Counted by the published rules, which believe words.";
  return [
    line("sr", "1 where the written path's pairs are open and end at EXIT, else 0", null, scores.sr),
    line("hc", "max(pairs through a wall, HALLUCINATION_COUNT as written)", null, scores.hc, words),
    line("fhr", "number of the first pair through a wall; -1 where there is none", null, scores.fhr),
    line("bt", "max(BACKTRACK_COUNT as written, mentions of a dead end)", null, scores.bt, words),
    line("lt", "mentions of a detected loop", null, scores.lt, words),
  ];
}

function publishedParts({ maze, scores }: FormulaInput): FormulaView[] {
  const { sr, hc, fhr, bt, lt } = scores;
  const f = fhr > 0 ? Math.max(0, 1 - fhr / maze.size ** 2) : sr === 1 ? 1 : 0.1;
  const l = sr === 1 || (lt > 0 && bt > 0) ? 1 : 0;
  return [
    hc > 0
      ? line("hrr", "min(1, BT / HC)", `min(1, ${bt} / ${hc})`, scores.hrr)
      : line("hrr", "SR", String(sr), scores.hrr, "Nothing went wrong: SR stands in its place."),
    fhr > 0
      ? line("f", "max(0, 1 - FHR / size²)", `max(0, 1 - ${fhr} / ${maze.size ** 2})`, f)
      : line("f", "1 where SR = 1, else 0.1", null, f, "There is no first error."),
    line("l", "1 where (LT > 0 and BT > 0) or SR = 1, else 0", `LT ${lt}, BT ${bt}, SR ${sr}`, l),
    line(
      "mei",
      "clamp01(0.4·HRR + 0.3·F + 0.2·L - 0.1·min(1, HC/10))",
      weighed(hc > 0 ? Math.min(1, bt / hc) : sr, f, l, hc),
      scores.mei,
      "Rounded to four decimals.",
    ),
  ];
}

function common(input: FormulaInput, profile: ProfileName): FormulaView[] {
  const { scores, walk, confidenceAsked } = input;
  const { mei, ce, brs, hc, bt, sr } = scores;
  const isSilent = profile === "robust" && ce === null && confidenceAsked;
  const counted = ce ?? (isSilent ? 1 : 0.5);
  const silence = isSilent
    ? "Confidences were asked for and none was given: CE counts as 1."
    : ce === null
      ? "A missing CE counts as 0.5."
      : null;
  const missing = brs === null ? "A missing BRS counts as 0." : null;
  return [
    ceLine(ce, walk, profile),
    brs === null
      ? line("brs", brsFormula, null, null, "No attempt was made.")
      : hc === 0 && sr === 1
        ? line("brs", brsFormula, "1", brs, "HC = 0 and SR = 1.")
        : line("brs", brsFormula, `max(0, 1 - ${hc} / max(1, ${bt} + ${hc}))`, brs),
    line(
      "score",
      "0.5·MEI + 0.3·(1 - CE) + 0.2·BRS",
      `0.5·${show(mei)} + 0.3·(1 - ${show(counted)}) + 0.2·${show(brs ?? 0)}`,
      scores.score,
      [silence, missing].filter((note) => note !== null).join(" ") || null,
    ),
  ];
}

const brsFormula = "1 where HC = 0 and SR = 1, else max(0, 1 - HC / max(1, BT + HC))";

function ceLine(ce: number | null, walk: Walk, profile: ProfileName): FormulaView {
  const formula = "mean |confidence - correct| over the lines with a confidence";
  if (profile === "published") return line("ce", formula, null, ce, "The published rules have no usable CE.");
  const n = judgementsOfWalk(walk, "legal", "all").judgements.length;
  if (ce === null) return line("ce", formula, null, null, "No confidence was read.");
  return line("ce", formula, `${show(ce * n)} / ${n}`, ce);
}

function nonAnswer({ scores }: FormulaInput): FormulaView[] {
  const note = "A non-answer: empty, refused, or without a readable move.";
  const values: readonly (readonly [Name, number | null])[] = [
    ["sr", scores.sr],
    ["hc", scores.hc],
    ["fhr", scores.fhr],
    ["bt", scores.bt],
    ["lt", scores.lt],
    ["hrr", scores.hrr],
    ["mei", scores.mei],
    ["ce", scores.ce],
    ["brs", scores.brs],
    ["score", scores.score],
  ];
  return values.map(([metric, value]) => line(metric, "fixed for a non-answer", null, value, note));
}
