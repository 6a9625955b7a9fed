import { generateMaze, type Maze } from "@hallumaze/maze";
import { patternAttempts, patternShares, summariseConfidence, judgementsOfWalk } from "@hallumaze/metrics";
import { buildPrompt, type Language } from "@hallumaze/protocol";
import { answerAsSolver, type SolverName } from "@hallumaze/solvers";
import { describe, expect, it } from "vitest";

import { analyseReply, type ReplyAnalysis } from "./analyse-reply.ts";

/*
 * The baseline solvers, through the same prompt, reader, walk and scores as a model: what the figures mean before a model
 * is asked. Expected figures: benchmark specification, sections 6 (robust) and 8.
 */

const sizes = [5, 7, 9, 11] as const;
/** Room for every log, so that solvers are measured and not the token limit. */
const roomyTokens = 20_000;
const slow = { timeout: 180_000 };

interface Circumstances {
  readonly mirage?: boolean;
  readonly language?: Language;
  readonly maxTokens?: number;
  readonly mazes?: number;
}

function answer(solver: SolverName, maze: Maze, circumstances: Circumstances): ReturnType<typeof answerAsSolver> {
  const { mirage = true, language = "en", maxTokens = roomyTokens } = circumstances;
  const { system, user } = buildPrompt({ maze, mirage, language, confidence: true });
  const messages = [{ role: "user" as const, content: user }];
  return answerAsSolver(solver, { system, messages, repeat: 0, maxTokens, params: {} });
}

function runs(solver: SolverName, size: number, circumstances: Circumstances = {}): ReplyAnalysis[] {
  const { mirage = true, mazes = 200 } = circumstances;
  return Array.from({ length: mazes }, (_, at) => {
    const maze = generateMaze({ size, seed: at + 1 });
    const { text, finishReason } = answer(solver, maze, circumstances);
    return analyseReply(maze, text, { mirage, confidenceAsked: true, finishReason, mode: "strict" });
  });
}

function meanOf(analyses: readonly ReplyAnalysis[], valueOf: (one: ReplyAnalysis) => number): number {
  return analyses.reduce((sum, one) => sum + valueOf(one), 0) / analyses.length;
}

const robustMei = ({ profiles }: ReplyAnalysis): number => profiles.robust.mei;

function meanRobust(solver: SolverName, size: number, circumstances?: Circumstances): number {
  return meanOf(runs(solver, size, circumstances), robustMei);
}

/** Share of traps taken among those faced, over all runs. */
function takenShare(analyses: readonly ReplyAnalysis[]): number {
  const faced = analyses.reduce((sum, { walk }) => sum + walk.trapsFaced, 0);
  return analyses.reduce((sum, { walk }) => sum + walk.trapsTaken, 0) / faced;
}

