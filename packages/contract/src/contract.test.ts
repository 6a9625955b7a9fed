import { describe, expect, it } from "vitest";
import { z } from "zod";

import * as contract from "./index.ts";

const named: readonly (readonly [string, unknown])[] = Object.entries(contract);
const schemas = named.flatMap(([name, value]) => (value instanceof z.ZodType ? [[name, value] as const] : []));

describe("the contract", () => {
  it("names each schema of the OpenAPI document once", () => {
    const ids = schemas.flatMap(([, schema]) => {
      const id = schema.meta()?.["id"];
      return typeof id === "string" ? [id] : [];
    });
    expect(ids.length).toBeGreaterThan(30);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  });

  it("can be written as JSON Schema, every answer and every request", () => {
    for (const [name, schema] of schemas) {
      expect(() => z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }), name).not.toThrow();
    }
  });

  it.each(schemas.filter(([name]) => /(?:Input|Query|Param)$/.test(name)))(
    "refuses in %s a key that it does not know",
    (_, schema) => {
      const issues = schema.safeParse({ unheardOf: 1 }).error?.issues ?? [];
      expect(issues.map(({ code }) => code)).toContain("unrecognized_keys");
    },
  );

  it("takes a person's name, and no formula, markup or line break for one", () => {
    for (const name of ["Ann", "김민지", "rater-2", "A. N. Other"]) {
      expect(contract.raterName.safeParse(name).success).toBe(true);
    }
    for (const name of ["", "=1+1", "<b>", "@x", "a\nb", "a\u202Eb", "x".repeat(61)]) {
      expect(contract.raterName.safeParse(name).success).toBe(false);
    }
  });

  it("takes ids of models' and people's trials, and nothing that leads elsewhere", () => {
    const id = "01234567-89ab-4cde-8f01-23456789abcd";
    for (const known of [id, `human-${id}-1`]) expect(contract.trialIdText.safeParse(known).success).toBe(true);
    for (const other of ["", "../x", "a b", "a'b", `${id}\u0000`]) {
      expect(contract.trialIdText.safeParse(other).success).toBe(false);
    }
  });

  it("names figures and tables by plain file names", () => {
    const param = { name: "s", experiment: "models" };
    for (const file of ["models.svg", "model-pairs.pdf", "a.json"]) {
      expect(contract.figureParam.safeParse({ ...param, file }).success).toBe(true);
    }
    for (const file of ["models", "../models.svg", "models.svg/..", "Models.svg", "models.exe"]) {
      expect(contract.figureParam.safeParse({ ...param, file }).success).toBe(false);
    }
  });
});
