import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

import {
  type ReplySourceStore,
  type TrialRecord,
  figureRecords,
  type TrialSourceStore,
  walkStepOf,
} from "@hallumaze/analysis";
import type { OpenStudy, Study } from "@hallumaze/api";
import type { StorePort, SweepRecord } from "@hallumaze/engine";
import type { ExperimentName, ExperimentResult } from "@hallumaze/experiments";
import { HalluMazeError } from "@hallumaze/foundation";
import type { ImportStorePort } from "@hallumaze/imports";

import type { StudyAnswer, StudyOrder } from "./answer-study.ts";

/** What a study reads. */
export type StudyStore = TrialSourceStore &
  ReplySourceStore &
  Pick<StorePort, "progress"> &
  Pick<ImportStorePort, "streamImported">;

const program = fileURLToPath(new URL("../bin/study.js", import.meta.url));
/** It loads this source as the program's own start does. */
const execArgv = ["--import", new URL("../../../apps/cli/bin/register-typescript.js", import.meta.url).href];
/** Trials in one message. */
const batchSize = 200;
const pageSize = 500;

/**
 * Opens studies whose experiments run in processes of their own, so that the service goes on answering. The trials are read
 * here and handed over, a batch at a time; the numbers are those of `report`.
 */
export function studiesApart(store: StudyStore): OpenStudy {
  return async (sweep, signal) => {
    const helper = startHelper(signal);
    try {
      const { models } = await store.progress(sweep.sweepId);
      const expected = models.flatMap(({ states }) => Object.values(states)).reduce((sum, count) => sum + count, 0);
      await helper.hears();
      helper.tell({ kind: "begin", expected });
      await handOver(store, sweep, helper, walkStepOf(expected));
      helper.tell({ kind: "read" });
      const answer = await helper.hears();
      if (answer.kind !== "held") throw new TypeError(`expected what is held, got ${answer.kind}`);
      return studyOf(helper, answer.held);
    } catch (error) {
      helper.end();
      throw error;
    }
  };
}

async function handOver(store: StudyStore, sweep: SweepRecord, helper: Helper, walkStep: number): Promise<void> {
  const give = async (order: StudyOrder): Promise<void> => {
    helper.tell(order);
    await helper.hears();
  };
  for await (const rows of store.streamImported(pageSize)) await give({ kind: "imported", rows });
  let batch: TrialRecord[] = [];
  for await (const record of figureRecords(store, sweep, walkStep)) {
    batch.push(record);
    if (batch.length < batchSize) continue;
    await give({ kind: "records", records: batch });
    batch = [];
  }
  if (batch.length > 0) await give({ kind: "records", records: batch });
}

/** Results come in the order in which they were asked for; each experiment is run once. */
function studyOf(helper: Helper, held: Study["held"]): Study {
  const results = new Map<ExperimentName, Promise<ExperimentResult>>();
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  return {
    held,
    run: (experiment) => {
      const known = results.get(experiment);
      if (known !== undefined) return known;
      if (isClosed) return Promise.reject(new HalluMazeError("study-closed", "the study was closed", { retry: true }));
      helper.tell({ kind: "run", experiment });
      const result = last.then(async () => {
        const answer = await helper.hears();
        if (answer.kind === "result") return answer.result;
        throw new Error(answer.kind === "failed" ? answer.message : `expected a result, got ${answer.kind}`);
      });
      last = result.catch(() => undefined);
      results.set(experiment, result);
      return result;
    },
    close: () => {
      isClosed = true;
      helper.tell({ kind: "close" });
    },
  };
}

interface Helper {
  readonly tell: (order: StudyOrder) => void;
  /** The next answer; rejects where the process ends without one. */
  readonly hears: () => Promise<StudyAnswer>;
  readonly end: () => void;
}

function startHelper(signal: AbortSignal): Helper {
  const child = fork(program, {
    serialization: "advanced",
    execArgv,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const answers: StudyAnswer[] = [];
  let failure: Error | null = null;
  let wake: (() => void) | null = null;
  const end = (): void => void child.kill("SIGKILL");
  const fail = (error: Error): void => {
    failure ??= error;
    wake?.();
  };
  child.on("message", (answer) => {
    answers.push(answer as StudyAnswer);
    wake?.();
  });
  child.on("error", fail);
  child.on("exit", () => {
    signal.removeEventListener("abort", end);
    fail(new HalluMazeError("study-closed", "the study's process has ended", { retry: true }));
  });
  if (signal.aborted) end();
  signal.addEventListener("abort", end, { once: true });
  return {
    // One that has ended is heard of by its end.
    tell: (order) => void (child.connected && child.send(order, () => undefined)),
    hears: async () => {
      for (;;) {
        const answer = answers.shift();
        if (answer !== undefined) return answer;
        if (failure !== null) throw failure;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = null;
      }
    },
    end,
  };
}
