import { createDatabase } from "@hallumaze/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { type Ledger, openLedger, openStage, soundBooks, type Stage } from "../test/program-stage.ts";

let stage: Stage;
let ledger: Ledger;
let drop: () => Promise<void>;
beforeAll(async () => {
  const database = await createDatabase();
  drop = database.drop;
  stage = openStage({ DATABASE_URL: database.url });
  ledger = await openLedger(database.url);
});
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
  await stage.clear();
  await drop();
});

describe("a changed spec of one name", () => {
  it("runs its new cells only, and says how many old ones left the grid", async () => {
    const models = ["sim/oracle", "sim/dfs-honest"];
    expect(await stage.run(["run", stage.spec("grown", { models, seeds: ["1..6"] }), "--json"])).toMatchObject({
      code: 0,
    });
    expect(await ledger.books("grown")).toEqual(soundBooks(12));
    const changed = await stage.run(["run", stage.spec("grown", { models, seeds: ["4..10"] }), "--json"]);
    expect(changed).toMatchObject({ code: 0 });
    expect(changed.err).toContain("14 cells, 8 to run");
    expect(changed.err).toContain("6 cells left the grid");
    expect(await ledger.books("grown")).toEqual(soundBooks(14));
    expect(await ledger.count("sweep_id = (SELECT id FROM sweeps WHERE name = 'grown')")).toBe(20);
  });
});

describe("a new sweep over cells that are answered", () => {
  it("takes the answers over and asks nobody; --fresh asks again", async () => {
    const grid = { models: ["sim/calibrated"], seeds: ["1..5"] };
    expect(await stage.run(["run", stage.spec("source", grid), "--json"])).toMatchObject({ code: 0 });
    const reused = await stage.run(["run", stage.spec("taker", grid), "--json"]);
    expect(reused).toMatchObject({ code: 0 });
    expect(reused.err).toContain("nothing to run");
    expect(await ledger.books("taker")).toMatchObject({ cells: 5, states: { done: 5 }, exchanges: 0 });
    const fresh = await stage.run(["run", stage.spec("buyer", grid), "--fresh", "--json"]);
    expect(fresh).toMatchObject({ code: 0 });
    expect(await ledger.books("buyer")).toEqual(soundBooks(5));
  });
});

describe("status without a name", () => {
  it("has a line for each of many sweeps, and one code for all", async () => {
    for (const name of ["one", "two", "three", "four", "five"])
      expect(await stage.run(["run", stage.spec(name, { models: ["sim/oracle"], seeds: [1] })])).toMatchObject({
        code: 0,
      });
    const failing = {
      models: [{ model: "sim/oracle", params: { failureRate: 1 } }],
      seeds: [2],
      retries: { tries: 1 },
    };
    expect(await stage.run(["run", stage.spec("six", failing)])).toMatchObject({ code: 3 });
    const { code, out } = await stage.run(["status"]);
    expect(code).toBe(3);
    const lines = out.trimEnd().split("\n");
    expect(lines.filter((line) => /^(one|two|three|four|five): 1\/1 done/.test(line))).toHaveLength(5);
    expect(lines).toContainEqual(expect.stringMatching(/^six: 0\/1 done, 1 failed/));
    expect(lines.at(-1)).toMatch(/^\d+ sweeps; one with all its tables: hallumaze status NAME$/);
    expect(out).not.toContain("model");
  });
});

