// OpenAI's batches through its SDK and the recorder, against the rehearsal server on loopback.
import { type BatchAddress, customIdOf, positionOf } from "@hallumaze/batching";
import type { ChatRequest } from "@hallumaze/engine";
import { type MockProvidersOptions, startMockProviders } from "@hallumaze/mock-providers";
import { openProviders } from "@hallumaze/providers";
import { describe, expect, it, onTestFinished } from "vitest";

import { openBatchVendors } from "./open-batch-vendors.ts";

const { signal } = new AbortController();

function request(model: string, text: string): ChatRequest {
  return {
    provider: "openai",
    model,
    baseUrl: null,
    system: "You walk a maze.",
    messages: [{ role: "user", content: text }],
    maxTokens: 2500,
    temperature: 0,
    params: {},
    repeat: 0,
    keyEnv: null,
  };
}

async function openStage(options: MockProvidersOptions = {}, model = "gpt-4o") {
  const mock = await startMockProviders({ ...options, script: [{ reply: { text: "FINAL_PATH: (0,0)" } }] });
  onTestFinished(() => mock.close());
  const providers = openProviders({ variables: mock.environment() });
  onTestFinished(() => providers.close());
  const vendor = openBatchVendors(providers);
  const batch: BatchAddress & { readonly rows: number } = {
    batchId: "0198c1d2-5a3e-4a61-8d5f-0123456789ab",
    provider: "openai",
    model,
    keyEnv: null,
    headers: {},
    rows: 5,
  };
  const rows = [0, 1, 2, 3, 4].map((index) => ({
    customId: customIdOf(batch.batchId, index),
    body: vendor.draft(request(model, `maze ${index}`)).text,
  }));
  const submit = () => vendor.submit(batch, rows, signal);
  const accepted = async (): Promise<string> => {
    const submission = await submit();
    if (submission.kind !== "accepted") throw new Error(JSON.stringify(submission));
    return submission.vendorId;
  };
  const ends = async (vendorId: string): Promise<Record<string, string>> => {
    const answer = await vendor.results(batch, vendorId, signal);
    if (answer.kind !== "rows") throw new Error(JSON.stringify(answer));
    return Object.fromEntries(
      [...answer.results].map(({ customId, read }) => {
        const result = read(request(model, "maze"), 1);
        return [positionOf(batch.batchId, customId), result.kind === "reply" ? result.text : result.outcome];
      }),
    );
  };
  return { mock, providers, vendor, batch, submit, accepted, ends };
}

const text = "FINAL_PATH: (0,0)";

