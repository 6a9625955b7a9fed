import { setTimeout as sleep } from "node:timers/promises";

import { startMockProviders } from "@hallumaze/mock-providers";
import { createDatabase } from "@hallumaze/testkit";
import { describe, expect, it, onTestFinished } from "vitest";

import { openLedger, openStage, soundBooks } from "../test/program-stage.ts";

const slow = (latencyMs: number) => ({ model: "sim/oracle", params: { latencyMs } });
const words = ["worker", "--role", "solve", "--concurrency", "4"];

async function submitted(
  seeds: number,
  model: ReturnType<typeof slow> | string,
  variables: Readonly<Record<string, string>> = {},
) {
  const { url: DATABASE_URL, drop } = await createDatabase();
  const stage = openStage({ DATABASE_URL, ...variables });
  const ledger = await openLedger(DATABASE_URL);
  onTestFinished(async () => {
    await ledger[Symbol.asyncDispose]();
    await stage.clear();
    await drop();
  });
  const limits =
    typeof model === "string" ? { [model]: { rpm: 1e6, inputTpm: 1e9, outputTpm: 1e9, concurrency: 100 } } : {};
  const spec = stage.spec("drained", { models: [model], limits, seeds: [`1..${seeds}`] });
  expect(await stage.run(["submit", spec])).toMatchObject({ code: 0 });
  return { stage, ledger };
}

describe("a worker that is told to stop", () => {
  it("waits for the requests under way however long, begins no other, and gives the rest back", async () => {
    await using mock = await startMockProviders({ latency: { baseMs: 4000 } });
    const { stage, ledger } = await submitted(12, "anthropic/claude-sonnet-5-5", mock.environment());
    const worker = stage.start(words);
    // Claimed is not yet sent.
    await mock.until((counts) => counts.inFlight === 4, 120_000);
    worker.kill("SIGTERM");
    const { code, err } = await worker.ended;
    expect(code, err).toBe(0);
    // The longest request and 15 s, unless told otherwise.
    expect(err).toContain("at most 915 s");
    const { states, exchanges, repeated } = await ledger.books("drained");
    expect({ states, exchanges, repeated }).toEqual({ states: { done: 4, queued: 8 }, exchanges: 4, repeated: 0 });
    expect(mock.counts().requests).toBe(4);
  });

  it("killed a second later leaves what another finishes, each cell once", async () => {
    const { stage, ledger } = await submitted(8, slow(3000));
    const worker = stage.start(words);
    await ledger.reach("state = 'running'", 4);
    worker.kill("SIGTERM");
    await worker.says("draining");
    await sleep(1000);
    worker.kill("SIGKILL");
    expect(await worker.ended).toMatchObject({ signal: "SIGKILL" });
    const next = stage.start(words);
    await ledger.reach("state = 'done'", 8);
    next.kill("SIGTERM");
    expect(await next.ended).toMatchObject({ code: 0 });
    expect(await ledger.books("drained")).toEqual(soundBooks(8));
  });

  it("twice stops at once, and so does one whose deadline is short", async () => {
    const { stage, ledger } = await submitted(8, slow(60_000));
    const [first, second] = [stage.start(words), stage.start([...words, "--drain-seconds", "1"])];
    await ledger.reach("state = 'running'", 8);
    first.kill("SIGTERM");
    await first.says("draining");
    first.kill("SIGTERM");
    expect(await first.ended).toMatchObject({ code: 130 });
    second.kill("SIGTERM");
    expect(await second.ended).toMatchObject({ code: 0 });
    // Given back by the one; the other's four wait for their lease, or for a look at its process.
    expect(await ledger.books("drained")).toMatchObject({ states: { queued: 4, running: 4 }, exchanges: 0 });
  });
});

describe("a database that a newer version has changed", () => {
  it("under a worker: one that only adds is borne; a breaking one ends its work, and all it had is given back", async () => {
    const { stage, ledger } = await submitted(200, slow(1500));
    const applied = (name: string) =>
      ledger.sql(
        `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ($1, 'x', $1, now())`,
        [name],
      );
    const worker = stage.start(words);
    await ledger.reach("state = 'done'", 1);
    await applied("29990101000000_adds");
    const before = await ledger.count("state = 'done'");
    await ledger.reach("state = 'done'", before + 30);
    await applied("29990102000000_breaks");
    await ledger.sql("COMMENT ON TABLE _prisma_migrations IS 'breaking 29990102000000_breaks'");
    const { code, err } = await worker.ended;
    expect(code).toBe(1);
    expect(err).toContain("29990102000000_breaks");
    expect(err).toContain("update it");
    const books = await ledger.books("drained");
    expect(books.states["running"]).toBeUndefined();
    expect(books.exchanges).toBe(books.states["done"]);
    expect((books.states["done"] ?? 0) + (books.states["queued"] ?? 0)).toBe(200);
    const again = await stage.run(words);
    expect(again.code).toBe(1);
    expect(again.err).toContain("a newer version made it");
  });
});
