import type { Random } from "@hallumaze/foundation";
import { describe, expect, it } from "vitest";

import { aggregate } from "../test/aggregate-trials.ts";
import { countSimulatedPrompt, type Grid, type SimulatedTrial, simulateSweep } from "../test/simulate-sweep.ts";
import { findFindings } from "./find-findings.ts";
import { detectorNames, type Finding } from "./finding.ts";
import { findingLine, scopeLine } from "./write-findings.ts";

const sampled = { alias: "openai/sampled", isBaseline: false, temperature: null } as const;
const greedy = { alias: "openai/greedy", isBaseline: false, temperature: 0 } as const;
const solver = { alias: "sim/oracle", isBaseline: true, temperature: null } as const;
const night: Grid = { models: [sampled], sizes: [5, 7, 9, 11], seeds: 20 };

type Change = (trial: SimulatedTrial, random: Random) => SimulatedTrial;

/** What is found of a sweep with a fault, whatever its seed: five of them. */
function findIn(change: Change, grid: Grid = night): readonly (readonly Finding[])[] {
  return [1, 2, 3, 4, 5].map((seed) =>
    findFindings(aggregate(grid.models, simulateSweep(`fault ${seed}`, grid, change)), countSimulatedPrompt),
  );
}

/** Expects this finding in each of the sweeps. */
function expectEach(sweeps: readonly (readonly Finding[])[], wanted: Partial<Finding>): void {
  for (const findings of sweeps) expect(findings).toContainEqual(expect.objectContaining(wanted));
}

describe("truncation", () => {
  it("is found by model and size, with its share and the limit to try", () => {
    const sweeps = findIn((trial, random) =>
      trial.size === 11 && random.fraction() < 0.4 ? { ...trial, state: "done", outcome: "truncated" } : trial,
    );
    expectEach(sweeps, { detector: "truncation", severity: "warning", model: "openai/sampled", condition: "size 11" });
    for (const findings of sweeps) expect(findings).toHaveLength(1);
    const [line] = (sweeps[0] ?? []).map(findingLine);
    expect(line).toMatch(
      /^warning \[truncation\] openai\/sampled, size 11: \d+ of \d+ \(\d+ %\) replies were cut at the token limit of 2,500; 95 % of the whole ones took [\d,]+ tokens or fewer\. To do: raise maxTokens for size 11, for instance to (5|10),\d00; /,
    );
  });
});

describe("truncation of a built-in solver", () => {
  it("is information: how long it writes is its rule", () => {
    const sweeps = findIn((trial) => ({ ...trial, outcome: "truncated" }), { ...night, models: [solver] });
    expectEach(sweeps, { detector: "truncation", severity: "info", condition: "size 11" });
  });
});

describe("thinking that uses the limit up", () => {
  it("is found beside the truncation that it is, and where the reply was empty at the limit", () => {
    const cut = findIn((trial, random) =>
      trial.size === 9 && random.fraction() < 0.5
        ? { ...trial, state: "done", outcome: "truncated_in_reasoning", reasoningTokens: 2500, finishReason: "length" }
        : trial,
    );
    expectEach(cut, { detector: "thinking-exhausted", condition: "size 9" });
    expectEach(cut, { detector: "truncation", condition: "size 9" });
    expect(cut[0]?.map(({ message }) => message).join()).toContain("2,500 tokens of thoughts on average");
    const empty = findIn((trial) => ({ ...trial, state: "done", outcome: "empty", finishReason: "length" }));
    expectEach(empty, { detector: "thinking-exhausted", condition: "size 5", observed: 1 });
  });
});

describe("a prompt that is cut", () => {
  it("is found where the count stands still while mazes grow, as a server does that drops what is beyond its context", () => {
    const sweeps = findIn((trial) => ({ ...trial, inputTokens: Math.min(trial.inputTokens ?? 0, 1024) }), {
      ...night,
      sizes: [7, 9, 11],
    });
    expectEach(sweeps, { detector: "prompt-cut", severity: "warning", model: "openai/sampled" });
  });

  it("is found where the engine refused replies for it", () => {
    const sweeps = findIn((trial) =>
      trial.size > 7 ? { ...trial, state: "failed", outcome: "prompt_truncated" } : trial,
    );
    expectEach(sweeps, { detector: "prompt-cut", condition: "sizes 9, 11", observed: 0.5 });
  });

  it("is found where the same prompts count less from some time on", () => {
    const sweeps = findIn((trial) =>
      trial.time > 0.7 ? { ...trial, inputTokens: Math.round((trial.inputTokens ?? 0) * 0.7) } : trial,
    );
    expectEach(sweeps, { detector: "prompt-cut", condition: "quarter 4 of the sweep" });
  });

  it("has a reverse: a server that counts several times what was sent", () => {
    const sweeps = findIn((trial) => ({ ...trial, inputTokens: countSimulatedPrompt(trial) + 4000 }));
    expectEach(sweeps, { detector: "prompt-cut", condition: null, expected: 1 });
  });
});

