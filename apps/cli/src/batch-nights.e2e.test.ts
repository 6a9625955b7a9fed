// Batches through the whole program: the vendors' servers in one process, `run` in others, killed and started again.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import type { BatchCounts, BatchRule } from "@hallumaze/mock-providers";
import { createDatabase, findTool, skewedClock } from "@hallumaze/testkit";
import { afterEach, describe, expect, it } from "vitest";

import { type Ledger, openLedger, openStage, soundBooks, type Spec, type Stage, until } from "../test/program-stage.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const model = "anthropic/claude-haiku-4-5-20251001";
/** US dollars a token, of a live call. */
const tariff = { input: 1e-6, output: 5e-6 } as const;
const limits = { [model]: { rpm: 100_000, inputTpm: 1e9, outputTpm: 1e9 } } as const;
const hour = 3_600_000;

interface Desk {
  readonly stage: Stage;
  readonly ledger: Ledger;
  /** Batches at the server, oldest first. */
  readonly made: () => Promise<readonly BatchCounts[]>;
  /** Live calls that were answered, and what all is on the bill for. */
  readonly bill: () => Promise<{ readonly live: number; readonly usd: number }>;
}

async function open(batches: readonly BatchRule[]): Promise<Desk> {
  const { url: DATABASE_URL, drop } = await createDatabase();
  const servers = openStage();
  closing.push(drop, () => servers.clear());
  const config = join(servers.folder, "servers.json");
  writeFileSync(config, JSON.stringify({ batches }));
  const server = servers.start(["mock-providers", "--config", config, "--json"]);
  let printed = "";
  await until(() => {
    printed = server.printed();
    return printed.includes("\n") ? true : null;
  });
  const { environment } = JSON.parse(printed) as { readonly environment: Readonly<Record<string, string>> };
  const origin = new URL(environment["ANTHROPIC_BASE_URL"] ?? "").origin;
  const ask = async <Answer>(what: string): Promise<Answer> =>
    (await (await fetch(`${origin}/_control/${what}`, { signal: AbortSignal.timeout(10_000) })).json()) as Answer;
  const stage = openStage({ DATABASE_URL, ...environment });
  const ledger = await openLedger(DATABASE_URL);
  closing.push(
    () => stage.clear(),
    async () => ledger[Symbol.asyncDispose](),
  );
  const usdOf = (used: { readonly inputTokens: number; readonly outputTokens: number }): number =>
    used.inputTokens * tariff.input + used.outputTokens * tariff.output;
  const made = () => ask<readonly BatchCounts[]>("batches");
  return {
    stage,
    ledger,
    made,
    bill: async () => {
      const live = await ask<{
        readonly completed: number;
        readonly inputTokens: number;
        readonly outputTokens: number;
      }>("counts");
      const inBatches = (await made()).reduce((sum, batch) => sum + usdOf(batch) / 2, 0);
      return { live: live.completed, usd: usdOf(live) + inBatches };
    },
  };
}

/** What the sweeps of the ledger have spent, and hold back. */
async function money(ledger: Ledger): Promise<{ readonly spentUsd: number; readonly reservedUsd: number }> {
  const [row] = await ledger.sql<{ spentUsd: number; reservedUsd: number }>(
    `SELECT sum(spent_usd)::float8 AS "spentUsd", sum(reserved_usd)::float8 AS "reservedUsd" FROM sweeps`,
  );
  return row ?? { spentUsd: 0, reservedUsd: 0 };
}

/** Resolves once a batch is at the vendor, and the ledger knows as which. */
async function isUnderWay(ledger: Ledger): Promise<void> {
  await until(async () => {
    const [table] = await ledger.sql<{ name: string | null }>("SELECT to_regclass('batches')::text AS name");
    if (!table?.name) return null;
    const rows = await ledger.sql("SELECT 1 FROM batches WHERE vendor_id IS NOT NULL");
    return rows.length > 0 ? true : null;
  });
}

