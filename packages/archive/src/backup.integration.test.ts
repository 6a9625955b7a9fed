import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";

import { openStore } from "@hallumaze/store";
import { createDatabase, type DisposableDatabase } from "@hallumaze/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { addSweep, answer, awkwardText, fillLedger, type FilledLedger } from "../test/filled-ledger.ts";
import { backUp, inspectBackup, openClient } from "./back-up.ts";
import { prune } from "./prune.ts";
import { restore } from "./restore.ts";

const signal = new AbortController().signal;
const options = { programVersion: "9.9.9", signal } as const;
let folder: string;
let file: string;
let ledger: FilledLedger;
let empty: DisposableDatabase;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "hallumaze-archive-"));
  file = join(folder, "ledger.backup");
  ledger = await fillLedger(3);
  empty = await createDatabase();
});
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  await ledger.drop();
  await empty.drop();
});

/** Every row of every table of the ledger, in an order of its own. */
async function contents(url: string): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const client = openClient(url);
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ readonly name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1",
    );
    const found: Record<string, readonly unknown[]> = {};
    for (const { name } of tables) {
      const { rows } = await client.query<{ readonly row: unknown }>(
        `SELECT t::text AS row FROM "${name}" t ORDER BY 1`,
      );
      found[name] = rows;
    }
    return found;
  } finally {
    await client.end();
  }
}

describe("a backup", () => {
  it("brings every row back as it was, awkward text too, and the ledger goes on under its old id", async () => {
    const report = await backUp(ledger.url, file, options);
    expect(report.rows).toMatchObject({ sweeps: 1, trials: 5, exchanges: 4, scores: 9 });
    const restored = await restore(empty.url, file, { signal });
    expect(restored).toMatchObject({ ledgerId: ledger.store.ledgerId, migrated: [], rows: report.rows });
    expect(await contents(empty.url)).toEqual(await contents(ledger.url));
    const store = await openStore({ databaseUrl: empty.url });
    expect(await countsOf(store, ledger.sweepId)).toEqual(await countsOf(ledger.store, ledger.sweepId));
    const [open] = await store.listPlanned(ledger.sweepId, 1);
    const [waiting] = [...(open === undefined ? [] : [open]), ...(await pagesOf(store.listOpen("sim.dfs", 10)))];
    if (waiting === undefined) throw new Error("nothing is open");
    await answer(store, waiting, awkwardText);
    const { models } = await store.progress(ledger.sweepId);
    expect(models[0]?.states).toMatchObject({ done: 4, failed: 1, queued: 0 });
    await store.close();
  });

  it("is one moment of a ledger that is written to meanwhile", async () => {
    const more = await addSweep(ledger.store, "meanwhile", 200);
    const trials = await ledger.store.listPlanned(more, 200);
    await ledger.store.markQueued(trials.map(({ trialId }) => trialId));
    const writing = Promise.all(trials.slice(3).map((trial) => answer(ledger.store, trial, "later")));
    await Promise.all([writing, backUp(ledger.url, file, options)]);
    await restore(empty.url, file, { signal });
    const client = openClient(empty.url);
    await client.connect();
    const { rows } = await client.query(
      `SELECT (SELECT count(*) FROM trials t WHERE state = 'done' AND source_trial_id IS NULL AND NOT EXISTS (SELECT 1 FROM scores s WHERE s.trial_id = t.id))::int AS unscored,
         (SELECT count(*) FROM trials t WHERE state = 'done' AND NOT EXISTS (SELECT 1 FROM exchanges e WHERE e.id = t.accepted_exchange_id))::int AS unfounded,
         (SELECT sum(trials) FROM trial_tallies)::int - (SELECT count(*) FROM trials)::int AS miscounted`,
    );
    await client.end();
    expect(rows).toEqual([{ unscored: 0, unfounded: 0, miscounted: 0 }]);
  });

  it("is SQL text under gzip that says what it holds", async () => {
    await backUp(ledger.url, file, options);
    const text = gunzipSync(readFileSync(file)).toString("utf8");
    expect(text).toMatch(/^-- hallumaze-backup \{"format":1,/);
    expect(text).toContain('COPY "sweeps" ("id", "name"');
    expect(await inspectBackup(file, signal)).toMatchObject({ ledgerId: ledger.store.ledgerId, rows: { trials: 5 } });
  });

  it("leaves no file under its name when it is interrupted, and never writes over one", async () => {
    await expect(
      backUp(ledger.url, file, { ...options, signal: AbortSignal.abort(new Error("SIGINT")) }),
    ).rejects.toThrow("aborted");
    expect(readdirSync(folder)).toEqual([]);
    writeFileSync(file, "yesterday's");
    await expect(backUp(ledger.url, file, options)).rejects.toMatchObject({ code: "backup-exists" });
    expect(readFileSync(file, "utf8")).toBe("yesterday's");
  });

  it("of a database without a ledger is refused", async () => {
    await expect(backUp(empty.url, file, options)).rejects.toMatchObject({ code: "schema-unknown" });
    expect(existsSync(file)).toBe(false);
  });
});

async function pagesOf<T>(pages: AsyncIterable<readonly T[]>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}

describe("a restore", () => {
  it("refuses a database that holds a ledger, and takes one whose ledger is empty", async () => {
    await backUp(ledger.url, file, options);
    const before = await contents(ledger.url);
    await expect(restore(ledger.url, file, { signal })).rejects.toMatchObject({ code: "restore-not-empty" });
    expect(await contents(ledger.url)).toEqual(before);
    await (await openStore({ databaseUrl: empty.url })).close();
    await restore(empty.url, file, { signal });
    expect(await contents(empty.url)).toEqual(before);
  });

  it("gives a copy an identity of its own where that is asked for", async () => {
    await backUp(ledger.url, file, options);
    const { ledgerId } = await restore(empty.url, file, { signal, newLedgerId: true });
    const store = await openStore({ databaseUrl: empty.url });
    expect(store.ledgerId).toBe(ledgerId);
    expect(ledgerId).not.toBe(ledger.store.ledgerId);
    await store.close();
  });

  it.each([
    ["cut short", (text: string) => text.slice(0, Math.floor(text.length * 0.7)), "backup-damaged"],
    ["without its last line", (text: string) => text.slice(0, text.lastIndexOf("-- hallumaze-end")), "backup-damaged"],
    [
      "with a changed figure",
      (text: string) => text.replace("0.30000000000000004", "0.90000000000000004"),
      "backup-damaged",
    ],
    ["with a row less", (text: string) => text.replace(/\n[^\n]*0\.012500000000[^\n]*/, ""), "backup-damaged"],
    ["of another program", () => "PK and so on\n", "backup-unreadable"],
    ["of a newer format", (text: string) => text.replace('"format":1', '"format":2'), "backup-newer"],
    ["of a newer schema", (text: string) => text.replace('{"name":"2026', '{"name":"2027'), "schema-unknown"],
  ])("leaves the database as it was where the file is %s", async (_what, spoil, code) => {
    await backUp(ledger.url, file, options);
    writeFileSync(file, gzipSync(spoil(gunzipSync(readFileSync(file)).toString("utf8"))));
    await expect(restore(empty.url, file, { signal })).rejects.toMatchObject({ code });
    expect(await contents(empty.url)).toEqual({});
  });

  it("knows a gzip that was cut in its bytes", async () => {
    await backUp(ledger.url, file, options);
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.subarray(0, bytes.length - 20));
    await expect(restore(empty.url, file, { signal })).rejects.toMatchObject({ code: "backup-damaged" });
    expect(await contents(empty.url)).toEqual({});
  });
});

