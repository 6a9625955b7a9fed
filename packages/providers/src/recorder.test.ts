import { type AddressInfo, createServer } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";

import { Agent, getGlobalDispatcher, setGlobalDispatcher } from "undici";
import { describe, expect, onTestFinished, test } from "vitest";

import { ask, type Dialect, dialectOf, dialects, never, openFor, variablesFor } from "../test/dialects.ts";
import { inTurn, say, startScriptedServer } from "../test/scripted-server.ts";
import { openProviders } from "./open-providers.ts";

const head = { "content-type": "text/event-stream" };

/** A body as the first piece of a stream that then stands still. */
function begin(dialect: Dialect) {
  return dialect.events(["STEP 1", "STEP 2"])[0] ?? "";
}

describe.each(dialects)("deadlines: $name", (dialect) => {
  test("no headers in time is timeout(header), after one request (T32)", async () => {
    await using server = await startScriptedServer(() => undefined);
    await using providers = openFor(server.url, { headerMs: 400 });
    const result = await providers.complete(ask(dialect, server.url), never);
    expect(result).toMatchObject({ kind: "failure", outcome: "timeout", detail: "header", rawBody: null });
    expect(server.seen).toHaveLength(1);
  });

  test("a stream that stands still is timeout(idle) and keeps what came (T32)", async () => {
    const first = begin(dialect);
    await using server = await startScriptedServer((response) => {
      response.writeHead(200, head);
      response.write(first);
    });
    await using providers = openFor(server.url, { idleMs: 200 });
    const result = await providers.complete(ask(dialect, server.url, { params: { stream: true } }), never);
    expect(result).toMatchObject({ kind: "failure", outcome: "timeout", detail: "idle", rawBody: first });
  });

  test("a connection that breaks in the middle is transport, never a partial answer (T60, T66)", async () => {
    await using server = await startScriptedServer((response, _request, _number, raw) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "5000" });
      response.write('{"choices": [', () => raw.socket.resetAndDestroy());
    });
    await using providers = openFor(server.url);
    const result = await providers.complete(ask(dialect, server.url), never);
    expect(result).toMatchObject({ kind: "failure", outcome: "transport", sideRequests: [] });
    expect(server.seen).toHaveLength(1);
  });

  test("a reused socket that dies before any byte of the reply is tried once more, for free (T18, T20)", async () => {
    const dies = (
      _response: unknown,
      _request: unknown,
      _number: number,
      raw: { socket: { resetAndDestroy: () => void } },
    ) => raw.socket.resetAndDestroy();
    const fine = say(200, dialect.reply("ok"));
    await using server = await startScriptedServer(inTurn(fine, dies, fine));
    await using providers = openFor(server.url);
    await providers.complete(ask(dialect, server.url), never);
    // undici offers a socket again one turn of the event loop later.
    await nextTurn();
    const result = await providers.complete(ask(dialect, server.url), never);
    expect(result).toMatchObject({ kind: "reply", text: "ok", sideRequests: [{ reason: "resend", rawBody: null }] });
    expect(server.seen.map(({ connection }) => connection)).toEqual([0, 0, 1]);
  });
});

const claude = dialectOf("anthropic");

test("a fresh socket that dies is not tried again: nobody knows what the server did (T18)", async () => {
  await using server = await startScriptedServer((_response, _request, _number, raw) => raw.socket.resetAndDestroy());
  await using providers = openFor(server.url);
  const result = await providers.complete(ask(claude, server.url), never);
  expect(result).toMatchObject({ kind: "failure", outcome: "transport", sideRequests: [] });
  expect(server.seen).toHaveLength(1);
});

test("a reused socket that dies after the first byte of the reply is not tried again", async () => {
  await using server = await startScriptedServer(
    inTurn(say(200, claude.reply("ok")), (_response, _request, _number, raw) => {
      raw.socket.write("HTTP/1.1 20", () => raw.socket.resetAndDestroy());
    }),
  );
  await using providers = openFor(server.url);
  await providers.complete(ask(claude, server.url), never);
  await nextTurn();
  const result = await providers.complete(ask(claude, server.url), never);
  expect(result).toMatchObject({ kind: "failure", outcome: "transport", sideRequests: [] });
  expect(server.seen.map(({ connection }) => connection)).toEqual([0, 0]);
});

