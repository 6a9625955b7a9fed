import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";

import type { ApiEnv } from "./guard-access.ts";
import { problemResponse } from "./problems.ts";

/** One file of the page. */
export interface PageFile {
  readonly body: Uint8Array<ArrayBuffer>;
  /** Such as `text/html; charset=utf-8`. */
  readonly type: string;
  /** True where its name holds a hash of its content: a browser may keep it for ever. */
  readonly isHashed: boolean;
}

/** The page: its files by path, such as `/index.html`, and the headers that go with each, its content security policy among them. */
export interface PageSite {
  readonly files: ReadonlyMap<string, PageFile>;
  readonly headers: Readonly<Record<string, string>>;
}

/** The page as soon as it is there; null before. It is held in memory: no path of a request reaches a disk. */
export type FindSite = () => PageSite | null;

/** Adds the page at `/`. Its files hold nothing of the ledger, and are shown to everybody who reaches the port. */
export function addFiles(app: OpenAPIHono<ApiEnv>, findSite: FindSite): void {
  const serve = (c: Context<ApiEnv>): Response => {
    const site = findSite();
    const file = site?.files.get(c.req.path === "/" ? "/index.html" : c.req.path);
    if (site === null && c.req.path === "/") {
      return problemResponse("unavailable", { detail: "The page is being built.", retryAfterSeconds: 2 });
    }
    if (site === null || file === undefined) return problemResponse("not-found");
    return c.body(file.body, 200, {
      ...site.headers,
      "content-type": file.type,
      "content-length": String(file.body.byteLength),
      "cache-control": file.isHashed ? "public, max-age=31536000, immutable" : "no-cache",
    });
  };
  app.get("/", serve);
  app.get("/:file{[^/]+\\.[a-z0-9]+}", serve);
  app.get("/assets/:file{[^/]+}", serve);
}

/** Whether a path is one of the page's: these need no token. */
export function isPageFile(findSite: FindSite | undefined, path: string): boolean {
  if (findSite === undefined) return false;
  return path === "/" || (path !== "/index.html" && findSite()?.files.has(path) === true);
}
