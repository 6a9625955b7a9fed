import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";

import { token } from "../test/api-stage.ts";
import { openPageStage, type PageStage } from "../test/page-stage.ts";

let stage: PageStage;

beforeAll(async () => {
  stage = await openPageStage();
}, 60_000);
afterAll(() => stage.close());

interface Event {
  readonly id: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Listens to a service; `next` gives what comes, in order. */
async function listenTo(url: string, headers: Readonly<Record<string, string>> = {}) {
  const stop = new AbortController();
  // A connection that a service before had ended is found so at its next use, and a browser tries again too.
  const response = await vi.waitFor(() => fetch(`${url}/api/events`, { headers, signal: stop.signal }));
  onTestFinished(() => stop.abort());
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const block = async (): Promise<string | null> => {
    while (!text.includes("\n\n")) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: "" };
      if (done) return null;
      text += value;
    }
    const [first = "", ...rest] = text.split("\n\n");
    text = rest.join("\n\n");
    return first;
  };
  const next = async (): Promise<Event | null> => {
    for (;;) {
      const lines = (await block())?.split("\n");
      if (lines === undefined) return null;
      const field = (name: string): string =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
      if (field("event") !== "") return { id: field("id"), event: field("event"), data: JSON.parse(field("data")) };
    }
  };
  return { response, next, block, stop: () => stop.abort() };
}

const quick = { lookMs: 20, beatMs: 60_000 };

describe("events", () => {
  it("begin with a hello, and tell each change of a sweep and of a lane", async () => {
    const server = await stage.serve(quick);
    onTestFinished(() => server.close(1000));
    const { next, response } = await listenTo(server.url);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(await next()).toMatchObject({ event: "hello", data: { version: "1.2.3", refresh: false } });
    const sweep = await stage.submit("listened");
    expect(await next()).toMatchObject({ event: "sweep", data: { name: "listened", gone: false } });
    await stage.house.store.pauseSweep(sweep.sweepId, []);
    await expect.poll(async () => (await next())?.data["name"]).toBe("listened");
    await stage.house.store.parkLane("sim.dfs-honest", "operator: wait", null);
    await expect.poll(async () => (await next())?.data).toMatchObject({ lane: "sim.dfs-honest" });
  });

  it("tell one that comes back what it missed, also while nobody listened", async () => {
    const server = await stage.serve(quick);
    onTestFinished(() => server.close(1000));
    const first = await listenTo(server.url);
    const hello = await first.next();
    first.stop();
    await stage.submit("missed");
    const again = await listenTo(server.url, { "last-event-id": hello?.id ?? "" });
    expect(await again.next()).toMatchObject({ event: "hello", data: { refresh: false } });
    expect(await again.next()).toMatchObject({ event: "sweep", data: { name: "missed" } });
  });

  it("tell one that comes back after a restart to read everything again", async () => {
    const before = await stage.serve(quick);
    const first = await listenTo(before.url);
    const hello = await first.next();
    await before.close(2000);
    expect(await first.next()).toBeNull();
    const after = await stage.serve(quick, Number(new URL(before.url).port));
    onTestFinished(() => after.close(1000));
    const again = await listenTo(after.url, { "last-event-id": hello?.id ?? "" });
    expect(await again.next()).toMatchObject({ event: "hello", data: { refresh: true } });
  });

  it("show a sign of life on a silent connection, and end at once with the service", async () => {
    const server = await stage.serve({ ...quick, beatMs: 30 });
    const { block } = await listenTo(server.url);
    await block();
    await expect.poll(block).toContain(": still here");
    const startedMs = performance.now();
    await server.close(10_000);
    expect(performance.now() - startedMs).toBeLessThan(3000);
  });

  it("need the token where all else does, and take it as a header", async () => {
    const server = await stage.serve(quick);
    onTestFinished(() => server.close(1000));
    const foreign = { origin: "https://evil.example" };
    expect((await listenTo(server.url, foreign)).response.status).toBe(401);
    const { response } = await listenTo(server.url, { ...foreign, authorization: `Bearer ${token}` });
    expect(response.status).toBe(200);
  });
});
