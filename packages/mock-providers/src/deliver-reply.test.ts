import { once } from "node:events";
import { createConnection, type Socket } from "node:net";

import { generateMaze } from "@hallumaze/maze";
import { buildPrompt } from "@hallumaze/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { type MockProviders, type Rule, startMockProviders } from "./index.ts";

const { user } = buildPrompt({
  maze: generateMaze({ size: 5, seed: 1001 }),
  mirage: false,
  language: "en",
  confidence: false,
});

let mock: MockProviders;
beforeEach(async () => {
  mock = await startMockProviders();
});
afterEach(() => mock.close());

function ask({ stream = false, signal = null as AbortSignal | null } = {}): Promise<Response> {
  return fetch(`${mock.urls.openaiBaseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: "Bearer k" },
    body: JSON.stringify({ model: "m", stream, messages: [{ role: "user", content: user }] }),
    signal,
  });
}

function deliver(delivery: NonNullable<Rule["delivery"]>): void {
  mock.script([{ delivery }]);
}

/** Reads a body until it ends, breaks, or pauses: the first read without bytes for a while is not waited for. */
async function readEvents(response: Response, count: number): Promise<string> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (text.split("\n\n").length <= count) {
    const { value, done } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  return text;
}

describe("deliverReply", () => {
  it("waits before the headers as long as it is told", async () => {
    deliver({ headerDelayMs: 120 });
    const startedMs = performance.now();
    const response = await ask();
    expect(performance.now() - startedMs).toBeGreaterThan(115);
    await expect(response.json()).resolves.toHaveProperty("choices.0.finish_reason", "stop");
  });

  it("sends blank lines before JSON, which a JSON reader skips", async () => {
    deliver({ filler: { lines: 5, everyMs: 1 } });
    const text = await (await ask()).text();
    expect(text.startsWith("\n\n\n\n\n{")).toBe(true);
    expect(JSON.parse(text)).toHaveProperty("choices.0.finish_reason", "stop");
  });

  it("sends keep-alive comments before a stream", async () => {
    deliver({ filler: { lines: 2 } });
    const text = await (await ask({ stream: true })).text();
    expect(text.startsWith(": keep-alive\n\n: keep-alive\n\ndata: {")).toBe(true);
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  it("stalls after the events it is told, with the connection open", async () => {
    deliver({ stall: { afterEvents: 3 } });
    const controller = new AbortController();
    const response = await ask({ stream: true, signal: controller.signal });
    const text = await readEvents(response, 3);
    expect(text.split("\n\n")).toHaveLength(4);
    expect(mock.counts().inFlight).toBe(1);
    controller.abort();
    await mock.until(({ byEnd }) => byEnd["stalled"] === 1);
  });

  it("goes on after a stall that has an end", async () => {
    deliver({ stall: { afterEvents: 3, forMs: 50 } });
    expect((await (await ask({ stream: true })).text()).endsWith("data: [DONE]\n\n")).toBe(true);
  });

  it.each([3, 10_000])("cuts a stream after %i events without a finish frame", async (afterEvents) => {
    deliver({ cut: { afterEvents } });
    const text = await (await ask({ stream: true })).text();
    expect(text).toContain('"content":"STEP 1');
    expect(text).not.toMatch(/"finish_reason":"stop"|DONE/);
    expect(mock.counts().byEnd).toEqual({ cut: 1 });
  });

  it("cuts a body without stream in its half", async () => {
    deliver({ cut: { afterEvents: 1 } });
    const text = await (await ask()).text();
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
  });

  it("tells an error as an event and ends", async () => {
    deliver({ errorEvent: { afterEvents: 3, kind: "server_error" } });
    const events = (await (await ask({ stream: true })).text()).trim().split("\n\n");
    expect(events).toHaveLength(4);
    expect(events.at(-1)).toMatch(/^data: \{"error":\{"message":"The server had an error/);
  });

  it("resets a connection before the headers", async () => {
    deliver({ reset: "before_headers" });
    await expect(ask()).rejects.toThrow("fetch failed");
    expect(mock.counts().byEnd).toEqual({ reset: 1 });
  });

  it.each(["after_headers", "in_body"] as const)("resets a connection %s", async (reset) => {
    deliver({ reset });
    const response = await ask();
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow("terminated");
  });

  it("never answers as a black hole, and charges nothing for it", async () => {
    deliver({ blackHole: true });
    const controller = new AbortController();
    const answer = ask({ signal: controller.signal });
    await mock.until(({ inFlight }) => inFlight === 1);
    controller.abort();
    await expect(answer).rejects.toThrow(/abort/);
    const counts = await mock.until(({ byEnd }) => byEnd["black_hole"] === 1);
    expect(counts).toMatchObject({ inFlight: 0, completed: 0, outputTokens: 0 });
  });

  it("charges an answer whose client has gone", async () => {
    deliver({ headerDelayMs: 60_000 });
    const controller = new AbortController();
    const answer = ask({ signal: controller.signal });
    await mock.until(({ inFlight }) => inFlight === 1);
    controller.abort();
    await expect(answer).rejects.toThrow(/abort/);
    const counts = await mock.until(({ byEnd }) => byEnd["client_gone"] === 1);
    expect(counts).toMatchObject({ completed: 1, completedUnheard: 1 });
    expect(counts.outputTokens).toBeGreaterThan(0);
  });

  it("sends its bytes in chunks across characters without harm to the text", async () => {
    mock.script([{ reply: { text: "확신도 → 🎲" }, delivery: { chunkBytes: 1 } }]);
    const body: unknown = await (await ask()).json();
    expect(body).toHaveProperty("choices.0.message.content", "확신도 → 🎲");
  });

  it("says that it closes the connection, and does", async () => {
    deliver({ closeConnection: true });
    expect((await ask()).headers.get("connection")).toBe("close");
    await (await ask()).text();
    expect(mock.counts().connections).toBe(2);
  });
});

describe("idle connections", () => {
  const request = "GET /nothing HTTP/1.1\r\nhost: rehearsal\r\n\r\n";

  it("are kept by default, and their limit is never announced", async () => {
    const socket = createConnection(mock.port, "127.0.0.1");
    const replies: string[] = [];
    for (const number of [1, 2]) {
      socket.write(request);
      const [bytes] = (await once(socket, "data")) as [Buffer];
      replies.push(bytes.toString());
      await mock.until(({ requests }) => requests === number);
    }
    socket.destroy();
    expect(replies.join("")).not.toMatch(/keep-alive:/i);
    expect(mock.requests().map(({ connection }) => connection)).toEqual([1, 1]);
  });

  it("keep their numbers where the counts start anew: a new connection is never taken for an old one", async () => {
    const open = async (): Promise<Socket> => {
      const socket = createConnection(mock.port, "127.0.0.1");
      await once(socket, "connect");
      return socket;
    };
    const ask = async (socket: Socket): Promise<void> => {
      socket.write(request);
      await once(socket, "data");
    };
    const old = await open();
    await ask(old);
    mock.resetCounts();
    const fresh = await open();
    await ask(fresh);
    await ask(old);
    const [second, third] = mock
      .requests()
      .slice(-2)
      .map(({ connection }) => connection);
    expect(second).not.toBe(third);
    expect(mock.counts().connections).toBe(1);
    for (const socket of [old, fresh]) socket.destroy();
  });

  it("are closed after the time that is set", async () => {
    await using closing = await startMockProviders({ idleCloseMs: 30 });
    const socket = createConnection(closing.port, "127.0.0.1");
    socket.write(request);
    const [bytes] = (await once(socket, "data")) as [Buffer];
    await once(socket, "close");
    expect(bytes.toString()).toMatch(/^HTTP\/1\.1 404/);
  });
});
