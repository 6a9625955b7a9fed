import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";

import { createDatabase, createFaultProxy, findFreePort, findRedis } from "@hallumaze/testkit";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import {
  anthropic,
  type Done,
  openai,
  openPlay,
  type Play,
  readOperationsPage,
  type Section,
} from "../test/operations-page.ts";
import { soundBooks } from "../test/program-stage.ts";

const { text, sections } = readOperationsPage();

let webhook: Server;
const told: { readonly event: string; readonly [more: string]: unknown }[] = [];

/** What the sections have in common; each has a database and a Redis of its own. */
function variables(): Readonly<Record<string, string>> {
  return { HALLUMAZE_NOTIFY_URL: `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/` };
}

async function open(...given: Parameters<typeof openPlay>): Promise<Play> {
  const play = await openPlay(...given);
  onTestFinished(() => play[Symbol.asyncDispose]());
  return play;
}

/** Says all that a command said where it ended with another code. */
function ended(done: Done, code: number): Done {
  expect(done.code, done.out + done.err).toBe(code);
  return done;
}

type Guide = (section: Section) => Promise<Play>;

/** What each section's commands meet, and what has to come of them. */
const guides: Readonly<Record<string, Guide>> = {
  "A lane is parked": async (section) => {
    const script = [
      { when: { vendor: "openai" as const }, fail: "auth" as const },
      { when: { vendor: "anthropic" as const }, fail: "quota_exhausted" as const },
    ];
    const play = await open(section, variables(), { script });
    ended(await play.say("run", "examples/overnight.yaml"), 3);
    expect(told).toContainEqual(expect.objectContaining({ event: "lane.parked", outcome: "auth" }));
    expect(told).toContainEqual(expect.objectContaining({ event: "lane.parked", outcome: "quota_exhausted" }));
    const status = await play.next("status overnight");
    expect(status).toMatchObject({ code: 3 });
    expect(status.out).toMatch(/^openai\S* is parked until it is resumed: auth/m);
    expect(status.out).toMatch(/^anthropic\S* is parked until it is resumed: quota_exhausted/m);
    expect((await play.next("lanes overnight")).out).toMatch(/^openai\S* is parked until/m);
    play.mock.script([]);
    expect((await play.next("resume overnight")).out).toContain("2 lanes go on, 12 trials put back");
    ended(await play.next("run examples"), 0);
    const over = await play.next("status overnight");
    expect(over).toMatchObject({ code: 0 });
    expect(over.out).toContain("12/12 done");
    expect(over.out).not.toContain("parked");
    return play;
  },

  "A model fails": async (section) => {
    const script = [{ when: { vendor: "anthropic" as const }, fail: "overloaded" as const }];
    const play = await open(section, variables(), { script });
    ended(await play.say("run", "examples/overnight.yaml"), 3);
    expect(told).toContainEqual(expect.objectContaining({ event: "sweep.failing", sweep: "overnight" }));
    const status = await play.next("status overnight");
    expect(status).toMatchObject({ code: 3 });
    expect(status.out).toMatch(new RegExp(`^6 × \\w+ \\(${anthropic}\\): `, "m"));
    expect((await play.next("lanes park")).out).toContain("parked");
    await play.say("retry", "overnight", "--failed");
    expect(await play.ledger.count("state = 'queued'")).toBe(6);
    // Nothing of it starts, and no try is spent.
    ended(await play.say("run", "examples/overnight.yaml"), 3);
    expect(play.mock.counts().requests).toBe(12);
    expect((await play.next("lanes resume")).out).toContain("goes on, 6 trials put back");
    ended(await play.say("run", "examples/overnight.yaml"), 3);
    play.mock.script([]);
    expect((await play.next("retry overnight --failed")).out).toContain("6 trials put back");
    expect((await play.next("cancel overnight")).out).toContain("3 trials cancelled");
    expect((await play.next("retry overnight --outcome cancelled")).out).toContain("3 trials put back");
    ended(await play.next("run examples"), 0);
    expect((await play.next("status overnight")).out).toContain("12/12 done");
    return play;
  },

  "The disk is full": async (section) => {
    const play = await open(section, variables());
    ended(await play.say("run", "examples/overnight.yaml"), 0);
    await play.ledger.sql("UPDATE trials SET finished_at = finished_at - interval '40 days'");
    play.spec({ seeds: ["1001..1012"] });
    // As a server words it that has no room for a reply.
    await play.ledger.sql(`CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`);
    await play.ledger.sql(
      "CREATE TRIGGER full_disk BEFORE INSERT ON exchanges FOR EACH ROW EXECUTE FUNCTION no_room()",
    );
    const run = play.stage.start(["run", "examples/overnight.yaml"]);
    await run.says("the database refuses replies: holding them, work pauses");
    expect((await play.next("doctor")).out).toContain("free in the working folder");
    await play.ledger.sql("DROP TRIGGER full_disk ON exchanges");
    expect(await run.ended).toMatchObject({ code: 0 });

    const [results, other] = [join(play.stage.folder, "results"), join(play.stage.folder, "other")];
    const room = takeRoom(results);
    try {
      ended(await play.say("backup", "results/ledger.backup"), 1);
      ended(await play.say("export", "overnight", "--output", "results/trials.jsonl"), 1);
      expect(readdirSync(results).filter((name) => /ledger|trials/.test(name))).toEqual([]);
    } finally {
      room.giveBack();
    }
    mkdirSync(other);
    expect((await play.next("backup", { "/mnt/other": other })).out).toContain("24 trials");
    expect((await play.next("prune --all --older-than 30d --dry-run")).out).toContain("would prune 12 exchanges");
    expect((await play.next("prune --all")).out).toContain("pruned 12 exchanges");
    expect(await play.next("status overnight --watch")).toMatchObject({
      code: 0,
      out: expect.stringContaining("24/24 done"),
    });
    expect(await play.ledger.books("overnight")).toEqual(soundBooks(24));
    expect(play.mock.counts().requests).toBe(24);
    return play;
  },

  "Redis is lost, or came back empty": async (section) => {
    const play = await open(section, variables());
    ended(await play.say("submit", "examples/overnight.yaml"), 0);
    await play.redis.kill();
    expect(ended(await play.next("doctor"), 1).out).toContain(`127.0.0.1:${play.redis.port}`);
    // It keeps nothing on a disk: it comes back empty.
    await play.redis.restart();
    expect(ended(await play.next("reconcile"), 0).out).toContain("12 delivered again");
    expect(ended(await play.next("reconcile"), 0).out).toBe("nothing to put right");
    ended(await play.next("run examples"), 0);
    expect(await play.ledger.books("overnight")).toEqual(soundBooks(12));
    return play;
  },

  "Postgres is away, or restarts": async (section) => {
    const database = await createDatabase();
    const proxy = await createFaultProxy(database.url);
    const slow = { [openai]: { concurrency: 1 }, [anthropic]: { concurrency: 1 } };
    const play = await open(
      section,
      { ...variables(), DATABASE_URL: proxy.through(database.url) },
      { baseMs: 500, spec: { limits: slow } },
    );
    try {
      const run = play.stage.start(["run", "examples/overnight.yaml"]);
      await play.mock.until((counts) => counts.completed >= 2, 60_000);
      await proxy.refuse();
      await run.says("Waiting for it.");
      expect(ended(await play.next("doctor"), 1).out).toContain(`127.0.0.1:${proxy.port}`);
      await proxy.accept();
      ended(await play.next("doctor"), 0);
      expect(ended(await run.ended, 0).out).toContain("It answers again.");
      expect(await play.next("run examples")).toMatchObject({
        code: 0,
        out: expect.stringContaining("nothing to run: all 12 cells have been answered"),
      });
      expect(play.mock.counts().requests).toBe(12);
    } finally {
      await proxy.close();
      await database.drop();
    }
    return play;
  },

  "Restoring from a backup": async (section) => {
    const play = await open(section, variables(), { spec: { seeds: ["1001..1003"] } });
    ended(await play.say("run", "examples/overnight.yaml"), 0);
    play.spec({ seeds: ["1001..1006"] });
    ended(await play.say("submit", "examples/overnight.yaml"), 0);
    expect((await play.next("backup")).out).toContain("12 trials");
    // What came after the backup is lost with the database.
    ended(await play.say("run", "examples/overnight.yaml"), 0);
    expect(play.mock.counts().requests).toBe(12);
    await restoreElsewhere(play, async () => {
      const status = await play.next("status overnight");
      expect(status.out).toContain("6/12 done");
      ended(await play.next("run examples"), 0);
      expect(play.mock.counts().requests).toBe(18);
    });
    return play;
  },

  "A worker hangs or is killed": async (section) => {
    const script = [{ nth: [1, 2], delivery: { blackHole: true } }];
    const play = await open(section, variables(), { script });
    ended(await play.say("submit", "examples/overnight.yaml"), 0);
    const port = { 9464: `${await findFreePort()}` };
    const worker = play.begin("worker", port);
    await play.ledger.reach("state = 'done'", 10);
    expect(await metricsAt(port[9464])).toContain("hallumaze_in_flight_oldest_seconds");
    worker.kill("SIGSTOP");
    ended(await play.next("curl", port), 28);
    ended(await play.next("kill", { PID: `${worker.pid}` }), 0);
    expect(await worker.ended).toMatchObject({ signal: "SIGKILL" });
    expect((await play.next("reconcile")).out).toContain("2 trials of lost workers put back");
    ended(await play.next("run examples"), 0);
    const status = await play.next("status overnight");
    expect(status).toMatchObject({ code: 0, out: expect.stringContaining("12/12 done") });
    expect(status.out).toMatch(/^worker_lost: 2 requests/m);
    return play;
  },

  "A sweep must stop, or make room": async (section) => {
    const play = await open(section, variables());
    ended(await play.say("submit", "examples/overnight.yaml"), 0);
    ended(await play.next("pause overnight"), 0);
    const status = await play.next("status overnight");
    expect(status.out).toContain("paused since");
    expect(status.out).not.toContain("in flight,");
    ended(await play.say("run", "examples/overnight.yaml"), 3);
    expect(play.mock.counts().requests).toBe(0);
    expect((await play.next("resume overnight")).out).toContain("12 trials put back");
    play.spec({ name: "urgent", seeds: ["2001..2003"] });
    ended(await play.say("submit", "examples/overnight.yaml"), 0);
    play.spec();
    expect((await play.next("prioritize urgent --priority")).out).toBe(
      "urgent: priority 5, weight 2; 6 waiting trials placed anew",
    );
    expect((await play.next("prioritize urgent --reset")).out).toContain("urgent: priority 0, weight 1");
    expect((await play.next("cancel overnight")).out).toContain("12 trials cancelled");
    ended(await play.say("run", "examples/overnight.yaml"), 3);
    expect((await play.next("retry overnight")).out).toContain("12 trials put back");
    ended(await play.next("run examples"), 0);
    expect(await play.ledger.books("overnight")).toEqual(soundBooks(12));
    return play;
  },

  "The budget is reached": async (section) => {
    // A call costs $0.02 and might cost $0.03.
    const prices = Object.fromEntries([openai, anthropic].map((model) => [model, { input: 0, output: 20 }]));
    const script = [{ reply: { usage: { outputTokens: 1000 } } }];
    const play = await open(section, variables(), { script, spec: { prices, maxTokens: 1500, budgetUsd: 0.1 } });
    ended(await play.say("run", "examples/overnight.yaml"), 4);
    expect(told).toContainEqual(expect.objectContaining({ event: "sweep.budget_reached", sweep: "overnight" }));
    const status = await play.next("status overnight");
    expect(status).toMatchObject({ code: 4 });
    expect(status.out).toContain("budget_blocked");
    expect(play.mock.counts().requests).toBeLessThanOrEqual(5);
    play.spec({ budgetUsd: 1 });
    ended(await play.next("plan examples"), 0);
    ended(await play.next("run examples"), 0);
    expect((await play.next("status overnight")).out).toContain("spent at most $0.2400 of $1;");
    expect(play.mock.counts().requests).toBe(12);
    return play;
  },

  "The limits change at night": async (section) => {
    const play = await open(section, variables());
    ended(await play.say("submit", "examples/overnight.yaml"), 0);
    expect((await play.next("lanes limit")).out).toMatch(/rpm 50, .*workers follow within seconds/);
    expect((await play.next("lanes overnight")).out).toMatch(/rpm 50, tpm 30000, concurrency 4 by an operator/);
    ended(await play.next("lanes limit"), 0);
    const { out } = await play.next("lanes overnight");
    expect(out).not.toContain("by an operator");
    expect(out).toContain("rpm 1000000");
    return play;
  },

  "Upgrading while a sweep runs": async (section) => {
    const play = await open(section, variables(), { baseMs: 300, spec: { seeds: ["1001..1020"] } });
    ended(await play.say("submit", "examples/overnight.yaml"), 0);
    const old = play.stage.start(["worker", "--role", "solve", "--concurrency", "1"]);
    await play.ledger.reach("state = 'done'", 1);
    ended(await play.next("backup"), 0);
    const next = play.begin("worker");
    await next.says("worker: role");
    ended(await play.next("kill", { PID: `${old.pid}` }), 0);
    expect(await old.ended).toMatchObject({ code: 0 });
    const status = await play.next("status overnight --watch");
    expect(status).toMatchObject({ code: 0, out: expect.stringContaining("40/40 done") });
    next.kill("SIGTERM");
    expect(await next.ended).toMatchObject({ code: 0 });
    expect(await play.ledger.books("overnight")).toEqual(soundBooks(40));
    await play.ledger.sql(`INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at)
      VALUES ('x', 'x', '29990101000000_later', now())`);
    const doctor = await play.next("doctor");
    expect(doctor).toMatchObject({ code: 1, out: expect.stringContaining("29990101000000_later") });
    return play;
  },

  "Moving to another machine": async (section) => {
    const play = await open(section, variables(), { spec: { seeds: ["1001..1003"] } });
    ended(await play.say("run", "examples/overnight.yaml"), 0);
    play.spec({ seeds: ["1001..1006"] });
    ended(await play.say("submit", "examples/overnight.yaml"), 0);
    ended(await play.next("pause overnight"), 0);
    expect((await play.next("status overnight")).out).toContain("paused since");
    ended(await play.next("backup"), 0);
    await restoreElsewhere(play, async () => {
      expect((await play.next("resume overnight")).out).toContain("6 trials put back");
      ended(await play.next("run examples"), 0);
      expect((await play.next("status overnight")).out).toContain("12/12 done");
      expect(play.mock.counts().requests).toBe(12);
    });
    return play;
  },
};

