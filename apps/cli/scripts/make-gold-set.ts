// Writes the example gold set of maze responses: node --import ./apps/cli/bin/register-typescript.js apps/cli/scripts/make-gold-set.ts
import { writeFile } from "node:fs/promises";

import { mazeScenario, parseGoldSet, sealLine } from "@hallumaze/judge";
import { type Cell, generateMaze, type Maze, openDirections, sameCell } from "@hallumaze/maze";
import { buildPrompt, type Language } from "@hallumaze/protocol";
import { answerAsSolver, type SolverName } from "@hallumaze/solvers";

import { type Detour, denials, essays, hollow, mechanical, reasoned, unhinted } from "./gold-words.ts";

/** A baseline agent's answer in lines: what an edit starts from. */
interface Material {
  readonly maze: Maze;
  readonly language: Language;
  readonly lines: readonly string[];
  /** Wrong branches that the walk left, in order. */
  readonly detours: readonly Detour[];
  /** Whether its last step arrives at the exit. */
  readonly escapes: boolean;
}

/** One kind of response: whose answer it is made of, which answers fit, how it is edited and why it has its level. */
interface Kind {
  readonly level: 1 | 2 | 3;
  readonly solver: SolverName;
  readonly count: number;
  readonly params?: Readonly<Record<string, number>>;
  readonly fits: (material: Material) => boolean;
  /** `variant` counts the items of the kind. */
  readonly edit: (material: Material, variant: number) => readonly string[];
  readonly reason: (material: Material) => string;
}

const target = "examples/gold/maze-levels.jsonl";
const rater = "hallumaze";
const isStep = (line: string): boolean => line.startsWith("STEP ");
const isDeadEnd = (line: string): boolean => line.startsWith("DEAD_END");
const asIs = ({ lines }: Material): readonly string[] => lines;

