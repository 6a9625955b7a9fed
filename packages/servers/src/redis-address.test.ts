import { describe, expect, it } from "vitest";

import { parseRedisUrl, redactText, redactUrl, strictTls } from "./index.ts";

const single = {
  kind: "single",
  hosts: [{ host: "localhost", port: 6379 }],
  tls: false,
  username: null,
  password: null,
  database: 0,
  masterName: null,
  sentinelUsername: null,
  sentinelPassword: null,
  family: null,
};

const addressOf = (url: string) => {
  const parsed = parseRedisUrl(url);
  return parsed.kind === "found" ? parsed.address : parsed.reason;
};

describe("a Redis URL", () => {
  it.each([
    ["redis://localhost", {}],
    ["redis://localhost:6380/3", { hosts: [{ host: "localhost", port: 6380 }], database: 3 }],
    ["rediss://[::1]:6380", { hosts: [{ host: "::1", port: 6380 }], tls: true }],
    ["redis://:secret@localhost", { password: "secret" }],
    ["redis://sweeps:p%40ss%2Fw%3Ard%25%3F%23@localhost/", { username: "sweeps", password: "p@ss/w:rd%?#" }],
    ["redis://localhost?family=6", { family: 6 }],
  ])("%s is one server", (url, expected) => expect(addressOf(url)).toEqual({ ...single, ...expected }));

  it("several sentinels know a master by name, in a database, with a login of their own", () =>
    expect(addressOf("rediss+sentinel://u:p@a,b:26380/my%20master/2?sentinelUser=s&sentinelPassword=t%2B")).toEqual({
      ...single,
      kind: "sentinel",
      hosts: [
        { host: "a", port: 26_379 },
        { host: "b", port: 26_380 },
      ],
      tls: true,
      username: "u",
      password: "p",
      database: 2,
      masterName: "my master",
      sentinelUsername: "s",
      sentinelPassword: "t+",
    }));

  it("a cluster is found by any of its nodes", () =>
    expect(addressOf("redis+cluster://a:7000,b:7001")).toEqual({
      ...single,
      kind: "cluster",
      hosts: [
        { host: "a", port: 7000 },
        { host: "b", port: 7001 },
      ],
    }));

  it.each([
    ["http://localhost", "must be a redis:// or rediss:// URL"],
    ["redis://", "must be a redis:// or rediss:// URL"],
    ["redis://:p@ss@localhost", "must be a redis:// or rediss:// URL"],
    ["redis://:100%@localhost", "write %25"],
    ["redis://localhost:99999", "needs a host, or host:port"],
    ["redis://localhost/zero", "database number"],
    ["redis://a,b", "names several hosts"],
    ["redis+cluster://a/1", "a cluster has none but 0"],
    ["redis+sentinel://a:26379", "must name the master"],
    ["redis://localhost?db=1", "has an option that is none of"],
  ])("%s is refused with its reason", (url, reason) => expect(addressOf(url)).toContain(reason));
});

describe("what may be shown", () => {
  it.each([
    ["rediss+sentinel://u:secret@a,b:1/master/0?sentinelPassword=hidden", "rediss+sentinel://a,b:1/master/0"],
    ["postgres://u:secret@db.example:5432/sweeps?sslmode=require", "postgres://db.example:5432/sweeps"],
    ["redis://:secr et@x", "(an invalid URL)"],
  ])("%s holds no login", (url, shown) => expect(redactUrl(url)).toBe(shown));

  it("neither password of an address stands in a text about it", () => {
    const url = "redis+sentinel://u:p%40ss@a/m?sentinelPassword=t%2Bt";
    expect(redactText(`AUTH p@ss, AUTH t+t, ${url}`, url)).toBe("AUTH ***, AUTH ***, ***");
  });
});

it("every sslmode that encrypts checks the server's name too, and no-verify alone does not", () => {
  const url = (mode: string) => `postgres://u@h/d?sslmode=${mode}&sslrootcert=%2Fca.pem`;
  for (const mode of ["prefer", "require", "verify-ca"]) expect(strictTls(url(mode))).toBe(url("verify-full"));
  for (const mode of ["verify-full", "no-verify", "disable"]) expect(strictTls(url(mode))).toBe(url(mode));
});