describe.runIf(findRedis().kind === "installed")("docs/operations.md", () => {
  beforeAll(async () => {
    webhook = createServer((request, response) => {
      void json(request).then((body) => {
        told.push(body as (typeof told)[number]);
        response.end();
      });
    }).listen(0, "127.0.0.1");
    await once(webhook, "listening");
  });
  afterAll(async () => {
    webhook.close();
  });

  it.each(sections)("$heading: every command does what the page says", async (section) => {
    told.length = 0;
    const guide = guides[section.heading];
    if (guide === undefined) throw new Error("no test runs this section's commands");
    const play = await guide(section);
    expect(play.left()).toEqual([]);
  });
});

it("every section that is tested is on the page, and every metric and event it names is a documented one", () => {
  expect(sections.map(({ heading }) => heading)).toEqual(Object.keys(guides));
  const known = readFileSync(new URL("../../../docs/observability.md", import.meta.url), "utf8");
  const named = text.match(/`(?:hallumaze_\w+|(?:lane|sweep)\.\w+)`/g) ?? [];
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
});

/** Takes the page's way to an empty database, and does there what follows. */
async function restoreElsewhere(play: Play, then: () => Promise<void>): Promise<void> {
  const database = await createDatabase();
  try {
    play.exports("DATABASE_URL", database.url);
    if (play.left()[0]?.endsWith("doctor")) ended(await play.next("doctor"), 0);
    expect((await play.next("restore")).out).toContain("1 sweeps, 12 trials, 6 exchanges");
    await then();
  } finally {
    await database.drop();
  }
}

/** Leaves no room in a folder: a small file system over it where a mount is allowed, else no right to write. */
function takeRoom(folder: string): { readonly giveBack: () => void } {
  const shell = (command: string): number | null => spawnSync("sh", ["-c", command, "sh", folder]).status;
  if (shell('mount -t tmpfs -o size=4k tmpfs "$1"') === 0) return { giveBack: () => void shell('umount "$1"') };
  chmodSync(folder, 0o500);
  return { giveBack: () => chmodSync(folder, 0o700) };
}

async function metricsAt(port: string): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}
