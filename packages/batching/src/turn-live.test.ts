import type { OpenTrial } from "@hallumaze/engine";
import { describe, expect, it } from "vitest";

import type { OpenCount } from "./ports.ts";
import { type AutoModel, turnLive } from "./turn-live.ts";

const hour = 3_600_000;
const model = (alias: string, deadlineHours: number): AutoModel => ({
  sweepId: "s",
  alias,
  lane: "batch.l",
  liveLane: "l",
  deadlineMs: deadlineHours * hour,
});
const open = (alias: string, lane = "batch.l"): OpenCount => ({ sweepId: "s", alias, lane, trials: 1 });
const trialOf = (alias: string): OpenTrial => ({ trialId: alias, lane: "l", generation: 1, delayMs: 0 });

/** Turns at an hour, where a lane takes an hour; gives who was asked to move, who was enqueued, and the next moment. */
async function turnAt(hours: number, models: readonly AutoModel[], counts: readonly OpenCount[]) {
  const moves: string[] = [];
  const enqueued: string[] = [];
  const next = await turnLive(
    {
      store: {
        countOpen: async () => counts,
        moveLive: async (_sweep, _lane, _to, { aliases, isLate }) => {
          moves.push(`${aliases.join()} ${isLate ? "all" : "failed"}`);
          return isLate ? aliases.map(trialOf) : [];
        },
      },
      queue: { enqueue: async (_lane, trials) => void enqueued.push(...trials.map(({ trialId }) => trialId)) },
      now: () => hours * hour,
      liveHours: async () => 1,
      observe: () => undefined,
    },
    models,
  );
  return { moves, enqueued, nextHours: next === null ? null : next / hour };
}

describe("turning to live calls", () => {
  it("moves a model's trials when its own deadline calls, and only what has failed of the others'", async () => {
    const models = [model("early", 4), model("late", 8)];
    const counts = [open("early"), open("late")];
    // An hour of live calls, a quarter more, twenty minutes for what goes before.
    expect(await turnAt(2.4, models, counts)).toEqual({
      moves: ["early failed", "late failed"],
      enqueued: [],
      nextHours: 4 - 1.25 - 1 / 3,
    });
    expect(await turnAt(2.5, models, counts)).toEqual({
      moves: ["early all", "late failed"],
      enqueued: ["early"],
      nextHours: 8 - 1.25 - 1 / 3,
    });
  });

  it("asks for nothing where nothing of a model waits in batches", async () => {
    const counts = [open("early", "l"), open("late")];
    expect((await turnAt(9, [model("early", 4), model("late", 8)], counts)).moves).toEqual(["late all"]);
    expect(await turnAt(9, [model("early", 4)], counts)).toEqual({ moves: [], enqueued: [], nextHours: null });
  });
});
