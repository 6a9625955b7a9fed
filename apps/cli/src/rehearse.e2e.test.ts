import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { type MockProviders, startMockProviders } from "@hallumaze/mock-providers";
import { createDatabase, createRedis, findRedis } from "@hallumaze/testkit";
import { Redis } from "ioredis";
import { afterEach, describe, expect, it } from "vitest";

import { type Ledger, openLedger, openStage, type Stage } from "../test/program-stage.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const openai = "openai/gpt-4o";
const anthropic = "anthropic/claude-sonnet-4-6";
const limits = {
  [openai]: { rpm: 1e6, tpm: 1e9 },
  [anthropic]: { rpm: 1e6, inputTpm: 1e9, outputTpm: 1e9 },
};
const keyNames = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "DEEPSEEK_API_KEY"];

/** The program with a database of its own, and a server in the vendors' place. */
async function open(
  more: Readonly<Record<string, string>> = {},
): Promise<{ readonly stage: Stage; readonly ledger: Ledger; readonly mock: MockProviders }> {
  const mock = await startMockProviders();
  const { url: DATABASE_URL, drop } = await createDatabase();
  const stage = openStage({ DATABASE_URL, ...mock.environment(), ...more });
  const ledger = await openLedger(DATABASE_URL);
  closing.push(
    () => mock.close(),
    drop,
    () => stage.clear(),
    async () => ledger[Symbol.asyncDispose](),
  );
  return { stage, ledger, mock };
}

describe("a lane that its vendor stops", () => {
  it("is said once and left out: the rest finishes, exit 3; status says why, resume and run finish it", async () => {
    const { stage, ledger, mock } = await open();
    mock.script([{ when: { vendor: "openai" }, fail: "auth" }]);
    const spec = stage.spec("night", { models: [openai, anthropic, "sim/oracle"], seeds: ["1..12"], limits });
    const run = ["run", spec, "--concurrency", "4"];
    const first = await stage.run(run);
    expect(first).toMatchObject({ code: 3 });
    expect(first.out).toContain("hallumaze resume night");
    expect(first.err.match(/"lane parked"/g)).toHaveLength(1);
    expect(mock.counts().byModel["openai/gpt-4o"]).toBeLessThanOrEqual(4);
    expect((await ledger.books("night")).states).toEqual({ blocked: 12, done: 24 });

    const status = await stage.run(["status", "night"]);
    expect(status).toMatchObject({ code: 3 });
    expect(status.out).toMatch(/openai\.gpt-4o is parked until it is resumed: auth: /);
    expect(status.out).toMatch(/anthropic\.claude-sonnet-4-6 .*rpm 1,000,000/);
    expect(status.out).toMatch(/cost/);

    // Without resume the same command sends nothing.
    const before = mock.counts().requests;
    expect(await stage.run(run)).toMatchObject({ code: 3 });
    expect(mock.counts().requests).toBe(before);

    mock.script([]);
    expect(await stage.run(["resume", "night"])).toMatchObject({ code: 0 });
    expect(await stage.run(run)).toMatchObject({ code: 0 });
    expect((await ledger.books("night")).states).toEqual({ done: 36 });
  });
});

describe("the original command line", () => {
  it("ends with 3 where a vendor stopped its lane: what is blocked is not done", async () => {
    const { stage, mock } = await open();
    mock.script([{ when: { vendor: "openai" }, fail: "auth" }]);
    const words = ["--size", "5", "--seed", "42", "--model", `${openai},sim/oracle`, "--output", "results/one.json"];
    const ended = await stage.run(words);
    expect(ended).toMatchObject({ code: 3 });
    expect(ended.out).toContain("no answer (auth): missing, not scored");
  });
});

describe("a rehearsal", () => {
  it("needs no key, reaches no vendor, and leaves the real sweep of that name as it was", async () => {
    const { stage, ledger, mock } = await open();
    const withoutKeys = openStage({ DATABASE_URL: ledger.url });
    closing.push(() => withoutKeys.clear());
    const grid = { models: [openai, "sim/oracle"], seeds: ["1..5"], limits: { [openai]: limits[openai] } };
    expect(await stage.run(["run", stage.spec("pair", grid), "--json"])).toMatchObject({ code: 0 });
    expect(mock.counts().requests).toBe(5);

    const rehearsed = await withoutKeys.run(["run", withoutKeys.spec("pair", grid), "--rehearse", "--json"]);
    expect(rehearsed).toMatchObject({ code: 0 });
    expect(rehearsed.err).toContain("10 cells, 10 to run");
    expect(mock.counts().requests).toBe(5);
    expect((await ledger.books("pair")).states).toEqual({ done: 10 });
    expect((await ledger.books("pair-rehearsal")).states).toEqual({ done: 10 });
    expect(readdirSync(join(withoutKeys.folder, "results"))).toEqual(["pair-rehearsal"]);
    expect(
      await ledger.count("lane LIKE 'rehearsal.%' AND sweep_id = (SELECT id FROM sweeps WHERE name = 'pair')"),
    ).toBe(0);

    // A real sweep over rehearsed cells takes none of their answers.
    const real = { ...grid, seeds: ["1..7"] };
    expect(await stage.run(["run", stage.spec("pair", real), "--json"])).toMatchObject({ code: 0 });
    expect(mock.counts().requests).toBe(7);
  });
});

