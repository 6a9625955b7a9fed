// Anthropic's batches through its SDK and the recorder, against the rehearsal server on loopback.
import { type BatchAddress, customIdOf, positionOf } from "@hallumaze/batching";
import type { ChatRequest } from "@hallumaze/engine";
import { type MockProvidersOptions, startMockProviders } from "@hallumaze/mock-providers";
import { openProviders } from "@hallumaze/providers";
import { describe, expect, it, onTestFinished } from "vitest";

import { openBatchVendors } from "./open-batch-vendors.ts";

const { signal } = new AbortController();
const batch: BatchAddress & { readonly rows: number } = {
  batchId: "0198c1d2-5a3e-4a61-8d5f-0123456789ab",
  provider: "anthropic",
  model: "claude-haiku-4-5",
  keyEnv: null,
  headers: {},
  rows: 5,
};

function request(text: string, changes: Partial<ChatRequest> = {}): ChatRequest {
  return {
    provider: "anthropic",
    model: "claude-haiku-4-5",
    baseUrl: null,
    system: "You walk a maze.",
    messages: [{ role: "user", content: text }],
    maxTokens: 2500,
    temperature: 0,
    params: {},
    repeat: 0,
    keyEnv: null,
    ...changes,
  };
}

async function openStage(options: MockProvidersOptions = {}) {
  const mock = await startMockProviders({ ...options, script: [{ reply: { text: "FINAL_PATH: (0,0)" } }] });
  onTestFinished(() => mock.close());
  const providers = openProviders({ variables: mock.environment() });
  onTestFinished(() => providers.close());
  const vendor = openBatchVendors(providers);
  const requests = [1, 2, 3, 4, 5].map((number) => request(`maze ${number}`));
  const rows = requests.map((one, index) => ({
    customId: customIdOf(batch.batchId, index),
    body: vendor.draft(one).text,
  }));
  return { mock, providers, vendor, requests, rows, submit: () => vendor.submit(batch, rows, signal) };
}

