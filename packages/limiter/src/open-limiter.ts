import type { LaneLimits, LimiterPort, ReservationAnswer, ReservationRequest } from "@hallumaze/engine";

import { type RedisTarget, strictTls } from "@hallumaze/servers";

import { LimiterError } from "./errors.ts";
import type { LaneServer, LimitRow, ReserveReply } from "./lane-server.ts";
import { limitDimensions, readUse } from "./lane-use.ts";
import { openPostgresServer } from "./postgres-server.ts";
import { openRedisServer } from "./redis-server.ts";
import { defaultLimiterSettings, type LimiterSettings } from "./settings.ts";

/** Which server holds the limits that processes share. */
export type LimiterTarget = RedisTarget | { readonly databaseUrl: string };

/** How a limiter is opened. */
export interface LimiterOptions {
  /** Told of errors of the connection that no caller awaits. */
  readonly onError?: (error: unknown) => void;
  /** Times to use instead of the defaults. */
  readonly settings?: Partial<LimiterSettings>;
}

/**
 * Opens the shared limits on Redis, or in schema `limiter` of a Postgres database (made there under an advisory lock).
 *
 * Rejects with `limiter-config`, `limiter-unreachable` or `limiter-refused`; no message holds a password.
 */
export async function openLimiter(target: LimiterTarget, options: LimiterOptions = {}): Promise<LimiterPort> {
  const settings = { ...defaultLimiterSettings, ...options.settings };
  for (const [name, value] of Object.entries(settings)) {
    if (!(value > 0)) throw new LimiterError("limiter-config", `${name} must be above 0; got ${value}.`);
  }
  const onError = options.onError ?? (() => undefined);
  const server =
    "redisUrl" in target
      ? await openRedisServer(target, settings, onError)
      : await openPostgresServer(checkDatabaseUrl(target.databaseUrl), settings, onError);
  return createPort(server, settings);
}

function createPort(server: LaneServer, settings: LimiterSettings): LimiterPort {
  const configured = new Map<string, LimitRow>();
  let closing: Promise<void> | null = null;
  const open = (): LaneServer => {
    if (closing !== null) throw new LimiterError("limiter-closed", "The limiter was closed.");
    return server;
  };

  return {
    configure: async (lane, limits) => {
      const row = limitRow(limits);
      await open().configure(lane, row);
      configured.set(lane, row);
    },
    reserve: async (lane, request) => {
      checkRequest(request);
      const { id, inputTokens, outputTokens, tenant, weight } = request;
      const row = configured.get(lane) ?? noLimits;
      return answerOf(await open().reserve({ lane, id, inputTokens, outputTokens, tenant, weight, configured: row }));
    },
    settle: async (lane, id, used) => {
      checkCount("used.inputTokens", used.inputTokens ?? 0);
      checkCount("used.outputTokens", used.outputTokens ?? 0);
      await open().settle(lane, id, used.inputTokens, used.outputTokens);
    },
    cancel: async (lane, id) => open().cancel(lane, id),
    renew: async (lane, ids) => {
      if (ids.length > 0) await open().renew(lane, ids);
    },
    cool: async (lane, forMs, shrink) => {
      checkCount("forMs", forMs);
      await open().cool(lane, forMs, shrink);
    },
    learn: async (lane, readings) => {
      const order = [readings.requests, readings.inputTokens, readings.outputTokens, readings.tokens];
      const rows = order.map((reading) =>
        [reading?.limit, reading?.remaining, reading?.resetMs].map((value) =>
          // What a vendor sends is not ours to refuse; what is no number tells nothing.
          value !== undefined && value !== null && Number.isFinite(value) ? value : null,
        ),
      );
      if (rows.flat().some((value) => value !== null)) await open().learn(lane, rows);
    },
    park: async (lane, reason, resumeAfterMs) => {
      checkCount("resumeAfterMs", resumeAfterMs ?? 0);
      return open().park(lane, reason, resumeAfterMs);
    },
    resume: async (lane) => open().resume(lane),
    use: async (lanes) => {
      const told = await Promise.all(lanes.map((lane) => open().use(lane)));
      return lanes.map((lane, index) => readUse(lane, told[index], settings.minuteMs));
    },
    close: () => {
      closing ??= server.close();
      return closing;
    },
  };
}

/** A server's reply as the port tells it. */
function answerOf(reply: ReserveReply): ReservationAnswer {
  if (reply.kind === "granted") return { kind: "granted" };
  const binding = limitDimensions[(reply.dimension ?? 0) - 1];
  if (binding === undefined) throw new LimiterError("limiter-failed", `The limiter gave no reason: ${reply.kind}.`);
  if (reply.kind === "wait") return { kind: "wait", afterMs: Math.max(1, Math.ceil(reply.afterMs)), binding };
  return {
    kind: "never",
    binding,
    message:
      `One request takes ${reply.amount} tokens of ${binding}, and the lane allows ${reply.limit} a minute. ` +
      "Raise the limit, lower maxTokens, or leave this size out.",
  };
}

const noLimits: LimitRow = [null, null, null, null, null];

function limitRow(limits: LaneLimits): LimitRow {
  return limitDimensions.slice(0, 5).map((name) => {
    const value = limits[name as keyof LaneLimits];
    if (value === undefined) return null;
    if (!(Number.isFinite(value) && value > 0) || (name === "concurrency" && !Number.isSafeInteger(value))) {
      throw new LimiterError("limiter-input", `The limit ${name} must be a number above 0; got ${value}.`);
    }
    return value;
  });
}

function checkRequest(request: ReservationRequest): void {
  if (request.id === "") throw new LimiterError("limiter-input", "A reservation needs an id.");
  checkCount("inputTokens", request.inputTokens);
  checkCount("outputTokens", request.outputTokens);
  if (!(Number.isFinite(request.weight) && request.weight > 0)) {
    throw new LimiterError("limiter-input", `A tenant's weight must be above 0; got ${request.weight}.`);
  }
}

function checkCount(name: string, value: number): void {
  if (Number.isFinite(value) && value >= 0) return;
  throw new LimiterError("limiter-input", `${name} must be a number from 0; got ${value}.`);
}

function checkDatabaseUrl(url: string): string {
  if (URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)) return strictTls(url);
  throw new LimiterError(
    "limiter-config",
    "The limiter needs a postgres:// URL; the value given is not one. Check DATABASE_URL.",
  );
}
