import { describe, expect, it } from "vitest";

import { solverOf } from "./answer-question.ts";

describe("solverOf", () => {
  it.each([
    ["gpt-4o", null, "dfs-honest"],
    ["gpt-4o-oracle", null, "oracle"],
    ["any:wall-follower", null, "wall-follower"],
    ["some/hint-deaf", null, "hint-deaf"],
    ["random-walk", null, "random-walk"],
    ["untail", null, "dfs-honest"],
    ["gpt-4o-oracle", "silent", "silent"],
    ["gpt-4o", { "gpt-*": "pump" }, "pump"],
    ["claude-x", { "gpt-*": "pump" }, "dfs-honest"],
  ] as const)("%s with %j is answered by %s", (model, choice, solver) => {
    expect(solverOf(model, choice)).toBe(solver);
  });
});
