import { HalluMazeError } from "@hallumaze/foundation";
import { describe, expect, it } from "vitest";

import { type Consumption, houseChecks, whyNotConsuming } from "./readiness.ts";

const still = (forMs: number) => ({ standsStillForMs: () => forMs });
const well: Consumption = {
  isDraining: false,
  isRepaired: true,
  lookAgeMs: 1000,
  consumers: new Map([["sim.dfs", still(14_999)]]),
};

describe("a worker is ready", () => {
  it("where it looks for lanes and starts what waits", () => {
    expect(whyNotConsuming(well)).toBeNull();
  });

  it.each([
    ["while it drains", { isDraining: true }, /drains/],
    ["before the first repair is over", { isRepaired: false }, /first repair/],
    ["before its first look for lanes", { lookAgeMs: null }, /not looked/],
    ["after its last look for lanes is long past", { lookAgeMs: 45_000 }, /45 s ago/],
    [
      "where work waits beside free slots and nothing starts",
      {
        consumers: new Map([
          ["sim.dfs", still(0)],
          ["openai.gpt-4o", still(20_000)],
        ]),
      },
      /nothing starts: openai\.gpt-4o \(20 s\)/,
    ],
  ])("not %s", (_, change, reason) => {
    expect(whyNotConsuming({ ...well, ...change })).toMatch(reason);
  });
});

describe("a house is ready", () => {
  it("where database and queue answer; a failure is told by its code, without a host", async () => {
    const checks = houseChecks({
      store: { ping: async () => undefined },
      queue: {
        ping: async () => {
          throw new HalluMazeError("queue-unreachable", "redis at secret-host:6379 does not answer");
        },
      },
    } as never);
    expect(await checks["database"]?.()).toBeNull();
    expect(await checks["queue"]?.()).toBe("no answer (queue-unreachable)");
  });
});
