import { connect } from "node:net";
import { text } from "node:stream/consumers";

import { createDatabase, findFreePort } from "@hallumaze/testkit";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import { runHeld } from "../test/held-console.ts";
import { openStage } from "../test/program-stage.ts";

const token = "a-token-of-the-tests";

/** Sends bytes to a port of this machine, and gives all that comes back until the server ends the connection. */
async function say(port: string, request: string): Promise<string> {
  const socket = connect(Number(port), "127.0.0.1");
  socket.write(request);
  return text(socket);
}

describe("serve", () => {
  it("scores by the judge on its own worker, asks for the token, tells it to nobody, and drains at SIGTERM", async () => {
    const { url: DATABASE_URL, drop } = await createDatabase();
    const stage = openStage({ DATABASE_URL, HALLUMAZE_API_TOKEN: token });
    onTestFinished(async () => {
      await stage.clear();
      await drop();
    });
    const url = `http://127.0.0.1:${await findFreePort()}`;
    const program = stage.start(["serve", "--judge", "sim/judge", "--port", new URL(url).port]);
    await program.says("serve: judge sim/judge");
    const post = async (path: string, body: object, authorization = `Bearer ${token}`) => {
      const headers = { "content-type": "application/json", authorization };
      const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> };
    };
    await vi.waitFor(
      async () => expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ status: "ready" }),
      20_000,
    );
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('hallumaze_in_flight{kind="judge"} 0');
    const scenario = { prompt: "Why does a queue help?", expected_l3: "Explains backpressure, fairness, admission." };
    expect(await post("/api/benchmark/scenarios", scenario, "Bearer another")).toMatchObject({ status: 401 });
    const kept = await post("/api/benchmark/scenarios", scenario);
    const result = await post("/api/benchmark/results", {
      scenario_id: kept.body["scenario_id"],
      response: "backpressure, fairness, admission",
    });
    const path = `/api/benchmark/auto-score/${String(result.body["result_id"])}`;
    expect(await post(path, {})).toMatchObject({ status: 200, body: { level: "L3", scored_by: "HEURISTIC" } });
    expect(await post(`${path}?dry_run=true`, {})).toMatchObject({
      status: 200,
      body: { level: "L1", scored_by: "LLM-JUDGE-v1", default: { level: "L3", scored_by: "HEURISTIC" } },
    });
    // As curl -X POST sends it: no body, and no word of its length.
    const bare = [`POST ${path} HTTP/1.1`, "Host: 127.0.0.1", `Authorization: Bearer ${token}`, "Connection: close"];
    expect(await say(new URL(url).port, `${bare.join("\r\n")}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    program.kill("SIGTERM");
    const ended = await program.ended;
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.err).toContain("serve: drained");
    expect(ended.out).toContain(url);
    expect(ended.out + ended.err).not.toContain(token);
  });

  it("shows the queues of the ledger's lanes, also of a sweep submitted meanwhile, to the token alone", async () => {
    const { url: DATABASE_URL, drop } = await createDatabase();
    const stage = openStage({ DATABASE_URL, HALLUMAZE_API_TOKEN: token });
    onTestFinished(async () => {
      await stage.clear();
      await drop();
    });
    const url = `http://127.0.0.1:${await findFreePort()}/board`;
    const program = stage.start(["serve", "--port", new URL(url).port]);
    await program.says(`the queues at ${url}`);
    expect((await fetch(url)).status).toBe(401);
    const authorization = `Basic ${Buffer.from(`me:${token}`).toString("base64")}`;
    const ask = (path: string) => fetch(`${url}${path}`, { headers: { authorization } });
    expect((await ask("")).status).toBe(200);
    expect(await (await ask("/api/queues")).json()).toEqual({ queues: [] });
    const spec = stage.spec("night", { models: ["sim/oracle"], seeds: ["1..12"] });
    expect((await stage.run(["submit", spec])).code).toBe(0);
    // The ledger is looked at every ten seconds.
    await vi.waitFor(
      async () =>
        expect(await (await ask("/api/queues")).json()).toMatchObject({
          queues: [{ name: "solve.sim.oracle", counts: { prioritized: 12 } }],
        }),
      { timeout: 40_000, interval: 500 },
    );
  });

  it.each([
    ["a shadow without a judge", ["--shadow"], {}, /--shadow needs a judge/],
    ["a judge that is no model", ["--judge", "nobody/x"], {}, /is no provider\/model/],
    ["a judge without its key", ["--judge", "openai/gpt-4o"], {}, /OPENAI_API_KEY/],
    ["a short token", [], { HALLUMAZE_API_TOKEN: "secret" }, /HALLUMAZE_API_TOKEN: must be/],
  ])("ends with exit 2, before a database is opened, for %s", async (_, words, variables, message) => {
    const held = await runHeld(["serve", ...words], { variables });
    expect(held).toMatchObject({ code: 2, openedHouse: false });
    expect(held.err).toMatch(message);
    expect(held.err).not.toContain("secret");
  });
});
