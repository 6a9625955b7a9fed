import { OpenAPIHono } from "@hono/zod-openapi";
import { describe, expect, it } from "vitest";

import { type ApiEnv, guardAccess } from "./guard-access.ts";
import { addFiles, isPageFile, type PageFile, type PageSite } from "./serve-files.ts";

const bytes = (text: string) => Uint8Array.from(Buffer.from(text));
const files = new Map<string, PageFile>([
  ["/index.html", { body: bytes("<!doctype html>"), type: "text/html; charset=utf-8", isHashed: false }],
  ["/assets/main-1a2b.js", { body: bytes("1"), type: "text/javascript; charset=utf-8", isHashed: true }],
]);
const app = new OpenAPIHono<ApiEnv>();
const headers = { "content-security-policy": "default-src 'none'; script-src 'self'" };
let site: PageSite | null = { files, headers };
app.use(guardAccess("token", (path) => isPageFile(() => site, path)));
addFiles(app, () => site);
/** Calls from another machine, without a token. */
const call = (method: string, path: string) =>
  app.request(path, { method }, { incoming: { socket: { remoteAddress: "192.0.2.7" } } as never });

describe("the page", () => {
  it("is shown to everybody, so that a token can be given to it; nothing inline runs in it", async () => {
    const response = await call("GET", "/");
    expect(response.status).toBe(200);
    expect(await response.text()).toBe("<!doctype html>");
    expect(response.headers.get("content-security-policy")).toBe(headers["content-security-policy"]);
    expect(response.headers.get("cache-control")).toBe("no-cache");
  });

  it("has its parts kept for ever where their names hold a hash", async () => {
    const response = await call("GET", "/assets/main-1a2b.js");
    expect(response.headers.get("content-type")).toContain("text/javascript");
    expect(response.headers.get("cache-control")).toContain("immutable");
  });

  it("opens no other path: what is no file of it needs the token as ever", async () => {
    for (const path of [
      "/index.html",
      "/assets/",
      "/assets/..%2f..%2fetc%2fpasswd",
      "/api/sweeps",
      "/assets/none.js",
    ]) {
      expect((await call("GET", path)).status).toBe(401);
    }
    expect((await call("POST", "/")).status).toBe(401);
  });

  it("is said to be on its way while it is being built", async () => {
    site = null;
    const response = await call("GET", "/");
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("2");
  });
});
