import type { ReplySourceStore, TrialSourceStore } from "@hallumaze/analysis";
import type { DetectorStorePort } from "@hallumaze/detectors";
import type { LimiterPort, QueuePort, SweepRecord } from "@hallumaze/engine";
import { HalluMazeError } from "@hallumaze/foundation";
import type { ImportStorePort } from "@hallumaze/imports";
import type { JudgeStorePort } from "@hallumaze/judging";
import type { DefaultLimits, OperatorPorts } from "@hallumaze/steering";
import type { LabelPort, ViewPort } from "@hallumaze/viewing";

import { within } from "./bounded-calls.ts";
import { ProblemError } from "./problems.ts";
import type { OpenStudy } from "./run-study.ts";

/** What the page's routes need from outside; each call is given its time by `Bounds`. */
export interface PagePorts {
  /** What is looked at, over connections of its own. */
  readonly views: ViewPort;
  readonly labels: LabelPort;
  readonly store: OperatorPorts["store"] &
    TrialSourceStore &
    DetectorStorePort &
    ImportStorePort &
    ReplySourceStore &
    Pick<JudgeStorePort, "judgementsOf" | "judgeProgress" | "findCalibration">;
  readonly queue: Pick<QueuePort, "enqueue" | "depth">;
  readonly limiter: Pick<LimiterPort, "park" | "resume" | "use">;
  readonly defaultLimits: DefaultLimits;
  /** Tells the limiter what an operator said of a lane; workers hear of it by themselves. */
  readonly refreshLanes: () => Promise<void>;
  /** Opens a sweep's experiments; in this thread unless told. */
  readonly openStudy?: OpenStudy;
  /** Is told of each change that somebody made, for the log: ids and numbers, no words of models. */
  readonly onChange: (fields: Readonly<Record<string, unknown>>, message: string) => void;
}

/** How long a call may take, in milliseconds. */
export interface Bounds {
  /** One call to ledger, queue or limiter. */
  readonly callMs: number;
  /** One answer that has to be worked out; the work goes on, and the next asker has it. */
  readonly workMs: number;
}

/** What takes long to work out, or a problem that says when to ask again: the work goes on meanwhile. */
export async function worked<T>({ workMs }: Bounds, work: Promise<T>): Promise<T> {
  try {
    return await within(workMs, work);
  } catch (error) {
    if (!(error instanceof HalluMazeError) || error.code !== "api-timeout") throw error;
    const detail = "It is still being worked out; ask again.";
    throw new ProblemError("unavailable", { detail, retryAfterSeconds: 5 });
  }
}

/** The sweep of a name, or a problem. */
export async function sweepOf(ports: Pick<PagePorts, "store">, bounds: Bounds, name: string): Promise<SweepRecord> {
  const sweep = await within(bounds.callMs, ports.store.findSweep(name));
  if (sweep === null) throw new ProblemError("not-found", { detail: "There is no sweep of that name." });
  return sweep;
}
