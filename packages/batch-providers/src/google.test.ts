// Google's batches over HTTP and the recorder, against the rehearsal server on loopback.
import { type BatchAddress, customIdOf, positionOf } from "@hallumaze/batching";
import type { ChatRequest } from "@hallumaze/engine";
import { type MockProvidersOptions, startMockProviders } from "@hallumaze/mock-providers";
import { openProviders } from "@hallumaze/providers";
import { describe, expect, it, onTestFinished } from "vitest";

import { openBatchVendors } from "./open-batch-vendors.ts";

const { signal } = new AbortController();
const batch: BatchAddress & { readonly rows: number } = {
  batchId: "0198c1d2-5a3e-4a61-8d5f-0123456789ab",
  provider: "google",
  model: "gemini-2.5-flash",
  keyEnv: null,
  headers: {},
  rows: 3,
};
const text = "FINAL_PATH: (0,0)";

function request(said: string): ChatRequest {
  return {
    provider: "google",
    model: "gemini-2.5-flash",
    baseUrl: null,
    system: "You walk a maze.",
    messages: [{ role: "user", content: said }],
    maxTokens: 2500,
    temperature: 0,
    params: {},
    repeat: 0,
    keyEnv: null,
  };
}

async function openStage(options: MockProvidersOptions = {}) {
  const mock = await startMockProviders({ ...options, script: [{ reply: { text } }] });
  onTestFinished(() => mock.close());
  const providers = openProviders({ variables: mock.environment() });
  onTestFinished(() => providers.close());
  const vendor = openBatchVendors(providers);
  const rows = [0, 1, 2].map((index) => ({
    customId: customIdOf(batch.batchId, index),
    body: vendor.draft(request(`maze ${index}`)).text,
  }));
  const submit = () => vendor.submit(batch, rows, signal);
  const accepted = async (): Promise<string> => {
    const submission = await submit();
    if (submission.kind !== "accepted") throw new Error(JSON.stringify(submission));
    return submission.vendorId;
  };
  const results = async (vendorId: string) => {
    const answer = await vendor.results(batch, vendorId, signal);
    if (answer.kind !== "rows") throw new Error(JSON.stringify(answer));
    return { ...answer, results: [...answer.results] };
  };
  return { mock, providers, vendor, submit, accepted, results };
}

describe("Google's batches", () => {
  it("take requests in the call, under our name, and give each back as a live call's result", async () => {
    const stage = await openStage();
    const vendorId = await stage.accepted();
    expect(vendorId).toMatch(/^batches\//);
    expect(await stage.vendor.look(batch, vendorId, signal)).toEqual({ kind: "ended" });
    const { results } = await stage.results(vendorId);
    const places = results.map(({ customId }) => positionOf(batch.batchId, customId) ?? -1);
    expect(places.toSorted((a, b) => a - b)).toEqual([0, 1, 2]);
    const live = await stage.providers.complete(request("maze 0"), signal);
    const { rawBody: _raw, httpMs: _ms, limits: _limits, ...same } = live;
    expect(results[places.indexOf(0)]?.read(request("maze 0"), 60_000)).toMatchObject({ ...same, httpMs: 60_000 });
    const [sent] = stage.mock.requests();
    expect(sent?.path).toBe("/google/v1beta/models/gemini-2.5-flash:batchGenerateContent");
  });

  it("tell each row's error in the words of google.rpc", async () => {
    const rows = [
      { nth: 1, end: "errored", error: "server_error" },
      { nth: 2, end: "errored", error: "bad_request" },
    ] as const;
    const stage = await openStage({ batches: [{ rows: [...rows] }] });
    const { results } = await stage.results(await stage.accepted());
    const ends = Object.fromEntries(
      results.map(({ customId, read }) => {
        const result = read(request("maze"), 1);
        return [positionOf(batch.batchId, customId), result.kind === "reply" ? "reply" : result.outcome];
      }),
    );
    expect(ends).toEqual({ 0: "transient_server", 1: "bad_request", 2: "reply" });
  });

  it("that expire or are cancelled bring no answers, and say what became of all rows", async () => {
    for (const [end, outcome] of [
      ["expired", "overloaded"],
      ["canceled", "cancelled"],
    ] as const) {
      const stage = await openStage({ batches: [{ rows: [{ end }] }] });
      const vendorId = await stage.accepted();
      expect(await stage.vendor.look(batch, vendorId, signal)).toEqual({ kind: "ended" });
      expect(await stage.results(vendorId)).toMatchObject({ results: [], rest: { outcome } });
    }
  });

  it("that fail as a whole say why: for what is in them, or for the moment", async () => {
    for (const [code, outcome] of [
      ["3", "bad_request"],
      ["8", "rate_limited"],
      ["13", "transient_server"],
    ] as const) {
      const stage = await openStage({ batches: [{ failed: [{ code, message: "it failed" }] }] });
      const vendorId = await stage.accepted();
      expect(await stage.vendor.look(batch, vendorId, signal)).toMatchObject({ kind: "refused", outcome, lines: [] });
    }
  });

  it("that run are told from those that have ended, by the server's clock", async () => {
    let nowMs = 1_800_000_000_000;
    const stage = await openStage({ clock: () => nowMs, batches: [{ afterMs: 1000 }] });
    const vendorId = await stage.accepted();
    expect(await stage.vendor.look(batch, vendorId, signal)).toEqual({ kind: "running" });
    nowMs += 1000;
    expect(await stage.vendor.look(batch, vendorId, signal)).toEqual({ kind: "ended" });
  });

  it("whose submission's answer was lost are found by their name, behind many others", async () => {
    const stage = await openStage({ batches: [{ nth: 1, loseAnswer: true }] });
    expect(await stage.submit()).toMatchObject({ kind: "unknown" });
    const body = stage.vendor.draft(request("another")).text;
    for (let other = 0; other < 101; other++) {
      await stage.vendor.submit({ ...batch, batchId: crypto.randomUUID() }, [{ customId: "a", body }], signal);
    }
    const [lost] = stage.mock.batches();
    const found = { kind: "found", named: [lost?.id], alike: [] };
    expect(await stage.vendor.find(batch, Date.now(), signal)).toEqual({ ...found, isPast: false });
    expect(await stage.vendor.find(batch, Date.now() - 600_000, signal)).toEqual({ ...found, isPast: true });
  });

  it("that are refused, or not there, say so", async () => {
    const refused = await openStage({ batches: [{ refuse: "rate_limited" }] });
    expect(await refused.submit()).toMatchObject({ kind: "refused", outcome: "rate_limited", park: null });
    expect(await refused.vendor.look(batch, "batches/none", signal)).toMatchObject({ kind: "unknown" });
    const wrong = await openStage({ batches: [{ refuse: "auth" }] });
    expect(await wrong.submit()).toMatchObject({ kind: "refused", outcome: "auth", park: { resumeAfterMs: null } });
  });
});
