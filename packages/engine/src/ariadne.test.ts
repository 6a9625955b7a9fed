import {
  type AriadneRow,
  type AriadneSummary,
  type ConversationReply,
  type ConversationResult,
  type ConversationSetting,
  nextTurn,
  readConversation,
  summariseAriadne,
} from "@hallumaze/ariadne";
import { createRandom } from "@hallumaze/foundation";
import { cellIndex, exitCell, generateMaze, type Maze } from "@hallumaze/maze";
import { scoreSeed, type Walk } from "@hallumaze/metrics";
import { buildPrompt, type Language } from "@hallumaze/protocol";
import { answerAsSolver, type Message, type SolverName, solverNames } from "@hallumaze/solvers";
import { describe, expect, it } from "vitest";

const languages: readonly Language[] = ["ko", "en"];
const shown: ConversationSetting["mirage"] = true;

interface Talk {
  readonly setting: ConversationSetting;
  readonly replies: readonly ConversationReply[];
  /** The further user turns. */
  readonly said: readonly string[];
  readonly result: ConversationResult;
}

/** Holds a whole conversation with a solver, as a worker does. */
function talk(solver: SolverName, maze: Maze, rest: Pick<ConversationSetting, "group" | "language" | "hints">): Talk {
  const setting: ConversationSetting = { maze, mirage: shown, confidenceAsked: true, shadow: true, ...rest };
  const { system, user } = buildPrompt({ maze, mirage: shown, language: rest.language, confidence: true });
  const messages: Message[] = [{ role: "user", content: user }];
  const replies: ConversationReply[] = [];
  const said: string[] = [];
  for (;;) {
    const reply = answerAsSolver(solver, { system, messages, repeat: 0, maxTokens: 20_000, params: {} });
    replies.push(reply);
    const turn = nextTurn(setting, replies);
    if (turn === null) break;
    said.push(turn.text);
    messages.push({ role: "assistant", content: reply.text }, { role: "user", content: turn.text });
  }
  return { setting, replies, said, result: readConversation(setting, replies, "strict") };
}

function rowOf(solver: SolverName, { setting, result }: Talk): AriadneRow {
  const { maze, group } = setting;
  const { mei } = scoreSeed(result.reading, result.walk, maze);
  return { model: solver, mazeKey: `${maze.size}-${maze.seed}`, group, meiSeed: mei, record: result.record };
}

function summaryOf(solver: SolverName, language: Language): AriadneSummary {
  const rows = Array.from({ length: 60 }, (_, seed) => generateMaze({ size: 5, seed })).flatMap((maze) =>
    (["A", "B", "C"] as const).map((group) => rowOf(solver, talk(solver, maze, { group, language, hints: 1 }))),
  );
  const [summary] = summariseAriadne(rows, { random: createRandom(20_260_101), resamples: 2000 });
  if (summary === undefined) throw new Error("there is no row");
  return summary;
}

describe.each(languages)("Ariadne's Thread over 60 mazes, in %s", (language) => {
  const taker = summaryOf("hint-taker", language);
  const deaf = summaryOf("hint-deaf", language);

  it("shows one who takes hints: NRS near 1, no note ignored, a high TI", () => {
    expect(taker.nrs.n).toBeGreaterThan(20);
    expect(taker.nrs.mean).toBeGreaterThan(0.95);
    expect(taker.hir).toMatchObject({ ignored: 0, rate: 0 });
    expect(taker.ti.value).toBeGreaterThan(0.3);
    expect(taker.ti).toMatchObject({ level: "high", cannotBeHigh: false });
    expect(taker.nrsGain).toBeGreaterThan(0.95);
    expect(taker.tiNorm.value).toBeGreaterThan(0.95);
    expect(taker.noDetectableEffect).toBe(false);
    expect(taker.groups.B.solvedAtOnce + taker.groups.B.triggered).toBe(60);
  });

  it("shows one who is deaf to hints: no gain over the shadow, every note ignored, no effect", () => {
    expect(deaf.nrs.n).toBeGreaterThan(20);
    expect(deaf.nrsGain).toBe(0);
    expect(deaf.hir.rate).toBe(1);
    expect(deaf.ti).toMatchObject({ value: 0, level: "low" });
    expect(deaf.tiNorm.value).toBeCloseTo(0, 12);
    expect(deaf.noDetectableEffect).toBe(true);
  });
});

