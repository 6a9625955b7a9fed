import { join } from "node:path";
import { setImmediate as pauseForSignals } from "node:timers/promises";

import {
  type AnalysisData,
  experimentNames,
  gatherData,
  rescored,
  runExperiment,
  type TrialRecord,
  figureRecords,
  walkStepOf,
  whyNot,
} from "@hallumaze/analysis";
import { writeWhole } from "@hallumaze/console";
import type { SweepRecord } from "@hallumaze/engine";
import type { StoredImportedTrial } from "@hallumaze/imports";
import { formatCount } from "@hallumaze/reports";
import type { House } from "@hallumaze/runtime";
import type { ExperimentOptions } from "@hallumaze/trials";

import { reportPage } from "./report-page.ts";
import { writeExperiment, type WrittenExperiment } from "./write-results.ts";

/** What a report is made from, apart from the trials. All of it stands in a bundle's manifest. */
export interface ReportSettings {
  readonly sweep: string;
  readonly options: Required<ExperimentOptions>;
  /** Models that count as reasoning ones; null: those that told of reasoning tokens. */
  readonly reasoning: readonly string[] | null;
  /** The experiments to write; null: all that the data hold. */
  readonly experiments: readonly string[] | null;
  /** Program version and the like, each a line. */
  readonly facts: readonly string[];
  /** What limits all of it, such as open trials. */
  readonly warnings: readonly string[];
}

/** What was written of a report. */
export interface WrittenReport {
  readonly experiments: readonly WrittenExperiment[];
  readonly leftOut: readonly { readonly title: string; readonly reason: string }[];
}

/** Reads a sweep of the ledger, with what was imported, into what the experiments work on. */
export async function gatherSweep(house: House, sweep: SweepRecord, signal: AbortSignal): Promise<AnalysisData> {
  const { models } = await house.store.progress(sweep.sweepId);
  const expected = models.reduce((sum, { states }) => sum + Object.values(states).reduce((a, b) => a + b, 0), 0);
  const records = figureRecords(house.store, sweep, walkStepOf(expected));
  return gatherData(records, house.store.streamImported(pageSize), { expected, signal });
}

const pageSize = 500;

/** Trials that may still change: of a paused or cancelled sweep only those under way. */
export async function openTrials(house: House, sweep: SweepRecord): Promise<number> {
  const { models } = await house.store.progress(sweep.sweepId);
  const isHeld = (sweep.paused !== null && sweep.paused.models.length === 0) || sweep.cancelledAtMs !== null;
  return models.reduce((sum, { states }) => sum + states.running + (isHeld ? 0 : states.planned + states.queued), 0);
}

/** Reads records as they are scored by this program now. */
export async function gatherRecords(
  records: () => AsyncIterable<TrialRecord>,
  imported: AsyncIterable<readonly StoredImportedTrial[]>,
  expected: number,
  signal: AbortSignal,
): Promise<AnalysisData> {
  async function* again(): AsyncGenerator<TrialRecord> {
    for await (const record of records()) yield { ...record, row: rescored(record) };
  }
  return gatherData(again(), imported, { expected, signal });
}

/** Runs every experiment that the data hold, and writes tables, figures and the page into `folder`. */
export async function writeReport(
  folder: string,
  gathered: AnalysisData,
  { sweep, options, reasoning, experiments: wanted, facts, warnings }: ReportSettings,
  { say, signal }: { readonly say: (text: string) => void; readonly signal: AbortSignal },
): Promise<WrittenReport> {
  const data = reasoning === null ? gathered : { ...gathered, reasoning };
  const experiments: WrittenExperiment[] = [];
  const leftOut: { title: string; reason: string }[] = [];
  for (const name of experimentNames.filter((one) => wanted?.includes(one) ?? true)) {
    const reason = whyNot(name, data);
    if (reason !== null) {
      leftOut.push({ title: name, reason });
      continue;
    }
    // Between two experiments, which take seconds each: a signal is handled only where the program waits.
    await pauseForSignals();
    signal.throwIfAborted();
    say(`${name} …`);
    experiments.push(await writeExperiment(folder, runExperiment(name, data, options)));
  }
  const page = reportPage({ sweep, facts: [...facts, methodOf(options, experiments)], leftOut, warnings }, experiments);
  await writeWhole(join(folder, "report.html"), [page]);
  return { experiments, leftOut };
}

/** How the intervals were made, in a line; what was worked out instead of drawn is said where there is any. */
function methodOf(options: Required<ExperimentOptions>, experiments: readonly WrittenExperiment[]): string {
  const drawn =
    `Intervals: ${options.level * 100} %, ${options.interval} bootstrap over mazes, ${options.resamples} resamples, ` +
    `drawn from the seed "${options.seed}".`;
  const expanded = experiments.flatMap(({ result }) => result.provenance.expanded ?? []);
  const [first] = expanded;
  if (first === undefined) return drawn;
  const intervals = expanded.reduce((sum, own) => sum + own.intervals, 0);
  return (
    `${drawn} Of means over ${formatCount(first.mazesMin)} mazes or more, ${formatCount(intervals)} intervals were not drawn: ` +
    "they are the same bootstrap's quantiles, worked out from the moments of its resampled mean (Cornish-Fisher), as are p-values."
  );
}