test.each([
  ["answers: nothing is lost, though every idle socket was dead", false, { kind: "reply" }],
  ["dies too: transport, with one resend, not two", true, { kind: "failure", outcome: "transport" }],
] as const)("what is sent once more takes a socket of its own, and where that %s", async (_end, diesToo, expected) => {
  const fine = say(200, claude.reply("ok"));
  await using server = await startScriptedServer(
    inTurn(fine, (response, request, number, raw) => {
      const isDead = request.connection < 2 ? number > 1 : diesToo;
      if (isDead) raw.socket.resetAndDestroy();
      else fine(response, request, number, raw);
    }),
  );
  await using providers = openFor(server.url);
  const call = () => providers.complete(ask(claude, server.url), never);
  await Promise.all([call(), call()]);
  await nextTurn();
  expect(await call()).toMatchObject({ ...expected, sideRequests: [{ reason: "resend" }] });
  expect(server.seen).toHaveLength(4);
  expect(server.seen.filter(({ connection }) => connection > 1)).toHaveLength(1);
});

test("a burst after the server has closed its idle sockets loses nothing (T20)", async () => {
  await using server = await startScriptedServer(say(200, claude.reply("ok")), { keepAliveTimeoutMs: 1 });
  await using providers = openFor(server.url);
  const burst = () => Promise.all(Array.from({ length: 8 }, () => providers.complete(ask(claude, server.url), never)));
  const first = await burst();
  await server.allClosed();
  const second = await burst();
  expect([...first, ...second].map(({ kind }) => kind)).toEqual(Array.from({ length: 16 }, () => "reply"));
});

test("headers may take longer than Node's own fetch waits, on every SDK; ours is the only clock (T54)", async () => {
  // As Node's fetch, which gives up after 300 s, but after one or two seconds (its timers are coarse).
  const platform = getGlobalDispatcher();
  setGlobalDispatcher(new Agent({ headersTimeout: 300, bodyTimeout: 300 }));
  onTestFinished(() => setGlobalDispatcher(platform));
  await using server = await startScriptedServer((response, request, number, raw) => {
    const dialect = dialects.find(({ path }) => request.path.startsWith(path)) ?? claude;
    setTimeout(() => say(200, dialect.reply("late"))(response, request, number, raw), 2500);
  });
  await using patient = openFor(server.url, { headerMs: 20_000 });
  await using hasty = openFor(server.url, { headerMs: 50 });
  const control = fetch(server.url, { method: "POST", body: "{}" }).catch((error: unknown) => error);
  const late = await Promise.all(dialects.map((dialect) => patient.complete(ask(dialect, server.url), never)));
  for (const result of late) expect(result).toMatchObject({ kind: "reply", text: "late" });
  expect(await control).toMatchObject({ cause: { code: "UND_ERR_HEADERS_TIMEOUT" } });
  expect(await hasty.complete(ask(claude, server.url), never)).toMatchObject({ outcome: "timeout", detail: "header" });
}, 30_000);

test("filler keeps a queued request alive up to the total deadline (T55)", async () => {
  await using server = await startScriptedServer((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const beat = setInterval(() => response.write("\n"), 10);
    response.on("close", () => clearInterval(beat));
  });
  await using providers = openFor(server.url, { idleMs: 100, totalMs: 300 });
  const result = await providers.complete(ask(dialectOf("deepseek"), server.url), never);
  expect(result).toMatchObject({ kind: "failure", outcome: "timeout", detail: "total" });
});

test("a stream with its finish frame counts although the connection then stands still", async () => {
  await using server = await startScriptedServer((response) => {
    response.writeHead(200, head);
    response.write(claude.events(["done"]).join(""));
  });
  await using providers = openFor(server.url, { idleMs: 200 });
  const result = await providers.complete(ask(claude, server.url, { params: { stream: true } }), never);
  expect(result).toMatchObject({ kind: "reply", text: "done" });
});

test("a server that never completes the handshake is timeout(connect)", async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port } = silent.address() as AddressInfo;
  await using providers = openFor(`https://127.0.0.1:${port}`, { connectMs: 50 });
  const result = await providers.complete(ask(claude, ""), never);
  silent.close();
  expect(result).toMatchObject({ kind: "failure", outcome: "timeout", detail: "connect" });
});

test("nobody at the address is transport", async () => {
  await using providers = openFor("http://127.0.0.1:9");
  expect(await providers.complete(ask(claude, ""), never)).toMatchObject({ kind: "failure", outcome: "transport" });
});

test("variables that an SDK reads by itself bring no header and no key along", async () => {
  await using server = await startScriptedServer(say(200, claude.reply("ok")));
  const foreign = {
    ANTHROPIC_CUSTOM_HEADERS: "x-secret: sk-foreign-1\nauthorization: Bearer sk-foreign-2",
    ANTHROPIC_AUTH_TOKEN: "sk-foreign-3",
  };
  Object.assign(process.env, foreign);
  const providers = openProviders({ variables: variablesFor(server.url) });
  await providers.complete(ask(claude, server.url), never);
  await providers.close();
  for (const name of Object.keys(foreign)) delete process.env[name];
  expect(JSON.stringify(server.seen[0]?.headers)).not.toContain("sk-foreign");
});
