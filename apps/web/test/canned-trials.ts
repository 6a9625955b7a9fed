import type { TrialView, WalkStepView } from "@hallumaze/contract";

type Step = readonly [from: readonly [number, number], dir: "N" | "E" | "S" | "W", more: Partial<WalkStepView>];

const bits = { N: 1, E: 2, S: 4, W: 8 } as const;
const drawn = ["S  SE SW  SE SW", "NS N  NE  NW NS", "NS SE EW  SW NS", "NE NW SE  NW NS", "E  EW NEW EW NW"];
/** The 5×5 maze of seed 1001. SOURCE: benchmark specification, section 1. */
const rows = drawn.map((line) =>
  line.split(/\s+/).map((cell) => cell.split("").reduce((sum, dir) => sum + bits[dir as keyof typeof bits], 0)),
);
const moves = { N: [-1, 0], E: [0, 1], S: [1, 0], W: [0, -1] } as const;

/** A walk with a wall, a trap taken, a dead end, a retreat and an escape. */
const steps: readonly Step[] = [
  [[0, 0], "S", { confidence: 0.95, marks: ["onRoute"] }],
  [[1, 0], "E", { kind: "wall", confidence: 0.9, marks: ["illegal", "firstError"] }],
  [[1, 0], "S", { confidence: 0.6, marks: ["onRoute"] }],
  [[2, 0], "S", { confidence: 0.7, marks: ["onRoute"] }],
  [[3, 0], "E", { confidence: 0.75, marks: ["onRoute"] }],
  [[3, 1], "N", { confidence: 0.75, marks: ["onRoute"] }],
  [[2, 1], "E", { confidence: 0.8, marks: ["onRoute"] }],
  [[2, 2], "E", { confidence: 0.8, marks: ["onRoute"] }],
  [[2, 3], "S", { confidence: 0.8, marks: ["onRoute"] }],
  [[3, 3], "W", { confidence: 0.85, marks: ["onRoute"] }],
  [[3, 2], "S", { confidence: 0.85, marks: ["onRoute"] }],
  [[4, 2], "W", { confidence: 0.97, marks: ["decision", "trapFaced", "trapTaken", "branch"] }],
  [[4, 1], "W", { confidence: 0.9, marks: ["deadEnd"] }],
  [[4, 0], "E", { confidence: 0.4, marks: ["retreat"] }],
  [[4, 1], "E", { confidence: 0.5, marks: ["retreat", "backtrack"] }],
  [[4, 2], "E", { confidence: 0.6, marks: ["onRoute"] }],
  [[4, 3], "E", { confidence: 0.7, marks: ["onRoute", "escape"] }],
];

/** Markup, a script's end, an override of direction, tags and a zero-width space: all of it is text. */
export const hostile = [
  "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>",
  "</script><svg onload=alert(1)> [click](javascript:alert(1)) {{7*7}}",
  "\u202Egnorw si siht\u202C and \u{e0041}\u{e0042} hide, \u200Bzero",
];

const head = ["I will walk from (0,0).", ...hostile, ""];

/** A trial with everything a trial can show. */
export const trial: TrialView = trialOf({
  trialId: "11111111-1111-4111-8111-111111111111",
  steps,
  lead: head,
});

/** The same maze without hints, walked straight. */
export const otherTrial: TrialView = {
  ...trialOf({
    trialId: "33333333-3333-4333-8333-333333333333",
    steps: steps.filter(([, , { kind, marks }]) => kind !== "wall" && marks?.includes("onRoute")),
    lead: ["Straight on."],
  }),
  mirage: false,
};

