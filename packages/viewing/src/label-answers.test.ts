import { agreementView } from "@hallumaze/contract";
import { parseGoldSet } from "@hallumaze/judge";
import { describe, expect, it } from "vitest";

import { simDossier } from "../test/sim-dossier.ts";
import { goldLine, viewAgreement, viewLabellingItem } from "./label-answers.ts";
import type { StoredLabel } from "./ports.ts";

const label = (item: number, rater: string, level: 1 | 2 | 3, reason: string | null = null): StoredLabel => ({
  itemId: `i${item}`,
  trialId: `t${item}`,
  rater,
  level,
  reason,
});

describe("an item to label", () => {
  it("shows what was asked and answered, and neither model, sweep, seed nor condition", () => {
    const trial = simDossier("overconfident", { group: "B", ariadne: { hints: 1, version: "h1" } });
    const item = viewLabellingItem("i", { ...trial, sweep: "secret-sweep", alias: "secret-model" });
    const shown = JSON.stringify(item);
    expect(item.response).toContain("STEP 1");
    expect(shown).not.toMatch(/secret|2002|overconfident|Seed:/);
  });

  it("leaves the shadow of group A out of its answer", () => {
    const trial = simDossier("dfs-honest");
    const [first] = trial.conversation;
    if (first === undefined) throw new Error("no reply");
    const shadow = { ...first, exchangeId: "x", turn: 1, text: "THE SHADOW" };
    const item = viewLabellingItem("i", { ...trial, conversation: [first, shadow] });
    expect(item.response).not.toContain("SHADOW");
  });
});

describe("the agreement of raters", () => {
  const ann = [label(1, "ann", 1), label(2, "ann", 2), label(3, "ann", 3)];
  const ben = [label(1, "ben", 1), label(2, "ben", 3), label(3, "ben", 3)];

  it("is not shown before two have labelled every item", () => {
    const view = viewAgreement("s", 3, [...ann, ...ben.slice(0, 2)]);
    expect(agreementView.parse(view)).toEqual(view);
    expect(view).toMatchObject({ isComplete: false, agreement: null });
    expect(view.raters).toEqual([
      { rater: "ann", done: 3 },
      { rater: "ben", done: 2 },
    ]);
    expect(viewAgreement("s", 3, ann).agreement).toBeNull();
  });

  it("counts, and names the items on which they differ", () => {
    const view = viewAgreement("s", 3, [...ann, ...ben, label(1, "cy", 1)]);
    expect(view.agreement).toMatchObject({
      items: 3,
      agreed: 2,
      confusion: [
        [1, 0, 0],
        [0, 0, 1],
        [0, 0, 1],
      ],
      differing: [
        {
          itemId: "i2",
          labels: [
            { rater: "ann", level: 2 },
            { rater: "ben", level: 3 },
          ],
        },
      ],
    });
    expect(view.agreement?.kappa).toBeCloseTo(0.5, 6);
  });
});

it("writes a gold set that judge calibrate reads", () => {
  const lines = (["dfs-honest", "random-walk"] as const).map((solver, at) => {
    const labels = [label(at, "ann", 2, "turns back"), label(at, "ben", 2)];
    return goldLine(simDossier(solver), labels);
  });
  const { items, problems, raters } = parseGoldSet(`${lines.join("\n")}\n`);
  expect(problems).toEqual([]);
  expect(raters).toEqual(["ann", "ben"]);
  expect(items.map(({ level, reason }) => [level, reason])).toEqual([
    [2, "ann: turns back"],
    [2, "ann: turns back"],
  ]);
});
