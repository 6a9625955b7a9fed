import type { OpenAPIHono } from "@hono/zod-openapi";

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

/** The page's files by path, such as `/index.html`; read once, so that no path of a request reaches a disk. */
export type PageFiles = ReadonlyMap<string, PageFile>;

/** Nothing inline, nothing from elsewhere, nothing around it. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Adds the page at `/`. Its files hold nothing of the ledger, and are shown to everybody who reaches the port. */
export function addFiles(app: OpenAPIHono<ApiEnv>, files: PageFiles): void {
  app.on("GET", ["/", ...[...files.keys()].filter((path) => path !== "/index.html")], (c) => {
    const file = files.get(c.req.path === "/" ? "/index.html" : c.req.path);
    if (file === undefined) return problemResponse("not-found");
    const headers = {
      "content-type": file.type,
      "content-length": String(file.body.byteLength),
      "content-security-policy": contentSecurityPolicy,
      "cache-control": file.isHashed ? "public, max-age=31536000, immutable" : "no-cache",
    };
    return c.body(file.body, 200, headers);
  });
}

/** Whether a path is one of the page's: these need no token. */
export function isPageFile(files: PageFiles | undefined, path: string): boolean {
  return files !== undefined && (path === "/" || (path !== "/index.html" && files.has(path)));
}
