import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

import { expect, it, onTestFinished } from "vitest";

import { openStage } from "../test/program-stage.ts";

it("a run tells a webhook once that its sweep is done, before it ends, and not again when it has nothing to do", async () => {
  const told: unknown[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      told.push(body);
      response.end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path`;
  const stage = openStage({ HALLUMAZE_NOTIFY_URL: url, HALLUMAZE_LOG_LEVEL: "info" });
  onTestFinished(async () => {
    await stage.clear();
    server.close();
  });
  const spec = stage.spec("night", { models: ["sim/oracle"], seeds: ["1..12"] });
  const first = await stage.run(["run", spec]);
  expect(first.code).toBe(0);
  expect(told).toEqual([
    {
      id: expect.stringMatching(/^done\.[0-9a-f-]{36}\.1$/),
      event: "sweep.done",
      raisedAt: expect.any(String),
      sweep: "night",
      sweepId: expect.any(String),
      done: 12,
      failed: 0,
      blocked: 0,
      spentUsd: 0,
    },
  ]);
  expect(first.err).toContain("notification sent");
  expect(first.out + first.err).not.toContain("secret-path");
  expect((await stage.run(["run", spec])).code).toBe(0);
  expect(told).toHaveLength(1);
});
