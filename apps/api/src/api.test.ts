import { problem, readyView, resultView } from "@hallumaze/contract";
import { HalluMazeError } from "@hallumaze/foundation";
import { describe, expect, it } from "vitest";

import { addKeywords, describeBenchmarkApi, expectBody } from "../test/api-contract.ts";
import { createCaller, keywordList } from "../test/api-stage.ts";
import { openMemoryStage } from "../test/memory-ledger.ts";

describe("over a ledger in memory", () => describeBenchmarkApi(openMemoryStage));

const scenarios = "/api/benchmark/scenarios";

describe("who may call", () => {
  it.each([
    ["a write from this machine without a token", { token: null }],
    ["a write with another token", { token: "another" }],
    [
      "a write with the token in another scheme",
      { token: null, headers: { authorization: "Basic a-token-of-the-tests" } },
    ],
  ])("401 for %s", async (_, given) => {
    const { call } = await openMemoryStage();
    const response = await call("POST", scenarios, { body: keywordList.scenario, ...given });
    expect(response.headers.get("www-authenticate")).toContain("Bearer");
    expect(await expectBody(response, 401, problem)).toMatchObject({ code: "unauthorized" });
  });

  it.each([
    ["from this machine", {}, 404],
    ["over IPv6 from this machine", { address: "::1" }, 404],
    ["from another machine", { address: "192.0.2.7" }, 401],
    ["through a proxy on this machine", { headers: { "x-forwarded-for": "192.0.2.7" } }, 401],
    ["under a foreign name that leads here", { headers: { host: "rebound.example" } }, 401],
    ["by a page of this service", { headers: { origin: "http://localhost", "sec-fetch-site": "same-origin" } }, 404],
    ["by a page of another site", { headers: { origin: "https://evil.example" } }, 401],
    ["by a page of another port of this machine", { headers: { origin: "http://localhost:3000" } }, 401],
    ["by a page without an origin", { headers: { origin: "null" } }, 401],
    ["as an image of another site", { headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" } }, 401],
  ])("a read %s without the token", async (_, given, status) => {
    const { call } = await openMemoryStage();
    const response = await call("GET", "/api/benchmark/results/none", { token: null, ...given });
    expect((await expectBody(response, status, problem)).status).toBe(status);
  });

  it("a read from another machine passes with the token", async () => {
    const stage = await openMemoryStage();
    const id = await addKeywords(stage);
    const response = await stage.call("GET", `/api/benchmark/results/${id}`, { address: "192.0.2.7" });
    expect(await expectBody(response, 200, resultView)).toMatchObject({
      result_id: id,
      default_verdict: null,
      judgements: [],
    });
  });

  it("429 with the seconds to wait beyond the rate, by address", async () => {
    const { call } = await openMemoryStage({ requestsPerMinute: 3 });
    for (let count = 0; count < 3; count += 1) await call("GET", "/openapi.json");
    const refused = await call("GET", "/openapi.json");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await expectBody(refused, 429, problem)).toMatchObject({ code: "rate-limited" });
    expect((await call("GET", "/openapi.json", { address: "192.0.2.7" })).status).toBe(200);
    expect((await call("GET", "/healthz")).status).toBe(200);
  });
});

describe("what is sent", () => {
  it.each([
    ["no JSON", "{"],
    ["another type", "[]"],
    ["an unknown key", { ...keywordList.scenario, expectedL3: "x" }],
    ["a blank prompt", { ...keywordList.scenario, prompt: " \n" }],
  ])("400 for %s", async (_, body) => {
    const { call } = await openMemoryStage();
    const response = await call("POST", scenarios, { body });
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    const refused = await expectBody(response, 400, problem);
    expect(refused.code).toBe("bad-request");
    expect(JSON.stringify(refused)).not.toMatch(/at .*\.ts|node_modules/);
  });

  it("names each wrong field", async () => {
    const { call } = await openMemoryStage();
    const { errors } = await expectBody(await call("POST", scenarios, { body: { prompt: 1 } }), 400, problem);
    expect(errors?.map(({ path }) => path)).toEqual(["prompt", "expected_l3"]);
  });

  it("400 for an unknown query and for a fitness of nothing", async () => {
    const { call } = await openMemoryStage();
    await expectBody(await call("POST", "/api/benchmark/auto-score/x?dryrun=true"), 400, problem);
    await expectBody(await call("GET", "/api/benchmark/fitness"), 400, problem);
  });

  it("413 beyond the body limit", async () => {
    const { call } = await openMemoryStage({ maxBodyBytes: 1000 });
    const body = { ...keywordList.scenario, prompt: "x".repeat(1000) };
    expect(await expectBody(await call("POST", scenarios, { body }), 413, problem)).toMatchObject({
      code: "body-too-large",
    });
  });

  it("411 for a body that comes without its length", async () => {
    const { call } = await openMemoryStage();
    const headers = { "transfer-encoding": "chunked" };
    await expectBody(await call("POST", scenarios, { body: keywordList.scenario, headers }), 411, problem);
  });

  it("404 for a result of an unknown scenario, and for an unknown path", async () => {
    const { call } = await openMemoryStage();
    const body = { scenario_id: "none", response: "" };
    await expectBody(await call("POST", "/api/benchmark/results", { body }), 404, problem);
    await expectBody(await call("GET", "/api/benchmark/nothing"), 404, problem);
  });
});

describe("what fails", () => {
  const failing = (error: Error) => {
    const fail = async (): Promise<never> => {
      throw error;
    };
    const seen: unknown[] = [];
    const store = { findResult: fail, addScenario: fail, ping: fail } as never;
    const call = createCaller({ store, queue: { ping: fail, enqueue: fail }, onError: (one) => seen.push(one) });
    return { call, seen };
  };

  it("503 with the seconds to wait where a part is away; its words go to the log", async () => {
    const error = new HalluMazeError("database-unreachable", "secret-host:5432 did not answer", { retry: true });
    const { call, seen } = failing(error);
    const response = await call("GET", "/api/benchmark/results/x");
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    const text = JSON.stringify(await expectBody(response, 503, problem));
    expect(text).not.toContain("secret-host");
    expect(seen).toEqual([error]);
  });

  it("500 without words of the program for anything else", async () => {
    const { call, seen } = failing(new TypeError("undefined is no function"));
    const response = await call("POST", scenarios, { body: keywordList.scenario });
    expect(JSON.stringify(await expectBody(response, 500, problem))).not.toContain("undefined");
    expect(seen).toHaveLength(1);
  });

  it("answers 503 and takes nothing on where the queue does not answer", async () => {
    const stage = await openMemoryStage();
    await stage.addCalibration();
    const id = await addKeywords(stage);
    stage.loseQueue();
    await expectBody(await stage.call("POST", `/api/benchmark/auto-score/${id}`), 503, problem);
    const kept = await expectBody(await stage.call("GET", `/api/benchmark/results/${id}`), 200, resultView);
    expect(kept).toMatchObject({ open_requests: 0, judgements: [] });
  });

  it("is alive and not ready", async () => {
    const { call } = failing(new Error("away"));
    expect((await call("GET", "/healthz")).status).toBe(200);
    expect(await expectBody(await call("GET", "/readyz"), 503, readyView)).toEqual({
      status: "not-ready",
      checks: { database: "failed", queue: "failed" },
      reasons: { database: "no answer", queue: "no answer" },
    });
  });
});

it("describes each path, its answers and the token in an OpenAPI document", async () => {
  const { call } = await openMemoryStage();
  const document = (await (await call("GET", "/openapi.json")).json()) as {
    readonly openapi: string;
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: object }>>>>;
    readonly components: { readonly schemas: object; readonly securitySchemes: object };
  };
  expect(document.openapi).toBe("3.1.0");
  expect(Object.keys(document.paths).toSorted()).toEqual([
    "/api/benchmark/auto-score/{result_id}",
    "/api/benchmark/fitness",
    "/api/benchmark/results",
    "/api/benchmark/results/{result_id}",
    "/api/benchmark/scenarios",
    "/api/benchmark/scenarios/{scenario_id}",
    "/healthz",
    "/readyz",
  ]);
  const { responses } = document.paths["/api/benchmark/auto-score/{result_id}"]?.["post"] ?? { responses: {} };
  expect(Object.keys(responses)).toEqual(["200", "202", "400", "401", "404", "409", "413", "422", "429", "501", "503"]);
  expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(["AutoScore", "Problem", "Result"]));
  expect(document.components.securitySchemes).toHaveProperty("bearer");
});