describe("a rehearsal of a spec with servers and key variables of its own", () => {
  it("reaches none of them and needs none of the keys", async () => {
    const { ledger } = await open();
    const stage = openStage({ DATABASE_URL: ledger.url });
    closing.push(() => stage.clear());
    const spec = stage.spec("own", {
      models: [
        { model: "openai/local", as: "local", baseUrl: "http://127.0.0.1:9/v1", keyEnv: "MY_KEY" },
        { model: openai, as: "keyed", keyEnv: "MY_KEY" },
      ],
      seeds: ["1..2"],
      limits: { [openai]: limits[openai] },
    });
    expect(await stage.run(["run", spec, "--rehearse", "--json"])).toMatchObject({ code: 0 });
    expect((await ledger.books("own-rehearsal")).states).toEqual({ done: 4 });
  });
});

describe("mock-providers", () => {
  it("serves a run in another process by the variables that it prints, until it is told to stop", async () => {
    const { stage } = await open();
    const server = stage.start(["mock-providers", "--json"]);
    await server.says("environment");
    server.kill("SIGINT");
    const { code, out } = await server.ended;
    expect(code).toBe(0);
    const { environment } = JSON.parse(out) as { readonly environment: Readonly<Record<string, string>> };
    expect(Object.keys(environment)).toEqual(expect.arrayContaining(keyNames));
  });
});

describe.runIf(findRedis().kind === "installed")("a key", () => {
  it("that a vendor echoes stands nowhere: not in rows, Redis, logs, tables or exports (T79)", async () => {
    const canary = "sk-canary-9f3b1c77d2e84a60b5";
    const { url: REDIS_URL, drop } = await createRedis();
    closing.push(drop);
    const keys = Object.fromEntries(keyNames.map((name) => [name, canary]));
    const { stage, ledger, mock } = await open({ ...keys, REDIS_URL, HALLUMAZE_LOG_LEVEL: "debug" });
    mock.script([
      { when: { vendor: "openai" }, nth: { to: 2 }, fail: { kind: "bad_request", echoKey: true } },
      { when: { vendor: "anthropic" }, fail: { kind: "auth", echoKey: true } },
      { reply: { echoKey: true } },
    ]);
    const spec = stage.spec("canary", { models: [openai, anthropic], seeds: ["1..4"], limits });
    const ended = [
      await stage.run(["run", spec]),
      await stage.run(["status", "canary", "--json"]),
      await stage.run(["export", "canary", "--format", "jsonl"]),
    ];
    expect(mock.requests({ withKeys: true }).some(({ headers }) => JSON.stringify(headers).includes(canary))).toBe(
      true,
    );
    const tables = await ledger.sql<{ name: string }>(
      `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
       WHERE table_schema NOT IN ('pg_catalog', 'information_schema')`,
    );
    expect(tables.length).toBeGreaterThan(5);
    const rows: string[] = [];
    for (const { name } of tables) {
      rows.push(...(await ledger.sql<{ row: string }>(`SELECT t::text AS row FROM ${name} t`)).map(({ row }) => row));
    }
    expect(rows.join("\n")).toContain("[redacted");
    const results = join(stage.folder, "results", "canary");
    const files = readdirSync(results).map((file) => readFileSync(join(results, file), "utf8"));
    const all = [...ended.flatMap(({ out, err }) => [out, err]), ...rows, ...files, await redisDump(REDIS_URL)];
    for (const text of all) expect(text).not.toContain(canary);
    for (const text of all) expect(text).not.toContain(Buffer.from(canary).toString("base64"));
  });
});

/** Everything that a Redis holds, as it stands on its disk, uncompressed. */
async function redisDump(url: string): Promise<string> {
  const redis = new Redis(url);
  try {
    await redis.config("SET", "rdbcompression", "no");
    await redis.save();
    const [, folder = ""] = await redis.config("GET", "dir");
    const [, file = ""] = await redis.config("GET", "dbfilename");
    return readFileSync(join(folder, file), "latin1");
  } finally {
    redis.disconnect();
  }
}
