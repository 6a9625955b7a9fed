import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

import { createDatabase, type DisposableDatabase } from "@hallumaze/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { openStage, type Stage } from "../test/program-stage.ts";

let first: DisposableDatabase;
let second: DisposableDatabase;
let stage: Stage;
let restored: Stage;
beforeEach(async () => {
  [first, second] = [await createDatabase(), await createDatabase()];
  stage = openStage({ DATABASE_URL: first.url });
  restored = openStage({ DATABASE_URL: second.url });
});
afterEach(async () => {
  await Promise.all([stage.clear(), restored.clear()]);
  await Promise.all([first.drop(), second.drop()]);
});

const spec = { models: ["sim/dfs-honest", "sim/silent"], seeds: ["1..4"], groups: ["A", "B"] } as const;

async function told(on: Stage, words: readonly string[]): Promise<string> {
  const { code, out, err } = await on.run(words);
  expect([0, 3], err).toContain(code);
  return out;
}

/** Every table, export and warning that a run of the sweep leaves. */
async function figures(on: Stage): Promise<readonly string[]> {
  await told(on, ["run", on.spec("care", spec)]);
  const names = ["trials.jsonl", "trials.csv", "leaderboard.json", "warnings.md"];
  return names.map((name) => readFileSync(join(on.folder, "results/care", name), "utf8"));
}

/** Each command is a process: on a busy machine many of them take their time. */
const patience = { timeout: 600_000 } as const;

describe("backup and restore", () => {
  it(
    "a restored ledger gives the same exports, tables and counts, and a run of its spec asks nothing",
    patience,
    async () => {
      const before = await figures(stage);
      const file = join(stage.folder, "ledger.backup");
      expect(JSON.parse(await told(stage, ["backup", file, "--json"]))).toMatchObject({
        rows: { sweeps: 1, trials: 16 },
      });
      expect(await told(restored, ["restore", file])).toContain("1 sweeps, 16 trials");
      expect(await figures(restored)).toEqual(before);
      const again = await restored.run(["restore", file]);
      expect(again.code).toBe(1);
      expect(again.err).toContain("holds a ledger already");
    },
  );

  it("--pg-dump says what is missing where the tool is older than the server", patience, async () => {
    await told(stage, ["run", stage.spec("care", spec)]);
    const tools = join(stage.folder, "tools");
    mkdirSync(tools);
    writeFileSync(join(tools, "pg_dump"), "#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6.1'\n");
    chmodSync(join(tools, "pg_dump"), 0o755);
    const old = openStage({ DATABASE_URL: first.url, PATH: `${tools}${delimiter}${process.env["PATH"] ?? ""}` });
    const { code, err } = await old.run(["backup", "ledger.dump", "--pg-dump"]);
    await old.clear();
    expect(code).toBe(1);
    expect(err).toMatch(/pg_dump is of version 9, and the server .* of version \d+/);
  });
});

describe("prune", () => {
  it(
    "leaves tables, exports and warnings as they were; rescore says what it can no longer read",
    patience,
    async () => {
      const before = await figures(stage);
      expect(await told(stage, ["prune", "care", "--older-than", "0h"])).toContain("of 16 trials");
      expect(await told(stage, ["rescore", "care"])).toContain(", 0 could not be");
      expect(await figures(stage)).toEqual(before);
      await told(stage, ["prune", "--all", "--older-than", "0h", "--text"]);
      const { code, err } = await stage.run(["rescore", "care"]);
      expect(code).toBe(0);
      expect(err).toContain("replies keep their scores: their text was pruned");
      expect(await figures(stage)).toEqual(before);
    },
  );

  it("wants to know which sweep, and how old", patience, async () => {
    expect((await stage.run(["prune", "--older-than", "30d"])).code).toBe(2);
    expect((await stage.run(["prune", "care", "--older-than", "a month"])).code).toBe(2);
  });
});