describe("answers that are the same", () => {
  it("to different mazes are a warning, with two trials to compare", () => {
    const sweeps = findIn((trial, random) => (random.fraction() < 0.3 ? { ...trial, text: "cached" } : trial));
    expectEach(sweeps, { detector: "identical-answers", severity: "warning", model: "openai/sampled" });
    expect(sweeps[0]?.find(({ detector }) => detector === "identical-answers")?.examples).toHaveLength(2);
  });

  it("to different mazes are information where all are built-in solvers", () => {
    const sweeps = findIn((trial) => ({ ...trial, text: "keyword", servedBy: null }), { ...night, models: [solver] });
    for (const findings of sweeps) {
      expect(findings.map(({ severity, model }) => [severity, model])).toEqual([
        ["info", null],
        ["info", null],
      ]);
    }
  });

  it("in every repeat are a warning where replies are sampled, information at temperature 0", () => {
    const copy: Change = (trial) => ({ ...trial, text: `${trial.alias} ${trial.size} ${trial.seed} ${trial.mirage}` });
    const sweeps = findIn(copy, { models: [sampled, greedy, solver], sizes: [5], seeds: 20, repeats: 3 });
    expectEach(sweeps, { detector: "identical-answers", severity: "warning", model: "openai/sampled" });
    expectEach(sweeps, { detector: "identical-answers", severity: "info", model: "openai/greedy" });
  });
});

describe("a mirage that makes no difference", () => {
  const blind: Change = (trial) => ({ ...trial, text: `${trial.alias} ${trial.size} ${trial.seed}` });

  it("to sampled answers is a warning; at temperature 0, and of a built-in solver, it is information", () => {
    const sweeps = findIn(blind, { ...night, models: [sampled, greedy, solver] });
    expectEach(sweeps, { detector: "mirage-unseen", severity: "warning", model: "openai/sampled", expected: 0 });
    expectEach(sweeps, { detector: "mirage-unseen", severity: "info", model: "openai/greedy", expected: null });
    expectEach(sweeps, { detector: "mirage-unseen", severity: "info", model: null, observed: 1 });
  });

  it("to the tokens counted never reached the model, at any temperature", () => {
    const unseen: Change = (trial) => ({ ...trial, inputTokens: countSimulatedPrompt({ ...trial, mirage: false }) });
    const sweeps = findIn(unseen, { ...night, models: [greedy] });
    expectEach(sweeps, { detector: "mirage-unseen", severity: "warning", model: "openai/greedy", observed: 1 });
  });
});

describe("what answered", () => {
  const served = (sweeps: readonly (readonly Finding[])[]): string =>
    sweeps[0]?.find(({ detector }) => detector === "served-change")?.message ?? "";

  it("is found to have changed, with the time and how many replies each gave", () => {
    const sweeps = findIn((trial) => ({ ...trial, servedModel: trial.time < 0.6 ? "m-2026-03" : "m-2026-11" }));
    expectEach(sweeps, { detector: "served-change", severity: "warning", condition: "served model", observed: 2 });
    expect(served(sweeps)).toMatch(
      /^the served model changed at 2026-12-01T02:\d\d:\d\dZ: m-2026-03 \(\d+ replies\), then m-2026-11 \(\d+ replies\)$/,
    );
  });

  it("is a warning even once, where another model answered; a fleet of hosts is information", () => {
    const once = findIn((trial) => ({ ...trial, servedModel: trial.seed === 3 && trial.mirage ? "mini" : "large" }));
    expectEach(once, { detector: "served-change", severity: "warning" });
    expect(served(once)).toContain("was not the same throughout");
    const hosts = findIn((trial) => ({ ...trial, servedBy: `host ${trial.seed % 2}` }));
    expectEach(hosts, { detector: "served-change", severity: "info", condition: "host or fingerprint" });
  });

  it("is found where one host gave way to another, calls under way at the change included", () => {
    const sweeps = findIn((trial, random) => ({
      ...trial,
      servedBy: trial.time + 0.01 * random.fraction() < 0.5 ? "berlin" : "lyon",
    }));
    expectEach(sweeps, { detector: "served-change", severity: "warning", condition: "host or fingerprint" });
  });
});

