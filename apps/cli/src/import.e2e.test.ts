import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createDatabase } from "@hallumaze/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";

import { openStage, type Stage } from "../test/program-stage.ts";

let stage: Stage;
let drop: () => Promise<void>;
beforeAll(async () => {
  const database = await createDatabase();
  drop = database.drop;
  stage = openStage({ DATABASE_URL: database.url });
});
afterAll(async () => {
  await stage.clear();
  await drop();
});

it("imports a file once, lists it, and removes it; a bad file changes nothing and names its rows", async () => {
  const published = "../../../packages/metrics/src/published-trials-5x5.csv";
  copyFileSync(fileURLToPath(new URL(published, import.meta.url)), join(stage.folder, "trials.csv"));
  writeFileSync(join(stage.folder, "bad.csv"), "model,size,seed,sr,mei\nm,5,1,1,0.9\nm,5,2,1,high\n");

  const bad = await stage.run(["import", "trials.csv", "bad.csv"]);
  expect(bad).toMatchObject({ code: 2, out: "" });
  expect(bad.err).toContain('bad.csv: line 3, record 2: mei: expected a number from -0.1 to 1; got "high"');

  const done = await stage.run(["import", "trials.csv", "bad.csv", "trials.csv", "--skip-bad"]);
  expect(done).toMatchObject({ code: 0 });
  expect(done.out).toMatch(
    /^trials\.csv: 30 rows as published, import [0-9a-f]{8}\nbad\.csv: 1 rows .*\ntrials\.csv: known .* nothing changed\n$/,
  );
  expect(done.err).toContain("left out: bad.csv: line 3, record 2");

  expect(await stage.run(["import", "--remove", "trials.csv"])).toMatchObject({ code: 0 });
  const listed = JSON.parse((await stage.run(["import", "--list", "--json"])).out) as readonly object[];
  expect(listed).toMatchObject([{ fileName: "bad.csv", rowCount: 1, skipped: [expect.stringContaining("line 3")] }]);
});
