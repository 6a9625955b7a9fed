import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { createDatabase, findFreePort } from "@hallumaze/testkit";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import { runHeld } from "../test/held-console.ts";
import { openStage } from "../test/program-stage.ts";

interface Ready {
  readonly status: string;
  readonly checks: Readonly<Record<string, string>>;
  readonly reasons: Readonly<Record<string, string>>;
}

describe("a worker's health port", () => {
  it("says that it is ready once it consumes, and counts what it does", async () => {
    const { url: DATABASE_URL, drop } = await createDatabase();
    const port = await findFreePort();
    const stage = openStage({ DATABASE_URL, HALLUMAZE_HEALTH_PORT: String(port) });
    onTestFinished(async () => {
      await stage.clear();
      await drop();
    });
    const url = `http://127.0.0.1:${port}`;
    const ready = async (): Promise<Ready> => (await (await fetch(`${url}/readyz`)).json()) as Ready;
    const worker = stage.start(["worker", "--role", "solve,judge"]);
    await worker.says("worker: role");
    await vi.waitFor(async () => expect(await ready()).toMatchObject({ status: "ready" }), { timeout: 20_000 });
    expect((await ready()).checks).toEqual({
      database: "ok",
      queue: "ok",
      schema: "ok",
      solve: "ok",
      judge: "ok",
    });

    expect(await stage.run(["submit", stage.spec("night", { models: ["sim/oracle"], seeds: ["1..8"] })])).toMatchObject(
      {
        code: 0,
      },
    );
    const metrics = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
    await vi.waitFor(
      async () => {
        const text = await metrics();
        expect(text).toContain('hallumaze_tries_total{kind="trial",model="sim/oracle",end="done",outcome="ok"} 8');
        expect(text).toContain('hallumaze_trials{sweep="night",model="sim/oracle",state="done",outcome="ok"} 8');
      },
      { timeout: 40_000, interval: 250 },
    );
    expect(await metrics()).toMatch(/hallumaze_calls_total\{kind="trial",model="sim\/oracle",outcome="reply"\} 8\n/);

    worker.kill("SIGTERM");
    expect(await worker.ended).toMatchObject({ code: 0 });
  });

  it("that another program has ends every command that asks for it, with exit 2 and nothing left at work", async () => {
    const { url: DATABASE_URL, drop } = await createDatabase();
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const port = String((other.address() as AddressInfo).port);
    const stage = openStage({ DATABASE_URL });
    onTestFinished(async () => {
      other.close();
      await stage.clear();
      await drop();
    });
    for (const words of [
      ["worker", "--role", "solve,judge", "--health-port", port],
      ["serve", "--judge", "sim/judge", "--port", port],
      ["mock-providers", "--port", port],
    ]) {
      const { code, err } = await stage.run(words);
      expect(err).toContain(`cannot listen on 127.0.0.1:${port}: another program has that port. Choose another`);
      expect([words[0], code]).toEqual([words[0], 2]);
    }
  });

  it.each([
    ["another address without a token", ["--health-port", "0", "--health-host", "0.0.0.0"], {}, /HALLUMAZE_API_TOKEN/],
    ["a port that is none", [], { HALLUMAZE_HEALTH_PORT: "http" }, /HALLUMAZE_HEALTH_PORT: must be a port/],
  ])("ends with exit 2, before a database is opened, for %s", async (_, words, variables, message) => {
    const held = await runHeld(["worker", "--role", "solve", ...words], { variables });
    expect(held).toMatchObject({ code: 2, openedHouse: false });
    expect(held.err).toMatch(message);
  });
});
