import type { ChatRequest } from "@hallumaze/engine";
import { expect, test } from "vitest";

import { openSim } from "./client.ts";

const request: ChatRequest = {
  provider: "sim",
  model: "silent",
  baseUrl: null,
  keyEnv: null,
  system: "",
  messages: [{ role: "user", content: "no maze" }],
  maxTokens: 100,
  temperature: 0,
  params: {},
  repeat: 0,
};
const never = new AbortController().signal;

test("a solver that does not exist parks its lane", async () => {
  const result = await openSim()({ ...request, model: "nobody" }, never);
  expect(result).toMatchObject({ kind: "failure", outcome: "model_not_found", park: { resumeAfterMs: null } });
});

test("a failure rate of 1 fails every request, as a server would", async () => {
  const result = await openSim()({ ...request, model: "dfs-honest", params: { failureRate: 1 } }, never);
  expect(result).toMatchObject({ kind: "failure", outcome: "transient_server", park: null, sideRequests: [] });
});

test("an aborted wait rejects", async () => {
  const abort = new AbortController();
  const call = openSim()({ ...request, model: "dfs-honest", params: { latencyMs: 60_000 } }, abort.signal);
  abort.abort(new Error("drain"));
  await expect(call).rejects.toThrow("aborted");
});