describe("a provider that fails", () => {
  it("costs exactly the tries, ends failed with exit code 3, and retry gives the chosen trials as many again", async () => {
    // What every trial went through, written by the database itself.
    await ledger.sql(`CREATE TABLE history (trial_id uuid, state text, exchanges int)`);
    await ledger.sql(`CREATE FUNCTION remember() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO history SELECT NEW.id, NEW.state::text, count(*) FROM exchanges WHERE trial_id = NEW.id; RETURN NEW; END $$`);
    await ledger.sql(
      "CREATE TRIGGER remember AFTER UPDATE OF state ON trials FOR EACH ROW EXECUTE FUNCTION remember()",
    );
    const broken = (name: string) => ({ model: `sim/${name}`, params: { failureRate: 1 } });
    const spec = stage.spec("broken", {
      models: [broken("oracle"), broken("keyword")],
      seeds: ["1..2"],
      sizes: [5, 7],
      retries: { tries: 2 },
    });
    const first = await stage.run(["run", spec, "--json"]);
    expect(first).toMatchObject({ code: 3 });
    expect(first.err).toContain("hallumaze retry broken --failed");
    expect(await ledger.books("broken")).toMatchObject({ cells: 8, states: { failed: 8 }, exchanges: 16, accepted: 0 });
    expect(await tally()).toEqual([{ exchanges: 2, trials: 8 }]);
    // Failed is seen once a trial, after its last try.
    expect(
      await ledger.sql("SELECT exchanges, count(*)::int AS times FROM history WHERE state = 'failed' GROUP BY 1"),
    ).toEqual([{ exchanges: 2, times: 8 }]);

    // Without a word of the operator's, nobody is asked again, and that is said before anything runs.
    expect(await stage.run(["run", spec, "--json"])).toMatchObject({
      code: 3,
      err: expect.stringContaining(
        "8 failed in an earlier run and are not asked again: hallumaze retry broken --failed",
      ),
    });
    expect(await tally()).toEqual([{ exchanges: 2, trials: 8 }]);

    expect(await stage.run(["retry", "broken", "--failed", "--size", "7", "--model", "sim/oracle"])).toMatchObject({
      code: 0,
    });
    expect(await queued()).toEqual([{ model: "sim/oracle", size: 7, trials: 2 }]);
    expect(await stage.run(["retry", "broken", "--outcome", "timeout"])).toMatchObject({ code: 0 });
    expect(await queued()).toEqual([{ model: "sim/oracle", size: 7, trials: 2 }]);
    expect(await stage.run(["retry", "broken", "--outcome", "transient_server", "--model", "keyword"])).toMatchObject({
      code: 0,
    });
    expect(await queued()).toEqual([
      { model: "sim/keyword", size: 5, trials: 2 },
      { model: "sim/keyword", size: 7, trials: 2 },
      { model: "sim/oracle", size: 7, trials: 2 },
    ]);
    expect(await stage.run(["run", spec, "--json"])).toMatchObject({ code: 3 });
    expect(await tally()).toEqual([
      { exchanges: 2, trials: 2 },
      { exchanges: 4, trials: 6 },
    ]);
  });

  it("three times in ten ends with every trial answered, each failure recorded", async () => {
    const models = [{ model: "sim/dfs-honest", params: { failureRate: 0.3 } }];
    const spec = stage.spec("shaky", { models, seeds: ["1..20"], retries: { tries: 6 } });
    expect(await stage.run(["run", spec, "--json"])).toMatchObject({ code: 0 });
    const books = await ledger.books("shaky");
    expect(books).toMatchObject({ ...soundBooks(20), exchanges: books.exchanges });
    expect(books.exchanges).toBeGreaterThan(22);
    expect(
      await ledger.count(
        "state = 'done' AND tries <> (SELECT count(*) FROM exchanges WHERE trial_id = t.id) AND lane = 'sim.dfs-honest' AND sweep_id = (SELECT id FROM sweeps WHERE name = 'shaky')",
      ),
    ).toBe(0);
  });
});

function tally() {
  return ledger.sql(
    `SELECT exchanges, count(*)::int AS trials FROM (
       SELECT t.id, count(e.id)::int AS exchanges FROM trials t JOIN sweeps s ON s.id = t.sweep_id
       LEFT JOIN exchanges e ON e.trial_id = t.id WHERE s.name = 'broken' GROUP BY t.id
     ) each GROUP BY exchanges ORDER BY exchanges`,
  );
}

function queued() {
  return ledger.sql(
    `SELECT model, size, count(*)::int AS trials FROM trials t JOIN sweeps s ON s.id = t.sweep_id
     WHERE s.name = 'broken' AND state = 'queued' GROUP BY model, size ORDER BY model, size`,
  );
}