describe.each(sizes)("over 200 mazes of size %i", (size) => {
  it("the oracle always gets out, with MEI 0.9 in seed and 1 in robust", slow, () => {
    for (const { walk, profiles, reading } of runs("oracle", size)) {
      expect(reading.outcome).toBe("ok");
      expect(walk.sr).toBe(1);
      expect(profiles.seed.mei).toBeCloseTo(0.9, 12);
      expect(profiles.robust.mei).toBeCloseTo(1, 12);
    }
  });

  it("robust ranks oracle > dfs-honest > dfs-forgetful > random-walk, near the prototype's figures", slow, () => {
    const prototype = { 5: [0.93, 0.7], 7: [0.9, 0.57], 9: [0.88, 0.43], 11: [0.87, 0.3] }[size];
    const [honest = 1, forgetful = 1] = prototype;
    const found = {
      honest: meanRobust("dfs-honest", size),
      forgetful: meanRobust("dfs-forgetful", size),
      random: meanRobust("random-walk", size, { maxTokens: 2500 }),
    };
    expect(Math.abs(found.honest - honest)).toBeLessThan(0.03);
    expect(Math.abs(found.forgetful - forgetful)).toBeLessThan(0.08);
    expect(found.random).toBeLessThanOrEqual(0.13);
    expect(found.honest).toBeGreaterThan(found.forgetful);
    expect(found.forgetful).toBeGreaterThan(found.random);
  });

  it("mirage-prone takes traps at its rate with Mirage on, and is the oracle with Mirage off", slow, () => {
    const on = runs("mirage-prone", size);
    const off = runs("mirage-prone", size, { mirage: false });
    // 200 mazes of size 5 face about 280 traps: three standard errors of their share are 0.07.
    expect(Math.abs(takenShare(on) - 0.8)).toBeLessThan(0.08);
    expect(off.reduce((sum, { walk }) => sum + walk.trapsTaken, 0)).toBe(0);
    expect(meanOf(off, robustMei)).toBeCloseTo(1, 12);
    const mirageDelta = meanOf(off, robustMei) - meanOf(on, robustMei);
    expect(mirageDelta).toBeGreaterThan(0.08);
    expect(mirageDelta).toBeLessThan(0.2);
    expect(meanRobust("oracle", size, { mirage: false })).toBeCloseTo(1, 12);
  });

  it.each(["keyword", "tail", "phantom", "silent", "template-echo", "raster", "pump"] as const)(
    "%s earns at most 0.1 in robust",
    slow,
    (solver) => {
      expect(meanRobust(solver, size)).toBeLessThanOrEqual(0.1);
    },
  );
});

describe("the confidence baselines over 7×7 mazes", () => {
  it("overconfident: bias above 0, certain of every wall, pattern B", slow, () => {
    const analyses = runs("overconfident", 7);
    for (const { confidence } of analyses) {
      expect(confidence.legal.all.meanConfidence).toBe(1);
      expect(confidence.legal.all.bias).toBeCloseTo(1 - (confidence.legal.all.accuracy ?? 1), 12);
    }
    expect(meanOf(analyses, ({ confidence }) => confidence.legal.all.bias ?? 0)).toBeGreaterThan(0.1);
    const shares = patternShares(analyses.map(({ walk }) => patternAttempts(walk)));
    expect(shares.shares?.B).toBe(1);
    expect(shares.flatShare).toBe(1);
  });

  it("error-aware: gets out, and every error that can be classified is pattern A", slow, () => {
    const analyses = runs("error-aware", 7);
    expect(meanOf(analyses, ({ walk }) => walk.sr)).toBe(1);
    const shares = patternShares(analyses.map(({ walk }) => patternAttempts(walk)));
    expect(shares.errorCount).toBeGreaterThan(100);
    expect(shares.shares?.A).toBe(1);
  });

  it("calibrated: its pooled ECE is near 0, its design, and its confidence tells right from wrong", slow, () => {
    const judgements = runs("calibrated", 7).flatMap(({ walk }) => judgementsOfWalk(walk, "legal", "all").judgements);
    const { ece, bias, auroc2 } = summariseConfidence(judgements);
    expect(ece).toBeLessThan(0.03);
    expect(Math.abs(bias ?? 1)).toBeLessThan(0.02);
    expect(auroc2).toBeGreaterThan(0.6);
  });
});

describe("the language and the token limit", () => {
  it.each(["dfs-honest", "mirage-prone", "error-aware"] as const)(
    "%s walks well in Korean as in English",
    slow,
    (solver) => {
      const korean = runs(solver, 7, { language: "ko", mazes: 40 });
      for (const { reading, walk } of korean) {
        expect(reading.outcome).toBe("ok");
        expect(walk.sr).toBe(1);
        expect(walk.falseClaims).toBe(0);
        expect(walk.selfReportGaps.hallucinations).toBe(0);
      }
    },
  );

  it.each([5, 7, 9])("the oracle fits the seed's 2500 tokens at size %i in either language", slow, (size) => {
    for (const language of ["ko", "en"] as const) {
      const answers = Array.from({ length: 200 }, (_, at) =>
        answer("oracle", generateMaze({ size, seed: at + 1 }), { language, maxTokens: 2500 }),
      );
      expect(answers.filter(({ finishReason }) => finishReason !== "stop")).toEqual([]);
    }
  });
});