describe("prune", () => {
  const wish = { olderThanMs: 0, withText: false, dryRun: false } as const;
  const look =
    "SELECT count(*) FILTER (WHERE raw_body IS NULL AND request_json IS NULL)::int AS pruned, count(text)::int AS texts FROM exchanges";

  it("removes what no report reads, keeps hashes, and changes no row that one reads", async () => {
    const [before, progress] = [await rowsOf(ledger), await countsOf(ledger.store, ledger.sweepId)];
    const raw = await ledger.sql("SELECT id, raw_sha256 FROM exchanges ORDER BY id");
    const planned = await prune(ledger.url, { ...wish, sweepId: ledger.sweepId, dryRun: true }, signal);
    expect(await rowsOf(ledger)).toEqual(before);
    const report = await prune(ledger.url, { ...wish, sweepId: ledger.sweepId }, signal);
    expect(report).toEqual(planned);
    expect(report).toMatchObject({ trials: 4, exchanges: 4, skipped: 0 });
    expect(await ledger.sql(look)).toEqual([{ pruned: 4, texts: 3 }]);
    expect(await ledger.sql("SELECT id, raw_sha256 FROM exchanges ORDER BY id")).toEqual(raw);
    expect(
      await ledger.sql(
        "SELECT count(*)::int AS n FROM exchanges WHERE length(request_sha256) = 64 AND pruned_at IS NOT NULL",
      ),
    ).toEqual([{ n: 4 }]);
    expect(await rowsOf(ledger)).toEqual(before);
    expect(await countsOf(ledger.store, ledger.sweepId)).toEqual(progress);
    expect(await prune(ledger.url, { ...wish, sweepId: ledger.sweepId }, signal)).toMatchObject({ exchanges: 0 });
  });

  it("takes texts only when asked, tells so of each reply, and counts nothing anew", async () => {
    const progress = await countsOf(ledger.store, ledger.sweepId);
    await prune(ledger.url, { ...wish, sweepId: null, withText: true }, signal);
    const replies = await pagesOf(ledger.store.streamReplies(ledger.sweepId, 10));
    expect(replies.map(({ isPruned }) => isPruned)).toEqual([true, true, true]);
    await ledger.sql("SELECT hallumaze_recount()");
    expect(await countsOf(ledger.store, ledger.sweepId)).toEqual(progress);
  });

  it("leaves trials that ended lately, run, or wait, and the text on which another sweep stands", async () => {
    expect(await prune(ledger.url, { ...wish, sweepId: null, olderThanMs: 3_600_000 }, signal)).toMatchObject({
      exchanges: 0,
    });
    await addSweep(ledger.store, "heir", 3);
    await ledger.store.requeue(ledger.sweepId, { states: ["failed"] });
    await prune(ledger.url, { ...wish, sweepId: ledger.sweepId, withText: true }, signal);
    expect(await ledger.sql(look)).toEqual([{ pruned: 3, texts: 3 }]);
  });

  it("passes by a trial that another process holds", async () => {
    const holder = openClient(ledger.url);
    await holder.connect();
    await holder.query("BEGIN");
    await holder.query("SELECT id FROM trials WHERE state = 'done' ORDER BY id LIMIT 1 FOR UPDATE");
    expect(await prune(ledger.url, { ...wish, sweepId: null }, signal)).toMatchObject({ exchanges: 3, skipped: 1 });
    await holder.end();
  });
});

/** All that `status` shows but the speed, which is the clock's. */
async function countsOf(store: Pick<FilledLedger["store"], "progress">, sweepId: string): Promise<unknown> {
  const { models, ...rest } = await store.progress(sweepId);
  return { ...rest, models: models.map((model) => ({ ...model, finishedPerSecond: 0 })) };
}

async function rowsOf({ store, sweepId }: FilledLedger): Promise<readonly unknown[]> {
  return pagesOf(store.streamTrials(sweepId, 10));
}
