import { generateMaze } from "@hallumaze/maze";
import { buildPrompt, estimateTokens } from "@hallumaze/protocol";
import { describe, expect, it } from "vitest";

import { type MockProviders, mockProvidersFromOptions, startMockProviders } from "./index.ts";

const { user } = buildPrompt({
  maze: generateMaze({ size: 5, seed: 1001 }),
  mirage: false,
  language: "en",
  confidence: false,
});

function chat(
  mock: MockProviders,
  { model = "gpt-4o", key = "k-0123456789", more = {}, signal = null as AbortSignal | null } = {},
): Promise<Response> {
  return fetch(`${mock.urls.openaiBaseUrl}/chat/completions`, {
    method: "POST",
    headers: key === "" ? {} : { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, messages: [{ role: "user", content: user }], ...more }),
    signal,
  });
}

async function textOf(response: Response): Promise<string> {
  const body = (await response.json()) as { choices: { message: { content: string } }[] };
  return body.choices[0]?.message.content ?? "";
}

const control = (mock: MockProviders, action: string, body?: unknown): Promise<Response> =>
  fetch(`${mock.urls.rootUrl}/_control/${action}`, {
    method: body === undefined ? "GET" : "POST",
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

describe("startMockProviders", () => {
  it("gives every provider its variables, and takes the keys in them", async () => {
    await using mock = await startMockProviders({ keys: ["the-only-key"] });
    const { OPENAI_BASE_URL: url, OPENAI_API_KEY: key } = mock.environment();
    expect(url).toBe(`http://127.0.0.1:${mock.port}/openai/v1`);
    expect((await chat(mock, { key: key ?? "" })).status).toBe(200);
    expect((await chat(mock, { key: "another" })).status).toBe(401);
    expect((await chat(mock, { key: "" })).status).toBe(401);
  });

  it("answers an unknown model as the vendor does, where models are named", async () => {
    await using mock = await startMockProviders({ models: ["gpt-4*"] });
    expect((await chat(mock)).status).toBe(200);
    expect((await chat(mock, { model: "gpt-9" })).status).toBe(404);
  });

  it("answers as the agent that its options choose", async () => {
    await using mock = await startMockProviders({ solver: { "gpt-4o": "silent", "*": "oracle" } });
    expect(await textOf(await chat(mock))).not.toMatch(/STEP 1/);
    expect(await textOf(await chat(mock, { model: "b" }))).toMatch(/STEP 12[^]*BACKTRACK_COUNT: 0/);
  });

  it("gives the same answer to the same request, and ends at the request's token limit", async () => {
    await using mock = await startMockProviders({ solver: "random-walk" });
    const first = await textOf(await chat(mock));
    expect(await textOf(await chat(mock))).toBe(first);
    const cut = await textOf(await chat(mock, { more: { max_completion_tokens: 60 } }));
    expect(estimateTokens(cut)).toBeLessThanOrEqual(60);
  });

  it("takes as long as its latency model says", async () => {
    await using mock = await startMockProviders({ latency: { baseMs: 50, perTokenMs: 1 } });
    mock.script([{ reply: { text: "x", usage: { outputTokens: 100 } } }]);
    const startedMs = performance.now();
    await chat(mock);
    expect(performance.now() - startedMs).toBeGreaterThan(145);
  });

  it("enforces limits as the vendor words them, and counts what it accepted", async () => {
    let nowMs = 0;
    const limits = { "openai/gpt-4o": { rpm: 60, tpm: 100_000, capacityShare: 0.05 } };
    await using mock = await startMockProviders({ limits, clock: () => nowMs });
    const usage = { inputTokens: 300, outputTokens: 200 };
    mock.script([{ reply: { text: "x", usage } }]);
    const replies = [await chat(mock), await chat(mock), await chat(mock), await chat(mock)];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(replies[0]?.headers.get("x-ratelimit-remaining-requests")).toBe("2");
    expect(replies[3]?.headers.get("retry-after-ms")).toBe("1000");
    nowMs = 1000;
    expect((await chat(mock)).status).toBe(200);
    const lane = mock.counts().lanes[0];
    expect(lane).toMatchObject({ requests: 5, completed: 4, rateLimited: 1, inputTokens: 1200, outputTokens: 800 });
    expect(lane?.maxima60s).toMatchObject({ admitted: 4, completed: 4, tokens: 2000 });
  });

  it("reports the largest sum of any 60 seconds, not of the whole", async () => {
    let nowMs = 0;
    await using mock = await startMockProviders({ clock: () => nowMs });
    mock.script([{ reply: { text: "x", usage: { inputTokens: 10, outputTokens: 10 } } }]);
    for (const atMs of [0, 1000, 59_999, 61_000, 200_000]) {
      nowMs = atMs;
      await chat(mock);
    }
    // The windows that end at 59,999 and at 61,000 hold three and two.
    expect(mock.counts().maxima60s).toMatchObject({ admitted: 3, completed: 3, tokens: 60 });
    expect(mock.counts().completed).toBe(5);
  });

  it("draws heavy-tailed output counts by its seed", async () => {
    const outputTokens = { median: 400, sigma: 1, max: 4000 };
    const totals: number[] = [];
    for (const seed of [1, 1, 2]) {
      await using mock = await startMockProviders({
        seed,
        script: [{ reply: { text: "x", usage: { outputTokens } } }],
      });
      for (let sent = 0; sent < 20; sent += 1) await chat(mock);
      totals.push(mock.counts().outputTokens);
    }
    expect(totals[0]).toBe(totals[1]);
    expect(totals[0]).not.toBe(totals[2]);
  });

  it("counts the most requests that were in flight at once", async () => {
    await using mock = await startMockProviders();
    mock.script([{ delivery: { blackHole: true } }]);
    const controller = new AbortController();
    const { signal } = controller;
    const answers = [1, 2, 3].map(() => chat(mock, { signal }).catch((error: unknown) => error));
    await mock.until(({ inFlight }) => inFlight === 3);
    controller.abort();
    await Promise.all(answers);
    const counts = await mock.until(({ inFlight }) => inFlight === 0);
    expect(counts).toMatchObject({ inFlightPeak: 3, byEnd: { black_hole: 3 } });
  });

  it("keeps requests for assertions, with the key under another name unless asked", async () => {
    await using mock = await startMockProviders({ logLimit: 2 });
    const key = "sk-canary-0123456789";
    for (const model of ["a", "b", "c"]) await chat(mock, { model, key, more: { user: key } });
    const logged = mock.requests();
    expect(logged.map(({ model }) => model)).toEqual(["b", "c"]);
    expect(JSON.stringify(logged)).not.toContain("canary");
    expect(logged[0]?.headers["authorization"]).toMatch(/^Bearer key-[0-9a-f]{8}$/);
    expect(mock.requests({ withKeys: true })[0]?.headers["authorization"]).toBe(`Bearer ${key}`);
  });

  it("ends requests in flight when it closes", async () => {
    const mock = await startMockProviders({ script: [{ delivery: { blackHole: true } }] });
    const answer = chat(mock).catch((error: unknown) => error);
    await mock.until(({ inFlight }) => inFlight === 1);
    await mock.close();
    await expect(answer).resolves.toBeInstanceOf(TypeError);
  });
});

describe("the control interface", () => {
  it("scripts, limits, counts and resets from another process, and tells no key", async () => {
    await using mock = await startMockProviders();
    await control(mock, "script", [{ fail: "overloaded", nth: 1 }]);
    await control(mock, "limits", { "openai/*": { rpm: 1 } });
    const statuses = [await chat(mock), await chat(mock), await chat(mock)].map(({ status }) => status);
    expect(statuses).toEqual([503, 200, 429]);
    await expect((await control(mock, "counts")).json()).resolves.toMatchObject({ requests: 3, rateLimited: 1 });
    expect(await (await control(mock, "requests")).text()).not.toContain("k-0123456789");
    await control(mock, "reset", {});
    expect(mock.counts().requests).toBe(0);
  });

  it.each([
    ["script", [{ fail: "no such kind" }]],
    ["script", { not: "a list" }],
    ["limits", { "openai/*": { rpm: -1 } }],
  ])("refuses a malformed %s", async (action, body) => {
    await using mock = await startMockProviders();
    expect((await control(mock, action, body)).status).toBe(400);
  });
});

describe("mockProvidersFromOptions", () => {
  it("names every problem of its options at once", async () => {
    const options = { port: -1, latency: { baseMs: "slow" }, colour: "red" };
    await expect(mockProvidersFromOptions(options)).rejects.toThrow(/port.*latency\.baseMs.*colour/);
  });

  it("names a solver that does not exist", async () => {
    await expect(mockProvidersFromOptions({ solver: "genius" })).rejects.toThrow(/^The options do not fit: solver: /);
  });

  it("says which port is taken", async () => {
    await using first = await mockProvidersFromOptions({});
    await expect(startMockProviders({ port: first.port })).rejects.toMatchObject({ code: "cannot_listen" });
  });
});
