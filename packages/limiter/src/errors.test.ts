import { describe, expect, it } from "vitest";

import { toLimiterError, withinDeadline } from "./errors.ts";

const url = "postgres://user:p%40ss@db.example:5432/sweeps";

describe("toLimiterError", () => {
  it.each([
    ["connect ECONNREFUSED 127.0.0.1:6379", "limiter-unreachable", true],
    ["WRONGPASS invalid username-password pair", "limiter-refused", false],
    ["OOM command not allowed when used memory > 'maxmemory'", "limiter-refused", true],
    ['database "sweeps" does not exist', "limiter-refused", false],
    ["function limiter.reserve(text) does not exist", "limiter-failed", true],
  ])("%s", (message, code, retry) => {
    expect(toLimiterError(new Error(message), url)).toMatchObject({ code, retry });
  });

  it("shows no password, plain or encoded", () => {
    const { message } = toLimiterError(new Error(`cannot use ${url}, nor p@ss`), url);
    expect(message).not.toMatch(/p@ss|p%40ss/);
    expect(message).toContain("postgres://db.example:5432/sweeps");
  });

  it("a connection refused at several addresses names them all", () => {
    const cause = new AggregateError([new Error("ECONNREFUSED ::1"), new Error("ECONNREFUSED 127.0.0.1")]);
    expect(toLimiterError(cause, url).message).toContain("ECONNREFUSED ::1; ECONNREFUSED 127.0.0.1");
  });
});

it("a call that gets no answer ends as unreachable", async () => {
  await expect(withinDeadline(new Promise(() => undefined), 5, url)).rejects.toMatchObject({
    code: "limiter-unreachable",
    retry: true,
  });
});
