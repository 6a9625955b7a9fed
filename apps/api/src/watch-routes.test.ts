import { problem, readyView } from "@hallumaze/contract";
import { describe, expect, it } from "vitest";

import { expectBody } from "../test/api-contract.ts";
import { createWatchApi } from "./create-watch-api.ts";
import type { WatchPorts } from "./watch-routes.ts";

const metrics = { contentType: "text/plain; version=0.0.4; charset=utf-8", expose: async () => "up 1\n" };

function open(ports: Partial<WatchPorts> = {}, token: string | null = null) {
  const errors: unknown[] = [];
  const given = { checks: {}, metrics, onError: (error: unknown) => errors.push(error), ...ports };
  const api = createWatchApi(given, { token, checkMs: 50 });
  const get = (path: string, from = "127.0.0.1", authorization?: string) => {
    const headers = { host: "localhost", ...(authorization === undefined ? {} : { authorization }) };
    const incoming = { socket: { remoteAddress: from } } as never;
    return api.fetch(new Request(`http://localhost${path}`, { headers }), { incoming });
  };
  return { get, errors };
}

describe("a worker tells of itself", () => {
  it("whether it can work, each part by name", async () => {
    const { get } = open({ checks: { database: async () => null, solve: () => null } });
    expect(await expectBody(await get("/readyz"), 200, readyView)).toEqual({
      status: "ready",
      checks: { database: "ok", solve: "ok" },
      reasons: {},
    });
    expect((await get("/healthz")).status).toBe(200);
  });

  it("why not, and is not ready for one part that cannot", async () => {
    const { get, errors } = open({
      checks: {
        database: async () => null,
        solve: () => "it drains and takes no more work",
        queue: () => new Promise(() => undefined),
        judge: () => {
          throw new Error("password=hunter2");
        },
      },
    });
    const body = await expectBody(await get("/readyz"), 503, readyView);
    expect(body).toMatchObject({
      status: "not-ready",
      checks: { database: "ok", solve: "failed", queue: "failed", judge: "failed" },
      reasons: { solve: "it drains and takes no more work", queue: expect.stringContaining("no answer within 50 ms") },
    });
    expect(JSON.stringify(body)).not.toContain("hunter2");
    expect(errors).toHaveLength(2);
  });

  it("its metrics in Prometheus' format, and nothing else", async () => {
    const { get } = open();
    const response = await get("/metrics");
    expect(response.headers.get("content-type")).toBe(metrics.contentType);
    expect(await response.text()).toBe("up 1\n");
    expect((await get("/api/benchmark/fitness")).status).toBe(404);
  });

  it.each([
    ["from elsewhere with the token", "a-token-of-the-tests", "Bearer a-token-of-the-tests", 200],
    ["from elsewhere with another token", "a-token-of-the-tests", "Bearer another", 401],
    ["from elsewhere without one", "a-token-of-the-tests", undefined, 401],
    ["from elsewhere where there is no token at all", null, "Bearer null", 401],
  ])("%s", async (_, token, authorization, status) => {
    const { get } = open({}, token);
    for (const path of ["/metrics", "/readyz", "/healthz"]) {
      expect((await get(path, "192.0.2.7", authorization)).status).toBe(status);
    }
  });

  it("a problem where the figures do not come, without their error's words", async () => {
    const { get, errors } = open({
      metrics: { ...metrics, expose: () => Promise.reject(new Error("at secret-host")) },
    });
    expect(JSON.stringify(await expectBody(await get("/metrics"), 500, problem))).not.toContain("secret-host");
    expect(errors).toHaveLength(1);
  });
});
