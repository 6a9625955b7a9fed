import { expect, it } from "vitest";

import { describeDatabase, isItemsFault, StoreError, toStoreError } from "./errors.ts";

const url = "postgres://me:s3cret@db.example:6543/ledger";

/** As Prisma throws it: the driver's error two deep. */
function thrownByPrisma(originalCode: string, originalMessage: string): Error {
  const cause = { originalCode, originalMessage, kind: "postgres" };
  return Object.assign(new Error("Raw query failed."), {
    code: "P2010",
    meta: { driverAdapterError: { name: "DriverAdapterError", cause } },
  });
}

it.each([
  ["53100", "database-full", true],
  ["25006", "database-read-only", true],
  ["40P01", "database-busy", true],
  ["53300", "database-busy", true],
  ["57014", "database-busy", true],
  ["57P01", "database-unreachable", true],
  ["08006", "database-unreachable", true],
  ["28P01", "database-unreachable", true],
  ["ECONNREFUSED", "database-unreachable", true],
  ["22003", "database-refused", false],
  ["23503", "database-refused", false],
])("translates %s to %s", (sqlState, code, retry) => {
  for (const thrown of [
    thrownByPrisma(sqlState, "what the server said"),
    Object.assign(new Error("driver"), { code: sqlState }),
  ]) {
    expect(toStoreError(thrown, url)).toMatchObject({ code, retry, context: { sqlState } });
  }
});

it.each([
  ["28P01", "refused this user or password"],
  ["28000", "refused this user (28000): what the server said"],
  ["3D000", "has no database ledger"],
  ["3F000", "has no schema"],
])("says in plain words what a server that answers means by %s", (sqlState, words) => {
  const { message } = toStoreError(thrownByPrisma(sqlState, "what the server said"), url);
  expect(message).toContain(words);
  expect(message).toContain("db.example:6543");
  expect(message).not.toMatch(/did not answer|s3cret/);
});

it("takes a password that was not given for a refused one", () => {
  const thrown = new Error("SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string");
  expect(toStoreError(thrown, url).message).toContain("refused this user or password");
});

it("takes a lost connection without a code for one", () => {
  expect(toStoreError(new Error("Connection terminated unexpectedly"), url)).toMatchObject({
    code: "database-unreachable",
  });
  expect(toStoreError(new Error("timeout exceeded when trying to connect"), url)).toMatchObject({
    code: "database-unreachable",
  });
});

it("says where the database is, and neither user nor password", () => {
  const { message } = toStoreError(thrownByPrisma("53100", "could not extend file"), url);
  expect(message).toContain("db.example:6543/ledger");
  expect(message).not.toMatch(/s3cret|me:/);
  expect(describeDatabase("postgresql://db.example/ledger")).toBe("db.example:5432/ledger");
});

it("leaves an error of its own as it is, and knows whose fault a refusal is", () => {
  const own = new StoreError("schema-newer", "newer");
  expect(toStoreError(own, url)).toBe(own);
  expect(isItemsFault(toStoreError(thrownByPrisma("22P02", "bad"), url))).toBe(true);
  expect(isItemsFault(toStoreError(thrownByPrisma("53100", "full"), url))).toBe(false);
});