const mazes = [...[1, 2, 3].map((seed) => generateMaze({ size: 5, seed })), generateMaze({ size: 7, seed: 4 })];

/** Every talk of every solver in several mazes, with up to two further turns. */
function everyTalk(language: Language): ReadonlyMap<SolverName, readonly Talk[]> {
  const groups = ["A", "B", "C"] as const;
  return new Map(
    solverNames.map((solver) => [
      solver,
      mazes.flatMap((maze) => groups.map((group) => talk(solver, maze, { group, language, hints: 2 }))),
    ]),
  );
}

const directionWords: Readonly<Record<Language, RegExp>> = {
  en: /\b(?:north|south|east|west|northern|southern|eastern|western|up|down|left|right|above|below|upwards?|downwards?|[nesw])\b/i,
  ko: /(?:북|남|동|서|위|아래|오른|왼)(?:쪽|편|향)|위로|아래로|오른|왼쪽|(?<!\p{L})[동서남북상하좌우위](?!\p{L})|\b[NESW]\b/u,
};
const arrows = /[←-⇿➔-➾⬀-⬏🡀-🢧]|->|=>|[▲△▶▷▼▽◀◁◂▸▴▾]|\p{Extended_Pictographic}/u;

/** The cells that the legal moves of a walk reached. */
function reachedCells({ size }: Maze, { steps }: Walk): ReadonlySet<number> {
  const moves = steps.filter(({ kind, grounded }) => kind === "ok" && grounded);
  return new Set([0, ...moves.flatMap(({ to }) => (to === null ? [] : [cellIndex(size, to)]))]);
}

describe.each(languages)("what is said to any baseline agent in any maze, in %s", (language) => {
  const bySolver = everyTalk(language);
  const talks = [...bySolver.values()].flat();

  it("is said at all, in every kind", () => {
    expect(talks.filter(({ said }) => said.length > 0).length).toBeGreaterThan(60);
    const texts = talks.flatMap(({ said }) => said).join("\n");
    for (const fact of language === "en" ? ["same move", "closed passage", "long stretch", "ended before"] : []) {
      expect(texts).toContain(fact);
    }
  });

  it("never holds a word, letter or arrow of a direction", () => {
    for (const text of new Set(talks.flatMap(({ said }) => said))) {
      expect(text).not.toMatch(directionWords[language]);
      expect(text).not.toMatch(arrows);
    }
  });

  it.each(solverNames)(
    "never names to %s EXIT, a cell that the walk has not reached, or more than a handful",
    (name) => {
      for (const { setting, replies, said } of bySolver.get(name) ?? []) {
        const { maze } = setting;
        for (const [at, text] of said.entries()) {
          const named = Array.from(text.matchAll(/\((\d+), ?(\d+)\)/g), ([, row, col]) =>
            cellIndex(maze.size, [Number(row), Number(col)]),
          );
          expect(named.length).toBeLessThanOrEqual(6);
          expect(named).not.toContain(cellIndex(maze.size, exitCell(maze.size)));
          if (named.length === 0) continue;
          const before = readConversation({ ...setting, group: "C" }, replies.slice(0, at + 1), "strict");
          const reached = reachedCells(maze, before.walk);
          expect(named.filter((cell) => !reached.has(cell))).toEqual([]);
        }
      }
    },
  );

  it("holds no instruction in group C, and nothing on the walk in group A", () => {
    const saidTo = (group: ConversationSetting["group"]): string =>
      talks.flatMap(({ setting, said }) => (setting.group === group ? said : [])).join("\n");
    expect(saidTo("B")).toMatch(/FINAL_PATH/u);
    expect(saidTo("C")).not.toMatch(/please|FINAL_PATH|세요/iu);
    expect(saidTo("A")).not.toMatch(/\d/u);
  });

  it("calls a loop what the verified walk of a first answer calls one", () => {
    for (const { record, walk } of talks.filter(({ setting }) => setting.group === "A").map(({ result }) => result)) {
      if (record === null || record.solvedAtOnce || record.noWalk) continue;
      expect(record.triggers.includes("loop")).toBe(walk.loopEvents > 0);
    }
  });
});
