import { createRandom } from "@hallumaze/foundation";

import type { Judged, MazeFacts, Scenario } from "../src/index.ts";

/** A source of hexadecimal digits that gives the same ones again for the same seed. */
export function seededHex(seed: number | string): { readonly hex: (digits: number) => string } {
  const random = createRandom(seed);
  return { hex: (digits) => Array.from({ length: digits }, () => random.below(16).toString(16)).join("") };
}

/** A scenario in which the principle (a second factor must not travel the way of the first) can be rebuilt. */
export const scenario: Scenario = {
  prompt:
    "A service wants to send its one-time codes by e-mail to the mailbox whose password can be reset with them. Is that a second factor? Explain.",
  expectedL3:
    "Recognises that a factor is independent only if losing the first does not hand over the second, shows that the mailbox makes both depend on one secret, and carries this over to another channel.",
  criteriaL1: null,
  criteriaL2: null,
};

/** A response of substance in plain words: reasons, and the principle carried over. */
export const plainAnswer = [
  "It is not a second factor, because whoever gets into the mailbox reads the codes as well.",
  "The codes protect the mailbox only if they come some other way, so losing the password would already lose both.",
  "By the same principle a phone that shows its messages while locked is no second factor, because one theft takes the phone and the codes.",
].join(" ");

/** A response to {@link scenario}. */
export function judgedOf(response: string, change: Partial<Judged> = {}): Judged {
  return { scenario, response, truncated: false, facts: null, ...change };
}

/** Facts of a walk that showed nothing. */
export const noFacts: MazeFacts = {
  escaped: false,
  attempts: 12,
  illegalMoves: 1,
  backtracks: 0,
  loopEvents: 0,
  wrongBranches: 1,
  trueDeadEndClaims: 0,
  trueLoopClaims: 0,
  trueStrategyChanges: 0,
  falseClaims: 0,
};
