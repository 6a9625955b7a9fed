import type { QueuePort, StorePort } from "@hallumaze/engine";
import type { Clock } from "@hallumaze/foundation";
import type { JudgeStorePort } from "@hallumaze/judging";

import type { PagePorts } from "./page-ports.ts";
import type { BoardLanes } from "./serve-board.ts";
import type { FindSite } from "./serve-files.ts";
import type { WatchPorts } from "./watch-routes.ts";

/** The part of the ledger that the API works on. */
export type ApiStore = Pick<
  JudgeStorePort,
  | "addScenario"
  | "addResult"
  | "findScenario"
  | "findResult"
  | "findSource"
  | "requestJudgements"
  | "takePlannedJudges"
  | "addJudgement"
  | "findCalibration"
  | "judgementsOfSweep"
> &
  Pick<StorePort, "findSweep" | "ping">;

/** What the API needs from outside. */
export interface ApiPorts {
  readonly store: ApiStore;
  readonly queue: Pick<QueuePort, "enqueue" | "ping">;
  readonly now: Clock;
  /** Waits; rejects when the signal fires. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** The lanes that the board shows now; without it there is no board. */
  readonly board?: BoardLanes;
  /** What the page reads and changes; without it there are none of its routes. */
  readonly page?: PagePorts;
  /** The page itself, served at `/`; without it there is none. */
  readonly site?: FindSite;
  /** Beside database and queue, what has to work, and the metrics; without them there is no `/metrics`. */
  readonly watch?: Pick<WatchPorts, "checks" | "metrics">;
  /** Is told of what became a 500 or a 503. */
  readonly onError: (error: unknown) => void;
}