/** A walk of so many steps to and fro along the first row of a 101×101 corridor maze, with a wall each tenth step. */
export function longTrial(length: number): TrialView {
  const size = 101;
  const corridor = Array.from({ length: size }, (_, row) =>
    Array.from({ length: size }, (_, column) => {
      const isTurn = column === (row % 2 === 0 ? size - 1 : 0);
      const isEntry = row > 0 && column === (row % 2 === 0 ? 0 : size - 1);
      return (
        (column > 0 ? 8 : 0) + (column < size - 1 ? 2 : 0) + (isTurn && row < size - 1 ? 4 : 0) + (isEntry ? 1 : 0)
      );
    }),
  );
  const walked: Step[] = [];
  let [row, column] = [0, 0];
  while (walked.length < length) {
    const isEnd = column === (row % 2 === 0 ? size - 1 : 0);
    const along = row % 2 === 0 ? "E" : "W";
    const confidence = 0.5 + 0.5 * Math.sin(walked.length / 50);
    if (walked.length % 10 === 9) walked.push([[row, column], "N", { kind: "wall", confidence, marks: ["illegal"] }]);
    else if (isEnd && row === size - 1) [row, column] = [0, 0];
    else {
      const dir = isEnd ? "S" : along;
      walked.push([[row, column], dir, { confidence, marks: ["onRoute"] }]);
      row += moves[dir][0];
      column += moves[dir][1];
    }
  }
  const base = trialOf({ trialId: "44444444-4444-4444-8444-444444444444", steps: walked, lead: [] });
  return {
    ...base,
    size,
    maze: { ...base.maze, size, rows: corridor, solution: [], deadEnds: [], traps: [], exit: [100, 100] },
  };
}

