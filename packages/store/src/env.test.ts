import { expect, it } from "vitest";
import { z } from "zod";

import { storeEnv } from "./env.ts";

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
