import { expect, it } from "vitest";

import { limitsUnder } from "./steer-lanes.ts";

it("an operator's limits stand over a spec's by name; null takes one away, what is not named stays", () => {
  expect(limitsUnder({ rpm: 500, tpm: 30_000 }, { rpm: 50, concurrency: 4 })).toEqual({
    rpm: 50,
    tpm: 30_000,
    concurrency: 4,
  });
  expect(limitsUnder({ rpm: 500, tpm: 30_000 }, { tpm: null })).toEqual({ rpm: 500 });
  expect(limitsUnder({}, {})).toEqual({});
});
