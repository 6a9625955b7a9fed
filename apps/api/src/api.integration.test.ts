import { setTimeout as sleep } from "node:timers/promises";

import { problem, readyView, resultView } from "@hallumaze/contract";
import type { ChatRequest, ChatResult } from "@hallumaze/engine";
import { HalluMazeError } from "@hallumaze/foundation";
import { simJudge } from "@hallumaze/judge";
import { type House, openHouse, openLogger, parseEnvironment, startJudgeWorker, workerTimes } from "@hallumaze/runtime";
import { createDatabase, createFaultProxy, createRedis, type FaultProxy, findRedis } from "@hallumaze/testkit";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { addKeywords, describeBenchmarkApi, expectBody } from "../test/api-contract.ts";
import {
  type ApiStage,
  createCaller,
  createDoor,
  type JudgePlay,
  keywordList,
  openingCalibration,
  type OpenStage,
  stageJudge,
  token,
} from "../test/api-stage.ts";
import { createApi } from "./create-api.ts";
import { listen } from "./listen.ts";

const logger = openLogger("silent");

/** A stage over PostgreSQL, the queue in it, and a judge worker with a scripted provider. */
const openRealStage: OpenStage = async (settings = {}) => {
  const { url, drop } = await createDatabase();
  const house = await openHouse(parseEnvironment({ DATABASE_URL: url }), logger, {});
  const door = createDoor();
  let calls = 0;
  let play: JudgePlay = "answer";
  const worker = startWorker(house, async (request) => {
    calls += 1;
    await door.passed();
    return answerOf(request, play);
  });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(async () => {
    door.release();
    await worker.drain(2000);
    await house[Symbol.asyncDispose]();
    await client.end();
    await drop();
  });
  return {
    call: createCaller(house, settings),
    judgeCalls: () => calls,
    play: (what) => {
      play = what;
    },
    hold: door.hold,
    release: door.release,
    addCalibration: (change) => house.store.addCalibration(openingCalibration(change)),
    addBareResult: async () => {
      const { rows } = await client.query<{ id: string }>("INSERT INTO results DEFAULT VALUES RETURNING id::text");
      return rows[0]?.id ?? "";
    },
  } satisfies ApiStage;
};

describe("over PostgreSQL and its queue", { timeout: 60_000 }, () => describeBenchmarkApi(openRealStage));

describe("without its database", { timeout: 60_000 }, () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let proxy: FaultProxy;
  let house: House;

  beforeAll(async () => {
    database = await createDatabase();
    proxy = await createFaultProxy(database.url);
    house = await openHouse(parseEnvironment({ DATABASE_URL: proxy.through(database.url) }), logger, {});
  });
  afterAll(async () => {
    // What hangs would never close.
    proxy.reset();
    await house[Symbol.asyncDispose]();
    await proxy.close();
    await database.drop();
  });

  it("answers 503 in bounded time, keeps what it had, and works again when the database is back", async () => {
    const call = createCaller(house, { storeTimeoutMs: 1000, pingMs: 1000 });
    await house.store.addCalibration(openingCalibration());
    const id = await addKeywords({ call });
    await proxy.refuse();
    for (const ask of [
      () => call("POST", `/api/benchmark/auto-score/${id}`),
      () => call("GET", `/api/benchmark/results/${id}`),
      () => call("POST", "/api/benchmark/scenarios", { body: keywordList.scenario }),
    ]) {
      const startedMs = performance.now();
      const refused = await expectBody(await ask(), 503, problem);
      expect(performance.now() - startedMs).toBeLessThan(4000);
      expect(refused.code).toBe("unavailable");
    }
    const ready = await expectBody(await call("GET", "/readyz"), 503, readyView);
    expect(ready).toMatchObject({ status: "not-ready", checks: { database: "failed" } });
    await proxy.accept();
    await expect
      .poll(async () => (await call("GET", `/api/benchmark/results/${id}`)).status, { timeout: 20_000 })
      .toBe(200);
    const after = await expectBody(await call("GET", `/api/benchmark/results/${id}`), 200, resultView);
    expect(after).toMatchObject({ result_id: id, open_requests: 0, judgements: [] });
  });

  it("answers 503 in bounded time where the database hangs", async () => {
    const call = createCaller(house, { storeTimeoutMs: 500, pingMs: 500 });
    const id = await addKeywords({ call });
    proxy.swallow();
    const startedMs = performance.now();
    const answers = await Promise.all([
      call("POST", `/api/benchmark/auto-score/${id}`),
      call("GET", `/api/benchmark/results/${id}`),
      call("GET", "/readyz"),
    ]);
    expect(performance.now() - startedMs).toBeLessThan(4000);
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
  });
});

describe("without its queue", { timeout: 60_000 }, () => {
  it("answers 503 where the delivery fails, and the judgement is made all the same once a worker is there", async () => {
    const { url, drop } = await createDatabase();
    const house = await openHouse(parseEnvironment({ DATABASE_URL: url }), logger, {});
    const ends = [() => house[Symbol.asyncDispose](), drop];
    onTestFinished(async () => {
      for (const end of ends) await end();
    });
    await house.store.addCalibration(openingCalibration());
    const away = async (): Promise<never> => {
      throw new HalluMazeError("queue-unreachable", "the queue is away", { retry: true });
    };
    const call = createCaller({ store: house.store, queue: { ping: house.queue.ping, enqueue: away } });
    const id = await addKeywords({ call });
    await expectBody(await call("POST", `/api/benchmark/auto-score/${id}`), 503, problem);
    const worker = startWorker(house, async (request) => answerOf(request, "answer"));
    ends.unshift(() => worker.drain(2000));
    await expect
      .poll(async () => (await call("GET", `/api/benchmark/results/${id}`)).json(), { timeout: 20_000 })
      .toMatchObject({ open_requests: 0, default_verdict: { level: "L1", scored_by: "LLM-JUDGE-v1" } });
  });
});

