import { trialView } from "@hallumaze/contract";
import { solverNames } from "@hallumaze/solvers";
import { describe, expect, it } from "vitest";

import { dossier, exchange, simDossier, simPlan } from "../test/sim-dossier.ts";
import { viewTrial } from "./view-trial.ts";

const hinted = { group: "B", ariadne: { hints: 1, version: "h1" } } as const;

/** A step into the wall north of START, one that walks, and a trap's way. */
const log = [
  "Let me look around. 😀",
  "STEP 1: (0,0) → N → (-1,0) | CONFIDENCE: 95%",
  "STEP 2: (0,0) → S → (1,0) | CONFIDENCE: 80%",
  "Now I turn.",
  "STEP 3: (1,0) → E → (1,1) | CONFIDENCE: 70%",
].join("\n");

describe("a trial as it is looked at", () => {
  it.each(solverNames)("fits the contract, and shows the ledger's numbers, for %s in every group", (solver) => {
    for (const change of [{}, { mirage: false, language: "ko" }, hinted, { ...hinted, group: "C" }] as const) {
      const view = viewTrial(simDossier(solver, change), []);
      expect(trialView.parse(JSON.parse(JSON.stringify(view)))).toEqual(view);
      expect(view.profiles.map(({ profile, isStored }) => [profile, isStored])).toEqual([
        ["robust", true],
        ["seed", true],
        ["published", true],
      ]);
    }
  });

  it("places each parsed line in the raw reply, and ties it to its steps both ways", () => {
    const { replies, reading, walk } = viewTrial(
      dossier(simPlan("dfs-honest"), [{ text: log, finishReason: "stop" }]),
      [],
    );
    const shown = reading?.lines.map(({ span, steps }) => [
      replies[span.reply]?.text.slice(span.start, span.end).split(" ").slice(0, 2).join(" "),
      steps,
    ]);
    expect(shown).toEqual([
      ["STEP 1:", [0, 0]],
      ["STEP 2:", [1, 1]],
      ["STEP 3:", [2, 2]],
    ]);
    expect(walk?.steps.map(({ line }) => line)).toEqual([0, 1, 2]);
  });

  it("says at each step what happened, from the walls and not from the words", () => {
    const { walk } = viewTrial(dossier(simPlan("dfs-honest"), [{ text: log, finishReason: "stop" }]), []);
    expect(walk?.steps.map(({ kind }) => kind)).toEqual(["outOfGrid", "ok", "ok"]);
    expect(walk?.steps[0]?.marks).toEqual(expect.arrayContaining(["illegal", "firstError"]));
    expect(walk?.steps[1]?.marks).not.toContain("illegal");
  });

  it("counts as many backtracks, loops, traps and errors by its marks as the walk does, for every solver", () => {
    for (const solver of solverNames) {
      const view = viewTrial(simDossier(solver, { size: 7, seed: 11, ...hinted }), []);
      const marked = (mark: string): number =>
        view.walk?.steps.filter(({ marks }) => marks.some((one) => one === mark)).length ?? 0;
      expect(marked("backtrack")).toBeLessThanOrEqual(view.walk?.counts.bt ?? 0);
      expect(marked("backtrack") > 0).toBe((view.walk?.counts.bt ?? 0) > 0);
      expect(marked("trapTaken")).toBe(view.walk?.counts.trapsTaken);
      // A step from a cell never reached that runs into a wall is two errors.
      const twice = view.walk?.steps.filter(({ kind, relocation }) => {
        return relocation === "teleport" && (kind === "wall" || kind === "outOfGrid");
      });
      expect(marked("illegal") + (twice?.length ?? 0) + (view.walk?.counts.finalPathErrors ?? 0)).toBe(
        view.walk?.counts.hc,
      );
      expect(marked("pass") + 1).toBe(view.walk?.counts.passes);
      expect(marked("loop") > 0 || view.walk?.counts.loopEvents === 0).toBe(true);
    }
  });

  it("marks where a hint was given, and shows what was said", () => {
    const views = solverNames.map((solver) => viewTrial(simDossier(solver, hinted), []));
    const spoken = views.filter(({ replies }) => replies.length > 1);
    expect(spoken.length).toBeGreaterThan(0);
    expect(spoken.map(({ replies }) => replies[1]?.said?.kind)).toEqual(spoken.map(() => "hint"));
    const replyAtHint = spoken.flatMap(({ walk, reading }) => {
      const step = walk?.steps.find(({ marks }) => marks.includes("hint"));
      return step?.line == null ? [] : [reading?.lines[step.line]?.span.reply];
    });
    expect(new Set(replyAtHint)).toEqual(new Set([1]));
  });

  it("shows what the ledger has of a pruned answer, and reads nothing", () => {
    const given = simDossier("dfs-honest");
    const conversation = given.conversation.map((one) => ({ ...one, text: null, isPruned: true }));
    const view = viewTrial({ ...given, conversation, exchanges: conversation }, []);
    expect(view).toMatchObject({ walk: null, reading: null });
    expect(view.profiles[0]?.formulas.find(({ metric }) => metric === "mei")?.value).toBe(given.scores.robust?.mei);
    expect(view.replies[0]).toMatchObject({ isPruned: true, text: "" });
  });

  it("shows a trial without an answer, its failed requests and nothing of a walk", () => {
    const failed = exchange({ exchangeId: "f", text: null, outcome: "timeout", errorMessage: "no reply in 600 s" });
    const given = { ...simDossier("dfs-honest"), state: "failed", outcome: "timeout" } as const;
    const view = viewTrial({ ...given, conversation: [], exchanges: [failed], scores: {} }, []);
    expect(view).toMatchObject({ walk: null, reading: null, profiles: [], replies: [] });
    expect(view.exchanges).toMatchObject([{ outcome: "timeout", reply: null, sentAtMs: 3800 }]);
  });

  it("holds a reply's text once: its exchange points to it", () => {
    const view = viewTrial(simDossier("dfs-honest"), []);
    expect(view.exchanges[0]).toMatchObject({ reply: 0, text: null });
  });

  it("says where a rescore would change the ledger's numbers", () => {
    const given = simDossier("dfs-honest");
    const robust = given.scores.robust;
    const other = robust === undefined ? {} : { robust: { ...robust, mei: robust.mei / 2 } };
    const view = viewTrial({ ...given, scores: { ...given.scores, ...other } }, []);
    expect(view.profiles.find(({ profile }) => profile === "robust")?.isStored).toBe(false);
  });
});