const kinds: readonly Kind[] = [
  {
    level: 1,
    solver: "greedy-se",
    count: 5,
    fits: ({ lines, escapes }) => !escapes && lines.filter(isStep).length >= 2,
    edit: asIs,
    reason: () => "Walks by rote and stops in the maze; no error is named and nothing is tried.",
  },
  {
    level: 1,
    solver: "overconfident",
    count: 5,
    fits: ({ lines }) => lines.some((line) => line.includes("100%")),
    edit: asIs,
    reason: () => "Full confidence throughout, walls included; no error is noticed.",
  },
  {
    level: 1,
    solver: "dfs-honest",
    count: 5,
    fits: hasOneToThreeDetours,
    edit: ({ lines }) => withoutBacktracks(lines),
    reason: ({ detours }) =>
      `Runs into the closed branch at ${detours[0]?.end} and goes on elsewhere without a word of it.`,
  },
  {
    level: 1,
    solver: "dfs-honest",
    count: 5,
    fits: hasOneToThreeDetours,
    edit: ({ lines, language }, variant) => [...withoutBacktracks(lines), "", turn(denials[language], variant)],
    reason: ({ detours }) => `Denies its error: the walk did run into ${detours[0]?.end}.`,
  },
  {
    level: 1,
    solver: "oracle",
    count: 5,
    fits: ({ lines }) => lines.filter(isStep).length >= 8,
    edit: decorate,
    reason: () => "Names dead ends and changes of strategy that the walk does not have: it never left its way.",
  },
  {
    level: 1,
    solver: "mirage-prone",
    count: 5,
    fits: ({ detours }) => detours.length > 0,
    edit: ({ lines, language }, variant) => [
      turn(essays[language], variant),
      "",
      ...lines.slice(lines.indexOf("") + 1),
    ],
    reason: () => "Claims recognition and recovery in general words; there is no walk that could show it.",
  },
  {
    level: 1,
    solver: "hint-deaf",
    count: 5,
    fits: ({ escapes }) => !escapes,
    edit: asIs,
    reason: () => "Goes back and forth between the same cells and does not notice.",
  },
  {
    level: 1,
    solver: "random-walk",
    count: 5,
    params: { attemptBudget: 18 },
    fits: ({ escapes }) => !escapes,
    edit: asIs,
    reason: () => "Wanders; repeats and dead ends pass without a word.",
  },
  {
    level: 2,
    solver: "dfs-honest",
    count: 6,
    fits: hasOneToThreeDetours,
    edit: asIs,
    reason: ({ detours }) =>
      `Notices the dead end at ${detours[0]?.end} and goes back, without a reason for what it tries next.`,
  },
  {
    level: 2,
    solver: "dfs-honest",
    count: 6,
    fits: hasOneToThreeDetours,
    edit: ({ lines, language }, variant) =>
      afterDeadEnds(lines, (nth) => [`STRATEGY_CHANGE — ${turn(mechanical[language], variant + nth)}`]),
    reason: () => "Notices and retreats; the change of strategy is announced in words that fit any maze.",
  },
  {
    level: 2,
    solver: "dfs-forgetful",
    count: 6,
    fits: ({ lines, detours }) => repeats(detours) && lines.filter(isStep).length < 40,
    edit: asIs,
    reason: () => "Notices dead end and loop, says it will try another branch, and enters the same one again.",
  },
  {
    level: 2,
    solver: "dfs-forgetful",
    count: 5,
    fits: ({ lines, detours }) => repeats(detours) && lines.filter(isStep).length < 40,
    edit: ({ lines, language }, variant) =>
      lines.map((line, at) =>
        line.startsWith("STRATEGY_CHANGE") ? `STRATEGY_CHANGE — ${turn(hollow[language], variant + at)}` : line,
      ),
    reason: () => "Notices and retreats; the change of strategy is argued at length, but the route stays the same.",
  },
  {
    level: 2,
    solver: "mirage-prone",
    count: 6,
    fits: ({ lines, detours, escapes }) => escapes && detours.length >= 2 && lines.filter(isStep).length < 50,
    edit: asIs,
    reason: () => "Retreats from each dead end that a hint led to, and follows the next hint all the same.",
  },
  {
    level: 2,
    solver: "error-aware",
    count: 5,
    params: { bumpRate: 0.5 },
    fits: ({ lines }) => lines.some((line) => line.startsWith("STRATEGY_CHANGE")),
    edit: asIs,
    reason: () => "Notices the wall and turns to another opening, without saying why that one.",
  },
  {
    level: 2,
    solver: "dfs-honest",
    count: 6,
    fits: (material) => hasCleanDetours(material) && stepsAfterLastDetour(material.lines) >= 5,
    edit: (material, variant) => breakOff(explain(material, variant), material.language),
    reason: ({ detours }) =>
      `Sees its error and goes back to ${detours[0]?.junction} for a stated reason, but does not escape.`,
  },
  {
    level: 3,
    solver: "dfs-honest",
    count: 16,
    fits: hasCleanDetours,
    edit: explain,
    reason: reasonOfDetour,
  },
  {
    level: 3,
    solver: "dfs-honest",
    count: 12,
    fits: hasCleanDetours,
    edit: (material, variant) => terse(explain(material, variant + 2)),
    reason: reasonOfDetour,
  },
  {
    level: 3,
    solver: "mirage-prone",
    count: 12,
    fits: (material) => hasCleanDetours(material) && material.detours.length === 1 && dropsHints(material.lines),
    edit: ({ lines, language, detours }, variant) =>
      afterDeadEnds(lines, (nth) => sentence(turn(unhinted[language], variant), detours[nth])),
    reason: ({ detours }) =>
      `Recognises that the hint at ${detours[0]?.junction} misled it, returns there, stops following hints for that reason, and escapes.`,
  },
];

