import { setImmediate as pause } from "node:timers/promises";

import {
  experimentNames,
  experimentTitles,
  gatherData,
  type ReplySourceStore,
  runExperiment,
  type TrialSourceStore,
  figureRecords,
  walkStepOf,
  whyNot,
} from "@hallumaze/analysis";
import type { StorePort, SweepRecord } from "@hallumaze/engine";
import type { ExperimentName, ExperimentResult } from "@hallumaze/experiments";
import type { ImportStorePort } from "@hallumaze/imports";

/** An experiment, and why a sweep's data does not hold it; null: it does. */
export interface HeldExperiment {
  readonly experiment: ExperimentName;
  readonly title: string;
  readonly whyNot: string | null;
}

/** A sweep as it was read at one moment, to be studied. */
export interface Study {
  /** Every experiment, in the order of a report. */
  readonly held: readonly HeldExperiment[];
  /** Runs one experiment that is held, once; rejects with a retryable error where the study was closed meanwhile. */
  readonly run: (experiment: ExperimentName) => Promise<ExperimentResult>;
  readonly close: () => void;
}

/** Reads a sweep; the signal ends the reading and the study. */
export type OpenStudy = (sweep: SweepRecord, signal: AbortSignal) => Promise<Study>;

const pageSize = 500;

/** Opens studies in this thread, which answers nothing else while an experiment runs: for tests and commands. */
export function studiesHere(
  store: TrialSourceStore & ReplySourceStore & Pick<StorePort, "progress"> & Pick<ImportStorePort, "streamImported">,
): OpenStudy {
  return async (sweep, signal) => {
    const { models } = await store.progress(sweep.sweepId);
    const expected = models.flatMap(({ states }) => Object.values(states)).reduce((sum, count) => sum + count, 0);
    const records = figureRecords(store, sweep, walkStepOf(expected));
    const data = await gatherData(records, store.streamImported(pageSize), { expected, signal });
    const results = new Map<ExperimentName, ExperimentResult>();
    return {
      held: experimentNames.map((experiment) => ({
        experiment,
        title: experimentTitles[experiment],
        whyNot: whyNot(experiment, data),
      })),
      run: async (experiment) => {
        const known = results.get(experiment);
        if (known !== undefined) return known;
        await pause();
        const result = runExperiment(experiment, data, {});
        results.set(experiment, result);
        return result;
      },
      close: () => undefined,
    };
  };
}