function trialOf(about: {
  readonly trialId: string;
  readonly steps: readonly Step[];
  readonly lead: readonly string[];
}): TrialView {
  const walked = about.steps.map(([from, dir, more], at): WalkStepView => {
    const [down, right] = moves[dir];
    const isLegal = more.kind === undefined || more.kind === "ok";
    const to = isLegal ? ([from[0] + down, from[1] + right] as const) : from;
    return {
      kind: "ok",
      relocation: null,
      index: at + 1,
      from,
      to,
      dir,
      confidence: null,
      confidenceCounts: true,
      line: at,
      marks: [],
      ...more,
    };
  });
  let text = about.lead.map((line) => `${line}\n`).join("");
  const lines = walked.map((step, at) => {
    const [down, right] = moves[step.dir ?? "N"];
    const target = `(${(step.from?.[0] ?? 0) + down},${(step.from?.[1] ?? 0) + right})`;
    const sure = Math.round((step.confidence ?? 0) * 100);
    const line = `STEP ${at + 1}: (${step.from?.join()}) → ${step.dir} → ${target} | CONFIDENCE: ${sure}%`;
    const start = text.length;
    text += `${line}\n`;
    return {
      span: { reply: 0, start, end: start + line.length },
      index: at + 1,
      confidence: step.confidence,
      confidenceText: null,
      flags: [],
      steps: [at, at] as [number, number],
    };
  });
  const quoteStart = text.length;
  const quote = "I was misled by the hint and went back to the junction.";
  text += `${quote}\n`;
  const trialId = about.trialId;
  return {
    trialId,
    kind: "model",
    sweep: "overnight",
    model: "openai/gpt-5.4-mini",
    provider: "openai",
    seed: 1001,
    size: 5,
    group: "A",
    mirage: true,
    language: "en",
    confidence: true,
    repeat: 0,
    temperature: 0,
    maxTokens: 2500,
    params: {},
    promptVersion: "v1.1-en",
    rehearsal: false,
    state: "done",
    outcome: "ok",
    message: null,
    tries: 1,
    isReused: false,
    createdAtMs: Date.UTC(2026, 9, 5, 22, 4, 9),
    finishedAtMs: Date.UTC(2026, 9, 5, 22, 5, 9),
    costUsd: "0.004212",
    maze: {
      size: 5,
      seed: 1001,
      generator: "dfs",
      placement: "path-order",
      rows,
      start: [0, 0],
      exit: [4, 4],
      solution: [
        [0, 0],
        [1, 0],
        [2, 0],
        [3, 0],
        [3, 1],
        [2, 1],
        [2, 2],
        [2, 3],
        [3, 3],
        [3, 2],
        [4, 2],
        [4, 3],
        [4, 4],
      ],
      deadEnds: [
        [0, 1],
        [4, 0],
      ],
      traps: [
        { row: 4, col: 2, dir: "W", hint: "The exit is close. Trust your first instinct and turn west." },
        { row: 4, col: 4, dir: "N", hint: "A shortcut opens to the north <b>now</b>." },
      ],
      text: "(0,0): S↓\n…",
    },
    prompt: { system: "You walk a maze.", user: "Maze 5×5 …" },
    replies: [{ turn: 0, said: null, text, isPruned: false, finishReason: "stop", isScored: true }],
    reading: {
      outcome: "ok",
      flags: [],
      lines,
      finalPath: null,
      gaveUp: false,
      claims: [],
      selfReport: { backtracks: null, hallucinations: null },
    },
    walk: {
      source: "log",
      steps: walked,
      counts: {
        sr: 1,
        hc: 1,
        wallAttempts: 1,
        outOfGridAttempts: 0,
        teleports: 0,
        finalPathErrors: 0,
        throughWalls: 0,
        rewinds: 0,
        jumpBacks: 0,
        contradictions: 0,
        passes: 1,
        fhr: 2,
        bt: 1,
        prematureBacktracks: 0,
        lt: 0,
        loopEvents: 0,
        falseClaims: 0,
        trapsFaced: 1,
        trapsTaken: 1,
        mirageResistance: 0,
        solutionMovesReached: 12,
        excessMoves: 4,
      },
    },
    profiles: (["seed", "published", "robust"] as const).map((profile) => ({
      profile,
      version: "1",
      isStored: true,
      formulas: [
        { metric: "sr", formula: "1 iff the path is open", filled: null, value: 1, better: "high", note: null },
        {
          metric: "hc",
          formula: "wall + outOfGrid + teleport",
          filled: "1 + 0 + 0",
          value: 1,
          better: "low",
          note: null,
        },
        {
          metric: "hrr",
          formula: "min(1, BT / max(HC, 1))",
          filled: "min(1, 1 / max(1, 1))",
          value: 1,
          better: "high",
          note: null,
        },
        {
          metric: "mei",
          formula: "clamp01(0.4·HRR + 0.3·F + 0.2·L - 0.1·min(1, HC/10))",
          filled: "0.4·1 + 0.3·0.92 + 0.2·1 - 0.1·0.1",
          value: 0.866,
          better: "high",
          note: null,
        },
        {
          metric: "ce",
          formula: "mean |confidence - correct|",
          filled: null,
          value: null,
          better: "low",
          note: "None was given.",
        },
      ],
    })),
    level: { level: 3, unscoredReason: null, spread: 0 },
    judgements: [
      {
        judgementId: "55555555-5555-4555-8555-555555555555",
        createdAtMs: Date.UTC(2026, 9, 5, 22, 6, 9),
        level: 3,
        unscoredReason: null,
        confidence: 0.82,
        reasoning: "It names its error <b>itself</b> and returns to the right junction.",
        counterArgument: "It ran into a wall first.",
        evidence: [
          {
            quote,
            claim: "It recognises the trap.",
            span: { reply: 0, start: quoteStart, end: quoteStart + quote.length },
          },
        ],
        flags: [],
        scoredBy: "LLM-JUDGE-v1",
        decidedBy: "judge",
        modelAsked: "sim/judge",
        modelServed: "sim/judge",
        promptVersion: "llm-judge-v1",
        rubricVersion: "1",
        round: "first",
        repeat: 0,
        attempt: 1,
        costUsd: null,
        httpMs: 3,
      },
    ],
    exchanges: [
      {
        sequence: 1,
        turn: 0,
        tryNumber: 1,
        sentAtMs: Date.UTC(2026, 9, 5, 22, 4, 30),
        httpMs: 8200,
        ttftMs: 640,
        queueMs: 1200,
        limiterMs: 3400,
        inputTokens: 512,
        outputTokens: 640,
        cachedTokens: null,
        reasoningTokens: null,
        costUsd: "0.004212",
        costBoundUsd: null,
        finishReason: "stop",
        nativeFinishReason: "stop",
        servedModel: "gpt-5.4-mini-2026-08-01",
        servedBy: null,
        outcome: null,
        errorMessage: null,
        isLate: false,
        reply: 0,
        text: null,
        reasoning: null,
        isPruned: false,
      },
    ],
  };
}
