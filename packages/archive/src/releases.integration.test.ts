import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { rescoreSweep } from "@hallumaze/engine";
import { openStore, readMigrations } from "@hallumaze/store";
import { createDatabase } from "@hallumaze/testkit";
import { expect, it } from "vitest";

import { openClient } from "./back-up.ts";
import { restore } from "./restore.ts";

const folder = fileURLToPath(new URL("../test/releases/", import.meta.url));
const releases = readdirSync(folder).toSorted();
const signal = new AbortController().signal;

type Store = Awaited<ReturnType<typeof openStore>>;

/** What no later version may read otherwise from the same ledger. */
async function figures(store: Store, sweepId: string): Promise<readonly unknown[]> {
  const rows = [];
  for await (const page of store.streamTrials(sweepId, 5)) rows.push(...page);
  return rows.map(({ cellId, trialId, state, outcome, scores, usage }) => ({
    cellId,
    trialId,
    state,
    outcome,
    scores,
    usage,
  }));
}

it("there is a snapshot of every release so far", () => {
  expect(releases).toEqual(["0.1.0", "0.2.0", "0.3.0", "0.4.0", "0.5.0"]);
});

it.each(releases)(
  "the ledger of release %s comes to the present schema with the figures it had, and works on",
  async (release) => {
    const database = await createDatabase();
    const client = openClient(database.url);
    await client.connect();
    try {
      const { migrated } = await restore(database.url, `${folder}${release}/ledger.backup`, { signal });
      // The last release may have the present schema.
      expect(migrated.length > 0 || release === releases.at(-1)).toBe(true);
      expect(readMigrations().map(({ name }) => name)).toEqual(expect.arrayContaining([...migrated]));
      await using disposable = await openDisposable(database.url);
      const { store } = disposable;
      const sweep = await store.findSweep("release");
      if (sweep === null) throw new Error("the sweep is gone");
      const exported = readFileSync(`${folder}${release}/trials.jsonl`, "utf8").trimEnd().split("\n");
      const told = exported.map((line) => {
        const { cellId, trialId, state, outcome, scores, usage } = JSON.parse(line) as Record<string, unknown>;
        return { cellId, trialId, state, outcome, scores, usage };
      });
      expect(await figures(store, sweep.sweepId)).toEqual(told);
      const { models } = await store.progress(sweep.sweepId);
      expect(models.map(({ alias, states }) => [alias, states.done])).toEqual([
        ["sim/dfs-honest", 4],
        ["sim/overconfident", 4],
        ["sim/silent", 4],
      ]);
      expect(await rescoreSweep(store, sweep, signal)).toMatchObject({ rescored: told.length, failed: 0, pruned: 0 });
      expect(await figures(store, sweep.sweepId)).toEqual(told);
      await client.query("UPDATE trials SET state = 'failed', outcome = 'timeout' WHERE alias = 'sim/dfs-honest'");
      expect(await store.requeue(sweep.sweepId, { states: ["failed"] })).toHaveLength(4);
    } finally {
      await client.end();
      await database.drop();
    }
  },
);

async function openDisposable(databaseUrl: string): Promise<{ readonly store: Store } & AsyncDisposable> {
  const store = await openStore({ databaseUrl, poolSize: 2 });
  return { store, [Symbol.asyncDispose]: () => store.close() };
}
