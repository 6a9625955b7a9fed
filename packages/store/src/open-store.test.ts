import { expect, it } from "vitest";
import { z } from "zod";

import { storeEnv } from "./open-store.ts";

const parse = (variables: Readonly<Record<string, string>>) => z.object(storeEnv).safeParse(variables);

it("needs no variable: embedded data in the working folder, ten connections", () => {
  expect(parse({}).data).toEqual({ HALLUMAZE_HOME: ".hallumaze", HALLUMAZE_DATABASE_POOL: 10 });
});

it("reads a number from text", () => {
  expect(parse({ HALLUMAZE_DATABASE_POOL: "25" }).data?.HALLUMAZE_DATABASE_POOL).toBe(25);
});

it("lists every wrong variable at once, by name, without the URL's password", () => {
  const { error } = parse({
    DATABASE_URL: "mysql://me:s3cret@host/x",
    HALLUMAZE_HOME: "",
    HALLUMAZE_DATABASE_POOL: "many",
  });
  expect(error?.issues.map((issue) => issue.path[0])).toEqual([
    "DATABASE_URL",
    "HALLUMAZE_HOME",
    "HALLUMAZE_DATABASE_POOL",
  ]);
  expect(JSON.stringify(error?.issues)).not.toContain("s3cret");
});

it.each(["p#w", "p/w", "p?w", "1#w", "1/w", "1?w", "100%"])(
  "names the mend where a password holds %j, and does not show it",
  (password) => {
    const issues = parse({ DATABASE_URL: `postgres://me:${password}@db.example:5432/ledger` }).error?.issues ?? [];
    expect(issues).toHaveLength(1);
    expect(issues[0]?.message).toContain("escape special characters in the password (%23 for #");
    expect(issues[0]?.message).not.toContain("db.example");
    const escaped = `postgres://me:${encodeURIComponent(password)}@db.example:5432/ledger`;
    expect(parse({ DATABASE_URL: escaped }).success).toBe(true);
  },
);

it.each(["0", "101", "2.5", "many", "1e1", "-3", " 4"])("says in plain words that a pool of %j is none", (size) => {
  expect(parse({ HALLUMAZE_DATABASE_POOL: size }).error?.issues.map((issue) => issue.message)).toEqual([
    "must be a whole number from 1 to 100",
  ]);
});

it.each(["a\nb", "\u001b[31m", "\u0085"])("refuses control characters in the home folder: %j", (home) => {
  expect(parse({ HALLUMAZE_HOME: home }).success).toBe(false);
  expect(parse({ HALLUMAZE_HOME: "./Häuser und 迷路" }).success).toBe(true);
});
