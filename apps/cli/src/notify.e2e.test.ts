import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

import { type Rule, startMockProviders } from "@hallumaze/mock-providers";
import { expect, it, onTestFinished } from "vitest";

import { openStage, type Spec, type Stage } from "../test/program-stage.ts";

/** A program whose news go to a webhook, and what that was told, in its order. */
async function openTold(
  variables: Readonly<Record<string, string>> = {},
): Promise<{ readonly stage: Stage; readonly told: readonly { readonly event: string }[] }> {
  const told: { readonly event: string }[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      told.push(body as { readonly event: string });
      response.end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path`;
  const stage = openStage({ HALLUMAZE_NOTIFY_URL: url, HALLUMAZE_LOG_LEVEL: "info", ...variables });
  onTestFinished(async () => {
    await stage.clear();
    server.close();
  });
  return { stage, told };
}

it("a run tells a webhook once that its sweep is done, before it ends, and not again when it has nothing to do", async () => {
  const { stage, told } = await openTold();
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

const model = "openai/gpt-4o";
const paid: Partial<Spec> = {
  maxTokens: 1500,
  prices: { [model]: { input: 0, output: 20 } },
  limits: { [model]: { rpm: 1e6, tpm: 1e9, concurrency: 4 } },
};

interface News {
  readonly event: string;
  readonly script: readonly Rule[];
  readonly spec: Partial<Spec>;
  readonly code: number;
  readonly facts: object;
}

it.each<News>([
  {
    event: "lane.parked",
    script: [{ fail: { kind: "auth", message: "Incorrect API key, says the vendor", echoKey: true } }],
    spec: {},
    code: 3,
    facts: { id: expect.stringMatching(/^parked\..*\.1$/), lane: "openai.gpt-4o", outcome: "auth", resumesAtMs: null },
  },
  {
    event: "sweep.budget_reached",
    script: [{ reply: { usage: { outputTokens: 1000 } } }],
    spec: { budgetUsd: 0.1 },
    code: 4,
    facts: { id: expect.stringMatching(/^budget\..*\.1$/), sweep: "night", budgetUsd: 0.1 },
  },
  {
    event: "sweep.failing",
    script: [{ nth: { every: 2 }, fail: { kind: "bad_request", message: "Bad, says the vendor" } }],
    spec: {},
    code: 3,
    facts: { id: expect.stringMatching(/^failing\..*\.1$/), sweep: "night", threshold: 0.2 },
  },
])("a run tells of $event once, with none of the vendor's words, and not again when it is run again", async (news) => {
  const mock = await startMockProviders({ script: [...news.script] });
  onTestFinished(() => mock.close());
  const { stage, told } = await openTold(mock.environment());
  const spec = stage.spec("night", { models: [model], seeds: ["1..24"], ...paid, ...news.spec });
  expect((await stage.run(["run", spec])).code).toBe(news.code);
  const ofKind = () => told.filter(({ event }) => event === news.event);
  expect(ofKind()).toMatchObject([news.facts]);
  expect(JSON.stringify(told)).not.toMatch(/says the vendor|sk-/);
  expect((await stage.run(["run", spec])).code).toBe(news.code);
  expect(ofKind()).toHaveLength(1);
});