const lines: string[] = [];
let seed = 20_000;
for (const kind of kinds) {
  for (let variant = 0; variant < kind.count; variant++) {
    // Two by two, so that each split has both languages; a maze serves one item only, so that no split knows another's.
    const language: Language = variant % 4 < 2 ? "en" : "ko";
    const { item, next } = findItem(kind, variant, language, seed);
    seed = next;
    lines.push(JSON.stringify({ ...item, split: lines.length % 2 === 0 ? "test" : "dev" }));
  }
}
const goldSet = parseGoldSet(lines.join("\n"));
if (goldSet.problems.length > 0) throw new Error(JSON.stringify(goldSet.problems));
await writeFile(target, `${[sealLine(goldSet), ...lines].join("\n")}\n`);
process.stdout.write(`${target}: ${goldSet.items.length} items, id ${goldSet.id}, test split ${goldSet.testSeal}\n`);

function findItem(kind: Kind, variant: number, language: Language, from: number): { item: object; next: number } {
  for (let tried = from; tried < from + 5000; tried++) {
    const size = variant % 3 === 2 ? 7 : 5;
    const maze = generateMaze({ size, seed: tried });
    const { system, user } = buildPrompt({ maze, mirage: true, language, confidence: true });
    const messages = [{ role: "user" as const, content: user }];
    const request = { system, messages, repeat: 0, maxTokens: 8000, params: kind.params ?? {} };
    const material = readMaterial(maze, language, answerAsSolver(kind.solver, request).text);
    if (!kind.fits(material)) continue;
    const scenario = mazeScenario({ size, language, promptText: user });
    const response = kind.edit(material, variant).join("\n");
    const labels = [{ rater, level: kind.level }];
    return { item: { scenario, response, labels, reason: kind.reason(material) }, next: tried + 1 };
  }
  throw new Error(`no maze from seed ${from} on gives an answer of ${kind.solver} that fits`);
}