describe("failures", () => {
  const fail = (share: number, isHit: (trial: SimulatedTrial) => boolean): Change => {
    return (trial, random) =>
      isHit(trial) && random.fraction() < share ? { ...trial, state: "failed", outcome: "timeout" } : trial;
  };

  it("that fall on one size are found, with the shares and an adjusted p", () => {
    const sweeps = findIn(fail(0.6, ({ size }) => size === 11));
    expectEach(sweeps, { detector: "uneven-failures", model: "openai/sampled", condition: "size 11" });
    expect(sweeps[0]?.[0]?.message).toMatch(
      /^\d+ of 40 \(\d+ %\) trials failed and are missing, \d+ of 120 \([\d.]+ %\) elsewhere \(p [<=] [\d.]+, all tests of the sweep taken into account\)$/,
    );
  });

  it("that fall on one mirage, group or language are found", () => {
    const wide: Grid = { ...night, sizes: [5, 7], groups: ["A", "B"], languages: ["ko", "en"] };
    expectEach(
      findIn(
        fail(0.5, ({ mirage }) => mirage),
        wide,
      ),
      { condition: "mirage on" },
    );
    expectEach(
      findIn(
        fail(0.5, ({ group }) => group === "B"),
        wide,
      ),
      { condition: "group B" },
    );
    expectEach(
      findIn(
        fail(0.5, ({ language }) => language === "ko"),
        wide,
      ),
      { condition: "language ko" },
    );
  });

  it("that fall on one model are found; built-in solvers are no measure of them", () => {
    const [a, b] = [sampled, greedy];
    const sweeps = findIn(
      fail(0.5, ({ alias }) => alias === a.alias),
      { ...night, models: [a, b, solver] },
    );
    expectEach(sweeps, { detector: "uneven-failures", model: a.alias, condition: null, n: 320 });
  });

  it("that fall evenly are not", () => {
    for (const findings of findIn(fail(0.5, () => true))) expect(findings).toEqual([]);
  });
});

describe("replies that are not what they seem", () => {
  it("are found where they are no answers, tell no tokens, no end, or no confidence", () => {
    const change: Change = (trial, random) => ({
      ...trial,
      outcome: trial.state === "done" && random.fraction() < 0.4 ? "refused" : trial.outcome,
      outputTokens: null,
      finishReason: null,
      statedConfidences: [],
    });
    const sweeps = findIn(change);
    expectEach(sweeps, { detector: "non-answers", severity: "warning" });
    expectEach(sweeps, { detector: "missing-usage", severity: "warning", observed: 1 });
    expectEach(sweeps, { detector: "unknown-finish", severity: "info", observed: 1 });
    expectEach(sweeps, { detector: "confidence", severity: "warning", observed: 1 });
  });

  it("are found where every confidence is the same figure", () => {
    const sweeps = findIn((trial) => ({ ...trial, statedConfidences: [95, 95, 95] }));
    expectEach(sweeps, { detector: "confidence", severity: "info", observed: 1 });
  });

  it("are found where calls take several times as long from some time on", () => {
    const sweeps = findIn((trial) => (trial.time > 0.5 ? { ...trial, httpMs: trial.httpMs * 6 } : trial));
    expectEach(sweeps, { detector: "latency-jump", severity: "info" });
  });
});

describe("findFindings", () => {
  it("puts warnings first, in the order of the detectors", () => {
    const [findings = []] = findIn((trial) => ({
      ...trial,
      outcome: "refused",
      finishReason: null,
      servedModel: trial.time < 0.5 ? "a" : "b",
    }));
    const rank = findings.map(({ severity, detector }) => [severity === "info", detectorNames.indexOf(detector)]);
    expect(rank).toEqual(rank.toSorted((a, b) => Number(a[0]) - Number(b[0]) || Number(a[1]) - Number(b[1])));
    expect(new Set(rank.map(([isInfo]) => isInfo)).size).toBe(2);
  });

  it("says how much was looked at where that was not all", () => {
    expect(scopeLine({ countedTrials: 300, lookedAtTrials: 300 }, 300)).toBeNull();
    expect(scopeLine({ countedTrials: 1e6, lookedAtTrials: 20_000 }, 1e6)).toBe(
      "outcomes of all and replies of 20,000 of 1,000,000 trials were looked at: the first seeds of every model and size",
    );
  });
});
