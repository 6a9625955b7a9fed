import { describe, expect, it } from "vitest";

import { createErrorReport } from "./error-report.ts";
import { describe as inWords, QueueError, toQueueError, withinDeadline } from "./errors.ts";

const url = "rediss://admin:p%40ss%2Fword@queue.example:6380/2?family=6";

describe("redaction", () => {
  it("an error's message and cause hold no password", () => {
    const error = toQueueError(new Error(`connect to ${url} as p@ss/word`), url);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(/p@ss|p%40ss/);
  });
});

describe("toQueueError", () => {
  it.each([
    ["WRONGPASS invalid username-password pair", "queue-refused", false],
    ["OOM command not allowed when used memory > 'maxmemory'.", "queue-refused", true],
    ["connect ECONNREFUSED 127.0.0.1:6379", "queue-unreachable", true],
    ["getaddrinfo ENOTFOUND queue.example", "queue-unreachable", true],
    ["Reached the max retries per request limit (which is 8).", "queue-unreachable", true],
    ["Connection is closed.", "queue-unreachable", true],
    ["Connection terminated unexpectedly", "queue-unreachable", true],
    ["Query read timeout", "queue-unreachable", true],
    ["the database system is starting up", "queue-unreachable", true],
    ['password authentication failed for user "a"', "queue-refused", false],
    ['database "a" does not exist', "queue-refused", false],
    ["could not renew lock for job a~0", "queue-lock", true],
    ["Missing lock for job a~0. moveToFinished", "queue-lock", true],
    ["ERR unknown command 'BZPOPMIN'", "queue-failed", true],
  ])("%s", (message, code, retry) => expect(toQueueError(new Error(message), url)).toMatchObject({ code, retry }));

  it("names each address that refused", () => {
    const both = new AggregateError([
      new Error("connect ECONNREFUSED ::1:1"),
      new Error("connect ECONNREFUSED 127.0.0.1:1"),
    ]);
    expect(toQueueError(both, url).message).toContain("connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1");
  });
});

describe("describe", () => {
  const evil = Object.create(Error.prototype, {
    message: {
      get: () => {
        throw new Error("even its message throws");
      },
    },
  });
  it.each([
    ["NUL and half a pair", new Error("a\u0000b\ud83dc"), "a b\u{fffd}c"],
    ["no message", new Error(""), "Error"],
    ["a string", "text", "text"],
    ["nothing", undefined, "an unknown error"],
    ["an error that throws when read", evil, "an unknown error"],
  ])("%s becomes one printable line", (_, thrown, line) => expect(inWords(thrown)).toBe(line));

  it("is at most 500 characters", () => expect(inWords("x".repeat(9_000))).toHaveLength(500));
});

describe("withinDeadline", () => {
  it("rejects as unreachable when nothing settles", async () => {
    const never = new Promise<void>(() => undefined);
    await expect(withinDeadline(never, 5, url)).rejects.toMatchObject({ code: "queue-unreachable", retry: true });
  });

  it("gives what came in time", async () => expect(await withinDeadline(Promise.resolve(7), 1_000, url)).toBe(7));
});

describe("error report", () => {
  const stuck = () => new QueueError("queue-stuck", "solve.a stands still");

  it("tells of a kind at once, then once an interval with the number left out", () => {
    let nowMs = 0;
    const told: unknown[] = [];
    const report = createErrorReport(
      (error) => told.push(error.context["repeats"] ?? 0),
      1_000,
      () => nowMs,
    );
    for (nowMs = 0; nowMs <= 1_000; nowMs += 10) report(stuck());
    expect(told).toEqual([0, 99]);
  });

  it("tells of another kind at once", () => {
    const told: string[] = [];
    const report = createErrorReport(
      (error) => told.push(error.code),
      1_000,
      () => 0,
    );
    report(stuck());
    report(new QueueError("queue-paused", "solve.a is paused"));
    expect(told).toEqual(["queue-stuck", "queue-paused"]);
  });

  it("survives a listener that throws", () => {
    const report = createErrorReport(() => {
      throw new Error("the logger is closed");
    }, 1_000);
    expect(() => report(stuck())).not.toThrow();
  });
});