describe("OpenAI's batches", () => {
  it.each([
    ["gpt-4o", "/v1/chat/completions"],
    ["o1-pro", "/v1/responses"],
  ])("take the requests of %s in a file for %s, and give each back as a live call's result", async (model, path) => {
    const stage = await openStage({}, model);
    const vendorId = await stage.accepted();
    expect(await stage.vendor.look(stage.batch, vendorId, signal)).toEqual({ kind: "ended" });
    expect(await stage.ends(vendorId)).toEqual({ 0: text, 1: text, 2: text, 3: text, 4: text });
    const answer = await stage.vendor.results(stage.batch, vendorId, signal);
    if (answer.kind !== "rows") throw new Error(answer.kind);
    const first = [...answer.results].find(({ customId }) => positionOf(stage.batch.batchId, customId) === 0);
    const live = await stage.providers.complete(request(model, "maze 0"), signal);
    const { rawBody: _raw, httpMs: _ms, limits: _limits, ...same } = live;
    expect(first?.read(request(model, "maze 0"), 60_000)).toMatchObject({ ...same, httpMs: 60_000 });
    const sent = stage.mock.requests().filter(({ method }) => method === "POST");
    expect(sent.map((one) => one.path.replace("/openai", "")).slice(0, 2)).toEqual(["/v1/files", "/v1/batches"]);
    expect(JSON.parse(sent[1]?.bodyText ?? "")).toMatchObject({
      endpoint: path,
      completion_window: "24h",
      metadata: { hallumaze_batch: stage.batch.batchId },
    });
  });

  it("that expired in part bring what was finished, and say which rows were not run", async () => {
    const stage = await openStage({ batches: [{ rows: [{ nth: [2, 4], end: "expired" }] }] });
    expect(await stage.ends(await stage.accepted())).toEqual({
      0: text,
      1: "overloaded",
      2: text,
      3: "overloaded",
      4: text,
    });
  });

  it("that completed with a file of errors alone bring each row's error", async () => {
    const stage = await openStage({
      batches: [
        {
          rows: [
            { nth: 1, end: "errored", error: "server_error" },
            { end: "errored", error: "bad_request" },
          ],
        },
      ],
    });
    const vendorId = await stage.accepted();
    expect(await stage.vendor.look(stage.batch, vendorId, signal)).toEqual({ kind: "ended" });
    expect(await stage.ends(vendorId)).toEqual({
      0: "transient_server",
      1: "bad_request",
      2: "bad_request",
      3: "bad_request",
      4: "bad_request",
    });
  });

  it("that were cancelled bring what was finished, and what is missing does not come", async () => {
    const stage = await openStage({
      batches: [
        {
          rows: [
            { nth: [1, 2], end: "canceled" },
            { nth: 3, end: "missing" },
          ],
          unknownRows: 1,
        },
      ],
    });
    expect(await stage.ends(await stage.accepted())).toEqual({
      null: "overloaded",
      0: "cancelled",
      1: "cancelled",
      3: text,
      4: text,
    });
  });

  it("that are refused as a whole after they were taken name the lines to blame, where there are any", async () => {
    const blamed = await openStage({
      batches: [{ failed: [{ code: "invalid_json_line", message: "line 2", line: 2 }] }],
    });
    expect(await blamed.vendor.look(blamed.batch, await blamed.accepted(), signal)).toMatchObject({
      kind: "refused",
      outcome: "bad_request",
      lines: [1],
      park: null,
    });
    const full = await openStage({
      batches: [{ failed: [{ code: "token_limit_exceeded", message: "Enqueued token limit reached for gpt-4o" }] }],
    });
    expect(await full.vendor.look(full.batch, await full.accepted(), signal)).toMatchObject({
      kind: "refused",
      outcome: "rate_limited",
      lines: [],
    });
  });

  it("whose submission's answer was lost are found by their metadata, and no others", async () => {
    const stage = await openStage({ batches: [{ nth: 1, loseAnswer: true }] });
    expect(await stage.submit()).toMatchObject({ kind: "unknown" });
    const other = { ...stage.batch, batchId: crypto.randomUUID() };
    await stage.vendor.submit(
      other,
      [{ customId: "a", body: stage.vendor.draft(request("gpt-4o", "b")).text }],
      signal,
    );
    const [lost] = stage.mock.batches();
    const found = { kind: "found", named: [lost?.id], alike: [] };
    expect(await stage.vendor.find(stage.batch, Date.now(), signal)).toEqual({ ...found, isPast: false });
    expect(await stage.vendor.find(stage.batch, Date.now() - 600_000, signal)).toEqual({ ...found, isPast: true });
  });

  it("whose file was not taken were not made, whatever the server's failure", async () => {
    const stage = await openStage();
    await stage.mock.close();
    expect(await stage.submit()).toMatchObject({ kind: "refused", outcome: "transport", isTooLarge: false });
  });

  it("whose files are past their retention say so, and a batch that is not there too", async () => {
    const stage = await openStage({ batches: [{ resultsGone: true }] });
    expect(await stage.vendor.results(stage.batch, await stage.accepted(), signal)).toMatchObject({ kind: "gone" });
    expect(await stage.vendor.look(stage.batch, "batch_none", signal)).toMatchObject({ kind: "unknown" });
  });
});