describe("run in batches", () => {
  it("killed while its batch is under way, and run again: one batch, each row once, the ledger equals the bill", async () => {
    const { stage, ledger, made, bill } = await open([{ afterMs: 3000 }]);
    const spec: Spec = { models: [{ model, mode: "batch" }], seeds: ["1..9"], limits };
    const words = ["run", stage.spec("night", spec), "--json"];
    const first = stage.start(words);
    await isUnderWay(ledger);
    first.kill("SIGKILL");
    expect((await first.ended).signal).toBe("SIGKILL");
    expect(await ledger.count("state = 'done'")).toBe(0);

    expect(await stage.run(words)).toMatchObject({ code: 0 });
    expect((await made()).map(({ rows, ends }) => ({ rows, ends }))).toEqual([{ rows: 9, ends: { answered: 9 } }]);
    expect(await ledger.books("night")).toEqual(soundBooks(9));
    const { live, usd } = await bill();
    expect(live).toBe(0);
    expect(usd).toBeGreaterThan(0);
    const { spentUsd, reservedUsd } = await money(ledger);
    expect(spentUsd).toBeCloseTo(usd, 12);
    expect(reservedUsd).toBe(0);
  });
});

describe("run of mode auto where no batch ever ends", () => {
  const never = [{ afterMs: 1e9 }];
  const auto = (deadline: string): Spec => ({
    models: [{ model, mode: "auto", deadline }],
    seeds: ["1..6"],
    maxTokens: 1500,
    limits,
  });

  it("with a deadline too near for batches asks live, says so before, and is done by it", async () => {
    const { stage, ledger, made, bill } = await open(never);
    const deadlineMs = Date.now() + 45_000;
    const path = stage.spec("near", auto(new Date(deadlineMs).toISOString()));
    const plan = await stage.run(["plan", path]);
    expect(plan.out).toMatch(/auto: \$0\.\d\d in batches, \$0\.\d\d live; .* all is asked live/);
    expect(await stage.run(["run", path, "--json"])).toMatchObject({ code: 0 });
    expect(Date.now()).toBeLessThan(deadlineMs);
    expect(await made()).toEqual([]);
    expect(await ledger.books("near")).toEqual(soundBooks(6));
    const { live, usd } = await bill();
    expect(live).toBe(6);
    expect((await money(ledger)).spentUsd).toBeCloseTo(usd, 12);
  });

  const faketime = findTool("faketime");
  it.skipIf(faketime.kind === "missing")(
    "with a batch under way when its moment comes cancels it and asks its rows live, once, before the deadline",
    async () => {
      const { stage, ledger, made, bill } = await open(never);
      const deadlineMs = Date.now() + 2 * hour;
      const words = ["run", stage.spec("far", auto(new Date(deadlineMs).toISOString())), "--json"];
      const first = stage.start(words);
      await isUnderWay(ledger);
      expect((await made()).map(({ rows }) => rows)).toEqual([6]);
      first.kill("SIGKILL");
      await first.ended;

      // An hour and forty minutes on by this process' clock: twenty minutes are left, and a cancellation may take ten.
      const late = faketime.kind === "installed" ? skewedClock(faketime.path, 6000) : {};
      expect(await stage.start(words, late).ended).toMatchObject({ code: 0 });
      expect((await made()).map(({ rows, ends }) => ({ rows, ends }))).toEqual([{ rows: 6, ends: { canceled: 6 } }]);
      expect(await ledger.books("far")).toEqual(soundBooks(6));
      const { live, usd } = await bill();
      expect(live).toBe(6);
      const { spentUsd, reservedUsd } = await money(ledger);
      expect(spentUsd).toBeCloseTo(usd, 12);
      expect(reservedUsd).toBe(0);
    },
  );

  it("with a deadline that has passed is refused before anything is sent", async () => {
    const { stage, bill } = await open(never);
    const path = stage.spec("past", auto("2020-01-01T08:00:00+09:00"));
    const ended = await stage.run(["run", path]);
    expect(ended).toMatchObject({ code: 2 });
    expect(ended.err).toContain("the deadline 2020-01-01T08:00:00+09:00 has passed. Take a later one");
    expect(await bill()).toEqual({ live: 0, usd: 0 });
  });
});
