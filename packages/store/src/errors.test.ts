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
