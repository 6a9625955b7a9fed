import { gridView } from "@hallumaze/contract";
import { describe, expect, it } from "vitest";

import type { GridRow } from "./ports.ts";
import { createGrid } from "./view-grid.ts";

const row = (change: Partial<GridRow>): GridRow => ({
  trialId: "t",
  alias: "m",
  size: 5,
  seed: 1,
  group: "A",
  mirage: true,
  language: "en",
  confidence: true,
  repeat: 0,
  state: "done",
  value: null,
  ...change,
});

describe("a grid in columns", () => {
  it("names models, conditions and seeds once, in order, and every cell by their places", () => {
    const grid = createGrid("robust.mei");
    grid.add(row({ trialId: "1", alias: "b", size: 7, seed: 9, value: 0.5 }));
    grid.add(row({ trialId: "2", alias: "b", size: 5, seed: 2, mirage: false, state: "failed" }));
    grid.add(row({ trialId: "3", alias: "a", size: 5, seed: 9, value: 0 }));
    const view = grid.finish(false);
    expect(gridView.parse(view)).toEqual(view);
    const shown = view.cells.trialId.map((id, at) => [
      id,
      view.models[view.cells.model[at] ?? -1],
      view.conditions[view.cells.condition[at] ?? -1]?.size,
      view.seeds[view.cells.seed[at] ?? -1],
      view.states[view.cells.state[at] ?? -1],
      view.cells.value[at],
    ]);
    expect(shown).toEqual([
      ["1", "b", 7, 9, "done", 0.5],
      ["2", "b", 5, 2, "failed", null],
      ["3", "a", 5, 9, "done", 0],
    ]);
    expect(view.seeds).toEqual([2, 9]);
    expect(view.conditions.map(({ size, mirage }) => [size, mirage])).toEqual([
      [5, false],
      [5, true],
      [7, true],
    ]);
  });

  it("says what a metric may be: a share by definition, a count by what there is", () => {
    const shares = createGrid("seed.ce");
    shares.add(row({ value: 0.2 }));
    expect(shares.finish(false).range).toEqual({ lo: 0, hi: 1, better: "low" });
    const counts = createGrid("seed.bt");
    for (const value of [3, null, 12]) counts.add(row({ value }));
    expect(counts.finish(false).range).toEqual({ lo: 3, hi: 12, better: "neither" });
    const unknown = createGrid("seed.bt");
    unknown.add(row({ value: null }));
    expect(unknown.finish(true)).toMatchObject({ range: null, truncated: true });
  });

  it("writes 10,000 cells in under 2 MB", () => {
    const grid = createGrid("robust.score");
    for (let at = 0; at < 10_000; at++) {
      const trialId = `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`;
      grid.add(row({ trialId, alias: `model ${at % 20}`, seed: at % 500, value: (at % 97) / 96 }));
    }
    const view = grid.finish(false);
    expect(view.cells.trialId).toHaveLength(10_000);
    expect(JSON.stringify(view).length).toBeLessThan(2_000_000);
  });
});
