import { expect, it } from "vitest";

import { sql, textOf } from "./sql.ts";

it("keeps every value apart from the text, also in a part of a statement", () => {
  const part = sql`AND b = ${"'; DROP TABLE trials; --"}`;
  const statement = sql`SELECT 1 FROM t WHERE a = ${1} ${part} LIMIT ${2}`;
  expect(textOf(statement)).toBe("SELECT 1 FROM t WHERE a = $1 AND b = $2 LIMIT $3");
  expect(statement.values).toEqual([1, "'; DROP TABLE trials; --", 2]);
});

it("takes parts side by side, empty ones, and one at either end", () => {
  const statement = sql`${sql`SELECT ${1}`}${sql``}, ${sql`${2}`} ${null}`;
  expect(textOf(statement)).toBe("SELECT $1, $2 $3");
  expect(statement.values).toEqual([1, 2, null]);
});
