import { createHash, timingSafeEqual } from "node:crypto";

import type { HttpBindings } from "@hono/node-server";
import type { Context, MiddlewareHandler } from "hono";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

import { problemResponse } from "./problems.ts";

/** What the server hands to each request; absent where a request comes in by a call instead of a socket. */
export interface ApiEnv {
  readonly Bindings: Partial<HttpBindings>;
}

/** Where the board of the queues stands. */
export const boardPath = "/board";

const health = new Set(["/healthz", "/readyz"]);

/**
 * Lets reads from this machine pass, and asks for the token at every write, for the board, and for everything that comes
 * from elsewhere. Before the board a browser may show it as the password of HTTP Basic, under any name.
 *
 * A page of a foreign site that had its name led to 127.0.0.1, or a proxy on this machine, is elsewhere: the Host header and
 * the proxies' headers tell. So is a request that a page of another origin makes: Origin and Sec-Fetch-Site tell. `isOpen`
 * names the paths that everybody may read.
 */
export function guardAccess(token: string, isOpen: (path: string) => boolean = () => false): MiddlewareHandler<ApiEnv> {
  const expected = hash(token);
  return async (c, next) => {
    const isRead = c.req.method === "GET" || c.req.method === "HEAD";
    const isBoard = c.req.path === boardPath || c.req.path.startsWith(`${boardPath}/`);
    if (isRead && (isOpen(c.req.path) || (!isBoard && isFromThisMachine(c)))) return next();
    const shown = c.req.header("authorization") ?? "";
    const given = /^Bearer +(\S+) *$/i.exec(shown)?.[1] ?? (isBoard ? passwordOf(shown) : undefined);
    if (given !== undefined && timingSafeEqual(hash(given), expected)) return next();
    const refusal = problemResponse("unauthorized", { detail: "Send the token as Authorization: Bearer …" });
    if (isBoard) refusal.headers.append("www-authenticate", 'Basic realm="hallumaze", charset="UTF-8"');
    return refusal;
  };
}

/** Counts requests by client address, and refuses more than so many a minute; health checks are not counted. */
export function limitRate(requestsPerMinute: number): MiddlewareHandler<ApiEnv> {
  const limiter = new RateLimiterMemory({ points: requestsPerMinute, duration: 60 });
  return async (c, next) => {
    if (health.has(c.req.path)) return next();
    try {
      await limiter.consume(addressOf(c) ?? "unknown");
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      return problemResponse("rate-limited", {
        retryAfterSeconds: Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)),
      });
    }
    return next();
  };
}

function addressOf(c: Context<ApiEnv>): string | undefined {
  // Hono hands over no bindings at all where it is called without a server.
  const bindings = c.env as ApiEnv["Bindings"] | undefined;
  return bindings?.incoming?.socket.remoteAddress;
}

function isFromThisMachine(c: Context<ApiEnv>): boolean {
  const address = addressOf(c);
  if (address === undefined || !/^(?:127\.|::1$|::ffff:127\.)/.test(address)) return false;
  if (c.req.header("forwarded") !== undefined || c.req.header("x-forwarded-for") !== undefined) return false;
  const host = c.req.header("host") ?? "";
  if (!/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(host)) return false;
  return !isFromForeignPage(c, host);
}

/** A link from elsewhere to a page is no harm; what a foreign page fetches by itself is. */
function isFromForeignPage(c: Context<ApiEnv>, host: string): boolean {
  const origin = c.req.header("origin");
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`) return true;
  const site = c.req.header("sec-fetch-site") ?? "none";
  return site !== "none" && site !== "same-origin" && c.req.header("sec-fetch-mode") !== "navigate";
}

function passwordOf(authorization: string): string | undefined {
  const pair = /^Basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization)?.[1];
  return pair === undefined ? undefined : /^[^:]*:(.*)$/s.exec(Buffer.from(pair, "base64").toString("utf8"))?.[1];
}

function hash(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
