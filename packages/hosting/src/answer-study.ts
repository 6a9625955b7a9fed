import {
  type AnalysisData,
  experimentNames,
  experimentTitles,
  gatherData,
  runExperiment,
  type TrialRecord,
  whyNot,
} from "@hallumaze/analysis";
import type { HeldExperiment } from "@hallumaze/api";
import type { ExperimentName, ExperimentResult } from "@hallumaze/experiments";
import type { StoredImportedTrial } from "@hallumaze/imports";

/** What a study's process is told, in this order: what was imported, the trials, then which experiments to run, and to end. */
export type StudyOrder =
  | { readonly kind: "begin"; readonly expected: number }
  | { readonly kind: "records"; readonly records: readonly TrialRecord[] }
  | { readonly kind: "imported"; readonly rows: readonly StoredImportedTrial[] }
  | { readonly kind: "read" }
  | { readonly kind: "run"; readonly experiment: ExperimentName }
  | { readonly kind: "close" };

/** What it answers: that it takes more, what the data holds, and each result. */
export type StudyAnswer =
  | { readonly kind: "more" }
  | { readonly kind: "held"; readonly held: readonly HeldExperiment[] }
  | { readonly kind: "result"; readonly experiment: ExperimentName; readonly result: ExperimentResult }
  | { readonly kind: "failed"; readonly experiment: ExperimentName; readonly message: string };

/** The line to whoever asks. */
export interface StudyLine {
  readonly say: (answer: StudyAnswer) => void;
  readonly listen: (take: (order: StudyOrder) => void) => void;
  readonly close: () => void;
}

/** Takes orders one after another until it is told to end. */
export async function answerStudy({ say, listen, close }: StudyLine): Promise<void> {
  const next = queueOf(listen);
  // What is sent before somebody listens is lost.
  say({ kind: "more" });
  const begun = await next();
  if (begun.kind !== "begin") throw new TypeError(`expected to begin, got ${begun.kind}`);
  const data = await gather(next, say, begun.expected);
  say({
    kind: "held",
    held: experimentNames.map((experiment) => ({
      experiment,
      title: experimentTitles[experiment],
      whyNot: whyNot(experiment, data),
    })),
  });
  for (;;) {
    const order = await next();
    if (order.kind === "close") break;
    if (order.kind !== "run") continue;
    const { experiment } = order;
    try {
      say({ kind: "result", experiment, result: runExperiment(experiment, data, {}) });
    } catch (error) {
      say({ kind: "failed", experiment, message: String(error) });
    }
  }
  close();
}

type Next = () => Promise<StudyOrder>;

/** What was imported comes first and is little: it is held, so that either may be read first. */
async function gather(next: Next, say: (answer: StudyAnswer) => void, expected: number): Promise<AnalysisData> {
  const pages: (readonly StoredImportedTrial[])[] = [];
  let order = await next();
  while (order.kind === "imported") {
    pages.push(order.rows);
    say({ kind: "more" });
    order = await next();
  }
  async function* imported(): AsyncGenerator<readonly StoredImportedTrial[]> {
    yield* pages;
  }
  async function* records(): AsyncGenerator<TrialRecord> {
    while (order.kind === "records") {
      yield* order.records;
      say({ kind: "more" });
      order = await next();
    }
  }
  return gatherData(records(), imported(), { expected, signal: new AbortController().signal });
}

/** Orders as they came, whenever they are asked for. */
function queueOf(listen: StudyLine["listen"]): Next {
  const waiting: StudyOrder[] = [];
  let wake: (() => void) | null = null;
  listen((order) => {
    waiting.push(order);
    wake?.();
  });
  return async () => {
    for (;;) {
      const order = waiting.shift();
      if (order !== undefined) return order;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      wake = null;
    }
  };
}