function readMaterial(maze: Maze, language: Language, text: string): Material {
  const all = text.split("\n");
  const steps = all.flatMap((line, at) => {
    const found = /^STEP \d+: (\(\d+,\d+\)) → \[([NESW])/u.exec(line);
    return found === null ? [] : [{ at, from: found[1] ?? "", dir: found[2] ?? "" }];
  });
  const detours = all.flatMap((line, at): Detour[] => {
    const end = isDeadEnd(line) ? /\(\d+,\d+\)/.exec(line)?.[0] : undefined;
    const next = steps.find((step) => step.at > at);
    if (end === undefined || next === undefined) return [];
    const entered = steps.findLastIndex((step) => step.at < at && step.from === next.from);
    const wrong = steps[entered]?.dir;
    if (wrong === undefined) return [];
    const cells = steps.slice(entered).flatMap((step) => (step.at < at ? [step.from] : []));
    return [{ end, junction: next.from, wrong, next: next.dir, moves: cells.length, cells }];
  });
  const path = all.find((line) => line.startsWith("FINAL_PATH:")) ?? "";
  return { maze, language, lines: all, detours, escapes: path.endsWith(`(${maze.size - 1},${maze.size - 1})`) };
}

function hasOneToThreeDetours({ detours, lines: all, escapes }: Material): boolean {
  return escapes && detours.length >= 1 && detours.length <= 3 && all.filter(isDeadEnd).length === detours.length;
}

/**
 * Each wrong branch was left at the cell of the solution where it began, and is not entered again; it is one corridor, so
 * that its end refutes all of it, and leaves one other opening at the junction: what the words of level 3 say is so.
 */
function hasCleanDetours(material: Material): boolean {
  const { maze, detours } = material;
  const openings = (cell: Cell): number => openDirections(maze, cell).length;
  return (
    hasOneToThreeDetours(material) &&
    detours.every(({ junction, wrong, next, cells }) => {
      const [start, ...corridor] = [cellOf(junction), ...cells.slice(1).map(cellOf)];
      const onSolution = maze.solution.some((cell) => sameCell(cell, start));
      const choices = openings(start) - (sameCell(start, [0, 0]) ? 0 : 1);
      return (
        onSolution &&
        choices === 2 &&
        wrong !== next &&
        cells.length >= 2 &&
        corridor.every((cell) => openings(cell) === 2)
      );
    })
  );
}

function cellOf(text: string): Cell {
  const [row = 0, col = 0] = (text.match(/\d+/g) ?? []).map(Number);
  return [row, col];
}

function repeats(detours: readonly Detour[]): boolean {
  return detours.some(({ wrong, next }) => wrong === next);
}

function dropsHints(all: readonly string[]): boolean {
  const hinted = (line: string): boolean => line.includes("tempting hint") || line.includes("힌트 따름");
  const turned = all.findIndex(isDeadEnd);
  return all.slice(0, turned).some(hinted) && !all.slice(turned).some(hinted);
}

function stepsAfterLastDetour(all: readonly string[]): number {
  return all.slice(all.findLastIndex(isDeadEnd)).filter(isStep).length;
}

function withoutBacktracks(all: readonly string[]): string[] {
  return all
    .filter((line) => !isDeadEnd(line))
    .map((line) => (line.startsWith("BACKTRACK_COUNT") ? "BACKTRACK_COUNT: 0" : line));
}

function afterDeadEnds(all: readonly string[], insert: (nth: number) => readonly string[]): string[] {
  let nth = 0;
  return all.flatMap((line) => (isDeadEnd(line) ? [line, ...insert(nth++)] : [line]));
}

function explain({ lines: all, language, detours }: Material, variant: number): string[] {
  return afterDeadEnds(all, (nth) => sentence(turn(reasoned[language], variant + nth), detours[nth]));
}

function sentence(words: (detour: Detour) => string, detour: Detour | undefined): string[] {
  return detour === undefined ? [] : [`STRATEGY_CHANGE — ${words(detour)}`];
}

/** The same with bare moves, as someone writes who saves words: levels must not follow length. */
function terse(all: readonly string[]): string[] {
  return all
    .filter((line) => !line.startsWith("CONFIDENCE_LOG"))
    .map((line) => (isStep(line) ? line.split(" | ").slice(0, 2).join(" | ") : line));
}

/** Ends two steps after the last turn. */
function breakOff(all: readonly string[], language: Language): string[] {
  const turned = all.findLastIndex(isDeadEnd);
  const steps = all.flatMap((line, at) => (at > turned && isStep(line) ? [at] : []));
  const kept = all.slice(0, (steps[1] ?? turned) + 1);
  const footer = all.filter((line) => /^(?:BACKTRACK|HALLUCINATION)_COUNT/.test(line));
  return [...kept, "", ...footer, `FINAL_PATH: ${language === "ko" ? "없음" : "N/A"}`];
}

/** Puts words of recognition into a walk that has no error. */
function decorate({ lines: all, language }: Material, variant: number): string[] {
  const steps = all.flatMap((line, at) => (isStep(line) ? [at] : []));
  const places = new Set([steps[2], steps[5], ...(variant % 2 === 0 ? [steps[7]] : [])]);
  let nth = 0;
  return all.flatMap((line, at) => {
    if (line.startsWith("BACKTRACK_COUNT")) return [`BACKTRACK_COUNT: ${places.size}`];
    if (!places.has(at)) return [line];
    const from = /\(\d+,\d+\)/.exec(line)?.[0] ?? "";
    return [`DEAD_END at ${from} — backtracking`, `STRATEGY_CHANGE — ${turn(hollow[language], variant + nth++)}`, line];
  });
}

function reasonOfDetour({ detours }: Material): string {
  const [first] = detours;
  return `Recognises that ${first?.wrong} at ${first?.junction} was wrong, returns to that junction, changes its way of choosing for a reason that refers to this maze, and escapes.`;
}

function turn<Value>(choices: readonly Value[], nth: number): Value {
  const choice = choices[nth % choices.length];
  if (choice === undefined) throw new Error("no words to choose from");
  return choice;
}