describe("Anthropic's batches", () => {
  it("take requests as the Messages interface does, in one call, and give each back as a live call's result", async () => {
    const stage = await openStage();
    const submission = await stage.submit();
    if (submission.kind !== "accepted") throw new Error(submission.kind);
    expect(await stage.vendor.look(batch, submission.vendorId, signal)).toEqual({ kind: "ended" });
    const answer = await stage.vendor.results(batch, submission.vendorId, signal);
    if (answer.kind !== "rows") throw new Error(answer.kind);
    const results = [...answer.results];
    const places = results.map(({ customId }) => positionOf(batch.batchId, customId));
    expect(places.toSorted((a, b) => (a ?? 0) - (b ?? 0))).toEqual([0, 1, 2, 3, 4]);
    expect(places).not.toEqual([0, 1, 2, 3, 4]);
    const live = await stage.providers.complete(request("maze 1"), signal);
    const first = results[places.indexOf(0)]?.read(request("maze 1"), 60_000);
    const { rawBody: _raw, httpMs: _ms, limits: _limits, ...same } = live;
    expect(first).toMatchObject({ ...same, httpMs: 60_000 });
    const posts = stage.mock.requests().filter(({ method, path }) => method === "POST" && path.endsWith("/batches"));
    expect(posts).toHaveLength(1);
  });

  it("never stream, whatever a reply's length", async () => {
    const { vendor } = await openStage();
    const long = request("maze", { maxTokens: 60_000 });
    expect(JSON.parse(vendor.draft(long).text)).not.toHaveProperty("stream");
  });

  it("tell each row's end: answered, errored in the vendor's words, expired, cancelled; what is missing does not come", async () => {
    const rows = [
      { nth: 2, end: "errored", error: "server_error" },
      { nth: 3, end: "expired" },
      { nth: 4, end: "canceled" },
      { nth: 5, end: "missing" },
    ] as const;
    const stage = await openStage({ batches: [{ rows: [...rows], unknownRows: 1 }] });
    const submission = await stage.submit();
    if (submission.kind !== "accepted") throw new Error(submission.kind);
    const answer = await stage.vendor.results(batch, submission.vendorId, signal);
    if (answer.kind !== "rows") throw new Error(answer.kind);
    const ends = Object.fromEntries(
      [...answer.results].map(({ customId, read }) => {
        const result = read(request("maze"), 1);
        return [positionOf(batch.batchId, customId), result.kind === "reply" ? "reply" : result.outcome];
      }),
    );
    expect(ends).toEqual({ 0: "reply", 1: "transient_server", 2: "overloaded", 3: "cancelled", null: "overloaded" });
  });

  it("that run are told from those that have ended, by the server's clock", async () => {
    let nowMs = 1_800_000_000_000;
    const stage = await openStage({ clock: () => nowMs, batches: [{ afterMs: 3_600_000 }] });
    const submission = await stage.submit();
    if (submission.kind !== "accepted") throw new Error(submission.kind);
    expect(await stage.vendor.look(batch, submission.vendorId, signal)).toEqual({ kind: "running" });
    nowMs += 3_600_000;
    expect(await stage.vendor.look(batch, submission.vendorId, signal)).toEqual({ kind: "ended" });
  });

  it("whose submission's answer was lost are found by time and size, and nothing else is", async () => {
    const stage = await openStage({ batches: [{ nth: 1, loseAnswer: true }] });
    const sinceMs = Date.now();
    expect(await stage.submit()).toMatchObject({ kind: "unknown" });
    await stage.vendor.submit({ ...batch, batchId: crypto.randomUUID() }, stage.rows.slice(1), signal);
    const found = await stage.vendor.find(batch, sinceMs, signal);
    const alike = [{ vendorId: stage.mock.batches()[0]?.id, hasEnded: true }];
    expect(found).toEqual({ kind: "found", named: [], alike, isPast: false });
    const none = { kind: "found", named: [], alike: [] };
    // Made long before the submission, or long after: a list that shows later ones has caught up with it.
    expect(await stage.vendor.find(batch, sinceMs + 3_600_000, signal)).toEqual({ ...none, isPast: false });
    expect(await stage.vendor.find(batch, sinceMs - 3_600_000, signal)).toEqual({ ...none, isPast: true });
  });

  it("that are refused say so: nothing was made, and whether the lane must stop", async () => {
    const refusals = [
      ["payload_too_large", { outcome: "context_too_long", isTooLarge: true, park: null }],
      ["rate_limited", { outcome: "rate_limited", isTooLarge: false, park: null }],
      ["overloaded", { outcome: "overloaded", park: null }],
      ["bad_request", { outcome: "bad_request", park: null }],
      ["auth", { outcome: "auth", park: { resumeAfterMs: null } }],
      ["quota_exhausted", { outcome: "quota_exhausted", park: { resumeAfterMs: null } }],
    ] as const;
    for (const [refuse, expected] of refusals) {
      const stage = await openStage({ batches: [{ refuse }] });
      expect(await stage.submit()).toMatchObject({ kind: "refused", ...expected });
      expect(stage.mock.batches()).toEqual([]);
    }
  });

  it("may be there after a server's failure, and are not where nobody listened", async () => {
    const stage = await openStage({ batches: [{ refuse: "server_error" }] });
    expect(await stage.submit()).toMatchObject({ kind: "unknown" });
    await stage.mock.close();
    expect(await stage.submit()).toMatchObject({ kind: "refused", outcome: "transport", park: null });
  });

  it("that the vendor does not know, and results past their retention, are told from a moment's failure", async () => {
    const stage = await openStage({ batches: [{ resultsGone: true }] });
    const submission = await stage.submit();
    if (submission.kind !== "accepted") throw new Error(submission.kind);
    expect(await stage.vendor.look(batch, "msgbatch_other", signal)).toMatchObject({ kind: "unknown" });
    expect(await stage.vendor.results(batch, submission.vendorId, signal)).toMatchObject({ kind: "gone" });
    await stage.mock.close();
    expect(await stage.vendor.look(batch, submission.vendorId, signal)).toMatchObject({ kind: "unreachable" });
  });

  it("are sent nowhere without a key: the lane stops and the variable is named", async () => {
    const vendor = openBatchVendors(openProviders({ variables: {} }));
    const refusal = await vendor.submit(batch, [], signal);
    expect(refusal).toMatchObject({ kind: "refused", outcome: "auth", park: { resumeAfterMs: null } });
    expect(refusal).toHaveProperty("message", expect.stringContaining("ANTHROPIC_API_KEY"));
  });
});
