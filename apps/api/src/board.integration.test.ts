import { type House, openHouse, openLogger, parseEnvironment } from "@hallumaze/runtime";
import { createDatabase, createRedis, findRedis } from "@hallumaze/testkit";
import { describe, expect, it, onTestFinished } from "vitest";

import { createApi } from "./create-api.ts";
import { listen } from "./listen.ts";

const token = "a-token-of-the-tests";
const bearer = { authorization: `Bearer ${token}` };
const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});

/** A board on a port, over a house whose queue is where `variables` say. */
async function openBoard(variables: Readonly<Record<string, string>> = {}) {
  const { url: databaseUrl, drop } = await createDatabase();
  const house = await openHouse(
    parseEnvironment({ DATABASE_URL: databaseUrl, ...variables }),
    openLogger("silent"),
    {},
  );
  const lanes: string[] = [];
  const api = createApi(
    {
      store: house.store,
      queue: house.queue,
      board: () => Promise.all(lanes.map(house.boardOf)),
      now: Date.now,
      sleep: () => Promise.reject(new Error("nothing waits here")),
      onError: () => undefined,
    },
    { token, judge: null, version: "1.2.3" },
  );
  const server = await listen(api, { host: "127.0.0.1", port: 0 });
  onTestFinished(async () => {
    await server.close(1000);
    await house[Symbol.asyncDispose]();
    await drop();
  });
  const ask = (path: string, headers: Readonly<Record<string, string>> = bearer, method = "GET") =>
    fetch(`${server.url}${path}`, { method, headers, redirect: "manual" });
  return { house, lanes, ask };
}

async function enqueue(house: House, lane: string, count: number): Promise<void> {
  const items = Array.from({ length: count }, (_, n) => ({ trialId: `t${n}`, generation: 0, delayMs: 0 }));
  await house.queue.enqueue(lane, items);
}

interface Shown {
  readonly queues: readonly {
    readonly name: string;
    readonly counts: Readonly<Record<string, number>>;
    readonly jobs: readonly { readonly id: string; readonly data: unknown }[];
    readonly readOnlyMode: boolean;
    readonly allowRetries: boolean;
  }[];
}

/** The lanes with deliveries that a board shows, and new ones as they come, their jobs as ids. */
async function expectLanes({ house, lanes, ask }: Awaited<ReturnType<typeof openBoard>>): Promise<void> {
  const shown = async (active = ""): Promise<Shown["queues"]> => {
    const response = await ask(`/board/api/queues?activeQueue=${active}&page=1&jobsPerPage=10`);
    expect(response.status).toBe(200);
    return ((await response.json()) as Shown).queues;
  };
  expect(await shown()).toEqual([]);
  lanes.push("openai.gpt-4o", "judge.sim.judge");
  await enqueue(house, "openai.gpt-4o", 3);
  const [first, second] = await shown("solve.openai.gpt-4o");
  expect(first).toMatchObject({ name: "solve.openai.gpt-4o", readOnlyMode: true, allowRetries: false });
  expect(second).toMatchObject({ name: "solve.judge.sim.judge" });
  const waiting = ({ counts }: { readonly counts: Readonly<Record<string, number>> }): number =>
    (counts["waiting"] ?? 0) + (counts["prioritized"] ?? 0);
  expect(first === undefined ? null : waiting(first)).toBe(3);
  expect(second === undefined ? null : waiting(second)).toBe(0);
  const payloads = first?.jobs.map(({ data }) => JSON.stringify(data)).toSorted();
  expect(payloads).toEqual([0, 1, 2].map((n) => JSON.stringify({ trialId: `t${n}`, generation: 0 })));
  const one = await ask(`/board/api/queues/solve.openai.gpt-4o/${encodeURIComponent(first?.jobs[0]?.id ?? "")}`);
  expect(await one.json()).toMatchObject({ job: { data: { generation: 0 } } });
}

const redis = findRedis();

describe("the board of the queues", { timeout: 60_000 }, () => {
  it("shows the lanes of a queue in Postgres, and new ones as they come, with ids as their jobs' data", async () => {
    await expectLanes(await openBoard());
  });

  it.runIf(redis.kind === "installed")("shows the same of a queue on Redis", async () => {
    const server = await createRedis();
    onTestFinished(() => server.drop());
    await expectLanes(await openBoard({ REDIS_URL: server.url }));
  });

  it.each([
    ["nothing", {}],
    ["another token", { authorization: "Bearer another" }],
    ["another password", basic("me", "another")],
    ["the token as the name", basic(token, "")],
    ["what is no pair", { authorization: `Basic ${Buffer.from(token).toString("base64")}` }],
  ])("asks for the token also on this machine, of page, data and assets: 401 for %s", async (_, headers) => {
    const { ask } = await openBoard();
    for (const path of ["/board", "/board/", "/board/api/queues", "/board/static/images/logo.svg", "/board/nothing"]) {
      const refused = await ask(path, headers);
      expect(refused.status).toBe(401);
      expect(refused.headers.get("www-authenticate")).toMatch(/Bearer realm=.*Basic realm=/);
    }
  });

  it("opens to the token as bearer and, for browsers, as password under any name", async () => {
    const { ask } = await openBoard();
    for (const headers of [bearer, basic("", token), basic("me", token)]) {
      expect((await ask("/board", headers)).status).toBe(200);
    }
    // Elsewhere a password is none: other sites' forms can have a browser send it.
    expect((await ask("/api/benchmark/scenarios", basic("me", token), "POST")).status).toBe(401);
  });

  it.each(["POST", "PUT", "PATCH", "DELETE"])("refuses %s, whatever it is for", async (method) => {
    const board = await openBoard();
    board.lanes.push("sim.dfs");
    await enqueue(board.house, "sim.dfs", 2);
    await board.ask("/board/api/queues");
    const queue = "/board/api/queues/solve.sim.dfs";
    for (const path of ["/board", "/board/api/queues/pause", `${queue}/pause`, `${queue}/empty`, `${queue}/add`]) {
      const refused = await board.ask(path, bearer, method);
      expect(refused.status).toBe(405);
      expect(await refused.json()).toMatchObject({ code: "method-not-allowed" });
    }
    expect(await board.house.queue.depth("sim.dfs")).toEqual({ waiting: 2, active: 0, delayed: 0 });
  });

  it("is one page whose every part comes from this server, and which may reach no other", async () => {
    const { ask } = await openBoard();
    const page = await ask("/board");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/);
    const html = await page.text();
    expect(html).toContain("HalluMaze queues");
    const parts = Array.from(
      html.matchAll(/<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="([^"]*)"/g),
      ([, at]) => at,
    );
    expect(parts.length).toBeGreaterThan(4);
    for (const part of parts) {
      const url = new URL(part ?? "", "http://here/board/");
      expect(url.host).toBe("here");
      const asset = await ask(url.pathname);
      expect([url.pathname, asset.status]).toEqual([url.pathname, 200]);
      expect((await asset.arrayBuffer()).byteLength).toBeGreaterThan(0);
    }
  });

  it("says that the queue does not answer, in no words of a server", async () => {
    const { house, lanes, ask } = await openBoard();
    lanes.push("sim.dfs");
    await house.queue.close();
    const refused = await ask("/board/api/queues");
    expect(refused.status).toBeGreaterThanOrEqual(500);
    expect(await refused.text()).not.toMatch(/127\.0\.0\.1|postgres|\.ts/i);
  });
});
