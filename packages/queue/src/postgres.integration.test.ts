import { createDatabase, createPostgresServer, describeQueueContract } from "@hallumaze/testkit";
import pg from "pg";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import { describeOutages } from "../test/describe-outages.ts";
import { testLedger } from "../test/queue-process.ts";
import { shortSettings, startPostgresQueue } from "../test/queue-under-test.ts";
import { openQueue } from "./index.ts";

describeQueueContract("the queue on Postgres", async () => startPostgresQueue(await createDatabase()));

describe("a Postgres that fails", () => {
  describeOutages(async () => {
    const { url, drop } = await createDatabase();
    return { url, drop, target: (databaseUrl) => ({ databaseUrl }) };
  });
});

describe("quirks of Postgres", () => {
  const setUp = async (change: (url: string) => string = (url) => url) => {
    const database = await createDatabase();
    const client = new pg.Client(database.url);
    await client.connect();
    const open = () =>
      openQueue(
        { databaseUrl: change(database.url) },
        { ledger: testLedger, onError: () => undefined, settings: shortSettings },
      );
    const queue = await open();
    onTestFinished(async () => {
      await queue.close();
      await client.end();
      await database.drop();
    });
    return { client, queue, open };
  };
  const trials = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ trialId: `t${index}`, generation: 0, delayMs: 0 }));

  it("twenty lanes at work take no more than four connections a process", async () => {
    const { client, queue } = await setUp();
    let handled = 0;
    for (let lane = 0; lane < 20; lane += 1) {
      await queue.consume(`sim.${lane}`, 8, async () => {
        handled += 1;
        return { kind: "done" };
      });
    }
    await Promise.all(Array.from({ length: 20 }, (_, lane) => queue.enqueue(`sim.${lane}`, trials(20))));
    await vi.waitFor(() => expect(handled).toBe(400), { timeout: 20_000 });
    const { rows } = await client.query(
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    expect(rows[0].count).toBeLessThanOrEqual(4);
  });

  it("several processes may open an empty database at once", async () => {
    const database = await createDatabase();
    onTestFinished(() => database.drop());
    const queues = await Promise.all(
      Array.from({ length: 4 }, () =>
        openQueue({ databaseUrl: database.url }, { ledger: testLedger, onError: () => undefined }),
      ),
    );
    await Promise.all(queues.map((queue) => queue.enqueue("sim.a", trials(5))));
    expect(await queues[0]?.depth("sim.a")).toEqual({ waiting: 5, active: 0, delayed: 0 });
    await Promise.all(queues.map((queue) => queue.close()));
  });

  it("the queue's sessions do not wait for the disk, and keep the options that the URL brings along", async () => {
    const { client, open } = await setUp(
      (url) => `${url}?schema=public&options=${encodeURIComponent("-c statement_timeout=54321")}`,
    );
    await client.query(`
      ALTER DATABASE ${client.database} SET synchronous_commit = on;
      CREATE TABLE public.session AS SELECT ''::text AS commit, ''::text AS timeout WHERE false;
      CREATE FUNCTION public.note_session() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO public.session
        VALUES (current_setting('synchronous_commit'), current_setting('statement_timeout'));
        RETURN NEW;
      END $$;
      CREATE TRIGGER note_session BEFORE INSERT ON bullmq.job EXECUTE FUNCTION public.note_session();
    `);
    const later = await open();
    await later.enqueue("sim.a", trials(1));
    await later.close();
    const { rows } = await client.query("SELECT * FROM public.session");
    expect(rows).toEqual([{ commit: "off", timeout: "54321ms" }]);
  });

  it("handled deliveries leave no rows, and the table of events stays short", async () => {
    const { client, queue } = await setUp();
    let handled = 0;
    await queue.enqueue("sim.a", trials(1_000));
    await queue.consume("sim.a", 10, async () => {
      handled += 1;
      return { kind: "done" };
    });
    await vi.waitFor(() => expect(handled).toBe(1_000), { timeout: 30_000, interval: 50 });
    await vi.waitFor(async () => expect(await queue.depth("sim.a")).toEqual({ waiting: 0, active: 0, delayed: 0 }));
    const { rows } = await client.query(
      "SELECT (SELECT count(*) FROM bullmq.job)::int AS jobs, (SELECT count(*) FROM bullmq.event)::int AS events",
    );
    expect(rows[0].jobs).toBe(0);
    expect(rows[0].events).toBeLessThan(2_000);
  });

  it("a lost LISTEN connection is rebuilt: pick-up stays under a second", async () => {
    const { client, queue } = await setUp();
    const seen: { id: string; atMs: number }[] = [];
    await queue.consume("sim.a", 1, async ({ trialId }) => {
      seen.push({ id: trialId, atMs: performance.now() });
      return { kind: "done" };
    });
    await queue.enqueue("sim.a", [{ trialId: "before", generation: 0, delayMs: 0 }]);
    await vi.waitFor(() => expect(seen).toHaveLength(1));
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    await vi.waitFor(() => queue.enqueue("sim.a", [{ trialId: "after", generation: 0, delayMs: 0 }]));
    await vi.waitFor(() => expect(seen).toHaveLength(2), { timeout: 10_000 });
    await vi.waitFor(async () => expect(await queue.depth("sim.a")).toEqual({ waiting: 0, active: 0, delayed: 0 }));
    const startMs = performance.now();
    await queue.enqueue("sim.a", [{ trialId: "later", generation: 0, delayMs: 0 }]);
    await vi.waitFor(() => expect(seen).toHaveLength(3), { interval: 10 });
    expect((seen[2]?.atMs ?? Number.POSITIVE_INFINITY) - startMs).toBeLessThan(1_000);
  });

  it("after a restart of the server a delivery is picked up within a second, as before it", async () => {
    const server = await createPostgresServer();
    const queue = await openQueue(
      { databaseUrl: server.url },
      // Looks and watchdog would come later than the bound.
      {
        ledger: testLedger,
        onError: () => undefined,
        settings: { ...shortSettings, idlePollMs: 5_000, stuckAfterMs: 30_000 },
      },
    );
    onTestFinished(async () => {
      await queue.close();
      await server.drop();
    });
    const seen: string[] = [];
    await queue.consume("sim.a", 1, async ({ trialId }) => {
      seen.push(trialId);
      return { kind: "done" };
    });
    const pickUp = async (trialId: string): Promise<number> => {
      const startMs = performance.now();
      await queue.enqueue("sim.a", [{ trialId, generation: 0, delayMs: 0 }]);
      await vi.waitFor(() => expect(seen).toContain(trialId), { timeout: 20_000, interval: 10 });
      return performance.now() - startMs;
    };
    await pickUp("before");
    await server.restart("immediate");
    await vi.waitFor(() => pickUp("after"), { timeout: 30_000 });
    await vi.waitFor(async () => expect(await queue.depth("sim.a")).toMatchObject({ waiting: 0, active: 0 }));
    const times = [await pickUp("1"), await pickUp("2"), await pickUp("3")];
    expect(Math.max(...times)).toBeLessThan(1_000);
  }, 120_000);
});