const redis = findRedis();

describe.skipIf(redis.kind !== "installed")("without its Redis", { timeout: 90_000 }, () => {
  it("answers 503 in bounded time, loses nothing, and judges once when Redis is back", async () => {
    const { url, drop } = await createDatabase();
    const server = await createRedis({ appendOnly: true });
    const house = await openHouse(parseEnvironment({ DATABASE_URL: url, REDIS_URL: server.url }), logger, {});
    const ends = [() => house[Symbol.asyncDispose](), server.drop, drop];
    onTestFinished(async () => {
      for (const end of ends) await end();
    });
    await house.store.addCalibration(openingCalibration());
    const call = createCaller(house, { storeTimeoutMs: 1000, pingMs: 1000 });
    const id = await addKeywords({ call });
    await server.kill();
    for (const _ of [1, 2]) {
      const startedMs = performance.now();
      await expectBody(await call("POST", `/api/benchmark/auto-score/${id}`), 503, problem);
      expect(performance.now() - startedMs).toBeLessThan(8000);
    }
    const ready = await expectBody(await call("GET", "/readyz"), 503, readyView);
    expect(ready).toMatchObject({ status: "not-ready", checks: { database: "ok", queue: "failed" } });
    // What is known is read without Redis; what could not be delivered was not taken on.
    const kept = await expectBody(await call("GET", `/api/benchmark/results/${id}`), 200, resultView);
    expect(kept).toMatchObject({ open_requests: 0, judgements: [] });
    await server.restart();
    let calls = 0;
    const worker = startWorker(house, async (request) => {
      calls += 1;
      return answerOf(request, "answer");
    });
    ends.unshift(() => worker.drain(2000));
    await expect
      .poll(async () => (await call("POST", `/api/benchmark/auto-score/${id}`)).status, { timeout: 40_000 })
      .toBe(200);
    const judged = await expectBody(await call("GET", `/api/benchmark/results/${id}`), 200, resultView);
    expect(judged).toMatchObject({
      open_requests: 0,
      default_verdict: { level: "L1", scored_by: "LLM-JUDGE-v1" },
    });
    expect(judged.judgements).toHaveLength(1);
    expect(calls).toBe(1);
  });
});

describe("on a port", () => {
  it("answers over HTTP, refuses a body that names no length, and ends waiting calls with the poll address", async () => {
    const { url, drop } = await createDatabase();
    const house = await openHouse(parseEnvironment({ DATABASE_URL: url }), logger, {});
    onTestFinished(async () => {
      await house[Symbol.asyncDispose]();
      await drop();
    });
    await house.store.addCalibration(openingCalibration());
    const api = createApi(
      { store: house.store, queue: house.queue, now: Date.now, sleep: wait, onError: () => undefined },
      { token, judge: stageJudge, version: "test", maxBodyBytes: 10_000 },
    );
    const server = await listen(api, { host: "127.0.0.1", port: 0 });
    const send = (method: string, path: string, body?: string | ReadableStream): Promise<Response> =>
      fetch(`${server.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body, duplex: "half" }),
      });
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    const chunks = new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(" ".repeat(5000))),
    });
    await expectBody(await send("POST", "/api/benchmark/scenarios", chunks), 411, problem);
    const id = await addKeywords({
      call: (method, path, given) => send(method, path, JSON.stringify(given?.body)),
    });
    const waiting = send("POST", `/api/benchmark/auto-score/${id}`);
    await expect.poll(async () => (await house.store.findResult(id))?.openRequests, { timeout: 10_000 }).toBe(1);
    const [response] = await Promise.all([waiting, server.close(5000)]);
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ status: "pending", poll: `/api/benchmark/results/${id}` });
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow("fetch failed");
  });
});

function startWorker(house: House, complete: (request: ChatRequest) => Promise<ChatResult>) {
  return startJudgeWorker({
    store: house.store,
    queue: house.queue,
    limiter: house.limiter,
    logger,
    concurrency: 4,
    rehearsal: false,
    times: { ...workerTimes, discoverEveryMs: 50, reconcileEveryMs: 200, callTimeoutMs: 20_000 },
    provider: { complete },
  });
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}

const received = {
  servedModel: "judge",
  servedBy: null,
  nativeFinishReason: null,
  effectiveParams: {},
  limits: {},
  sideRequests: [],
  usage: { inputTokens: 100, outputTokens: 50, cachedTokens: null, reasoningTokens: null },
  httpMs: 1,
  ttftMs: null,
} as const;

function answerOf(request: ChatRequest, play: JudgePlay): ChatResult {
  if (play === "answer") {
    const user = request.messages.map(({ content }) => content).join("\n");
    const text = simJudge({ system: request.system, user, params: {} });
    return { ...received, kind: "reply", text, rawBody: text, reasoning: null, finishReason: "stop" };
  }
  const [outcome, message] =
    play === "outage"
      ? (["transient_server", "503"] as const)
      : (["context_too_long", "the prompt was refused"] as const);
  return {
    ...received,
    kind: "failure",
    outcome,
    message,
    rawBody: null,
    retryAfterMs: null,
    detail: null,
    park: null,
  };
}
