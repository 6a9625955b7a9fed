import type { LimiterPort, ReservationAnswer, ReservationRequest } from "@hallumaze/engine";

import type { LimiterSettings } from "../src/index.ts";

/** A server for limiters, as the contract needs it. */
export interface LimiterUnderTest {
  /** Another process' limiter on the same server. */
  readonly open: (settings?: Partial<LimiterSettings>) => Promise<LimiterPort>;
  /** The server loses all it knows. */
  readonly forget: () => Promise<void>;
  readonly drop: () => Promise<void>;
}

let count = 0;

/** A request of 100 input and 50 output tokens, with an id of its own unless told. */
export function request(change: Partial<ReservationRequest> = {}): ReservationRequest {
  count += 1;
  return { id: `try-${count}`, inputTokens: 100, outputTokens: 50, tenant: "sweep", weight: 1, ...change };
}

/** A lane of its own. */
export function newLane(): string {
  count += 1;
  return `sim.{lane}-${count}`;
}

/** Comes back as told until granted; the answers on the way. Rejects on "never" and after `triesMax` answers. */
export async function reserveAsTold(
  limiter: LimiterPort,
  lane: string,
  asked: ReservationRequest,
  triesMax = 200,
): Promise<readonly ReservationAnswer[]> {
  const answers: ReservationAnswer[] = [];
  while (answers.length < triesMax) {
    const answer = await limiter.reserve(lane, asked);
    answers.push(answer);
    if (answer.kind === "granted") return answers;
    if (answer.kind === "never") throw new Error(answer.message);
    await new Promise((resolve) => setTimeout(resolve, answer.afterMs));
  }
  throw new Error(`${asked.id} was not granted in ${triesMax} answers`);
}
