import { deadEnds, generateMaze } from "@hallumaze/maze";

import type { ReportRow } from "./report-row.ts";
import { csvOf } from "./trial-export.ts";

/** One model's result on one maze, in the original program's words. Null where there is no answer or no value. */
export interface SeedShapeResult {
  readonly provider: string;
  readonly model: string;
  readonly sr: number | null;
  readonly mei: number | null;
  readonly ce: number | null;
  readonly brs: number | null;
  readonly hallumaze_score: number | null;
  readonly hallucination_count: number | null;
  readonly backtrack_count: number | null;
  readonly loop_count: number | null;
  readonly hrr: number | null;
  /** 1-based; -1 where there was none. */
  readonly first_hallucination_step: number | null;
  readonly path_valid: boolean | null;
  readonly metacog_signals: readonly MetacogSignal[];
  /** Confidence in percent by step. */
  readonly confidence_log: readonly { readonly step: number; readonly conf: number }[];
  readonly latency_s: number | null;
  /** Not in the original: how the trial ended, so that an outage is not read as an answer. */
  readonly outcome: string | null;
}

/** What the original program's `metacog_signals` can hold. */
export type MetacogSignal = "dead end" | "backtracking" | "loop detected" | "strategy_change";

/** One run of one maze in the original program's JSON. */
export interface SeedShapeRecord {
  readonly hallumaze_version: "1.1";
  /** ISO 8601 without a zone, to the second. */
  readonly timestamp: string;
  readonly maze: {
    readonly size: number;
    readonly seed: number;
    /** In cells, START and EXIT included. */
    readonly solution_length: number;
    readonly dead_ends: number;
    readonly mirage_traps: number;
    readonly solution_path: readonly (readonly [row: number, col: number])[];
  };
  readonly config: {
    readonly use_mirage: boolean;
    readonly use_confidence: boolean;
    readonly ariadne_mode: string;
    readonly max_tokens: number;
  };
  readonly results: readonly SeedShapeResult[];
}

/**
 * Groups rows into one record a maze run (maze, condition, repeat), in the order of their first row. Numbers are the
 * `seed` profile's. All rows are held in memory: for large sweeps the line formats are the ones to take.
 *
 * SOURCE: seed section 11; spec/sweeps.md section 2 for `solution_length` in cells.
 */
export function seedShapeRecords(rows: Iterable<ReportRow>, timestamp: string): readonly SeedShapeRecord[] {
  const runs = new Map<string, ReportRow[]>();
  for (const row of rows) {
    const key = mazeRunKey(row);
    const run = runs.get(key);
    if (run === undefined) runs.set(key, [row]);
    else run.push(row);
  }
  return [...runs.values()].map((run) => recordOf(run, timestamp));
}

/** The records as the original program's file: one record is the object itself, several are a list. */
export function seedShapeJson(records: readonly SeedShapeRecord[]): string {
  return `${JSON.stringify(records.length === 1 ? records[0] : records, null, 2)}\n`;
}

/** The results as CSV in the columns of the published trials, with the provider in front. */
export function seedShapeCsv(records: readonly SeedShapeRecord[]): string {
  const lines = records.flatMap(({ maze, results }) =>
    results.map((result) => [
      result.provider,
      result.model,
      maze.size,
      maze.seed,
      result.sr,
      result.mei,
      result.ce,
      result.brs,
      result.hallumaze_score,
      result.hallucination_count,
      result.backtrack_count,
      result.loop_count,
      result.hrr,
      result.latency_s,
      maze.solution_length,
      maze.dead_ends,
    ]),
  );
  return csvOf([seedShapeColumns, ...lines]);
}

const seedShapeColumns =
  "provider,model,size,seed,sr,mei,ce,brs,hallumaze_score,hallucination_count,backtrack_count,loop_count,hrr,latency_s,solution_length,dead_ends".split(
    ",",
  );

function mazeRunKey({ plan }: ReportRow): string {
  const { size, seed, generator, placement, mirage, confidence, group, language, maxTokens, repeat } = plan;
  return JSON.stringify([size, seed, generator, placement, mirage, confidence, group, language, maxTokens, repeat]);
}

function recordOf(run: readonly ReportRow[], timestamp: string): SeedShapeRecord {
  const [first] = run;
  if (first === undefined) throw new RangeError("a maze run holds at least one row");
  const { plan } = first;
  const maze = generateMaze(plan);
  return {
    hallumaze_version: "1.1",
    timestamp,
    maze: {
      size: maze.size,
      seed: maze.seed,
      solution_length: maze.solution.length,
      dead_ends: deadEnds(maze).length,
      mirage_traps: maze.traps.length,
      solution_path: maze.solution,
    },
    config: {
      use_mirage: plan.mirage,
      use_confidence: plan.confidence,
      ariadne_mode: plan.group,
      max_tokens: plan.maxTokens,
    },
    results: run.map(resultOf),
  };
}

function resultOf(row: ReportRow): SeedShapeResult {
  const seed = row.state === "done" ? row.scores.seed : undefined;
  const reading = readSummary(row.readingJson);
  return {
    provider: row.plan.provider,
    model: row.plan.model,
    sr: seed?.sr ?? null,
    mei: rounded(seed?.mei),
    ce: rounded(seed?.ce),
    brs: rounded(seed?.brs),
    hallumaze_score: rounded(seed?.score),
    hallucination_count: seed?.hc ?? null,
    backtrack_count: seed?.bt ?? null,
    loop_count: seed?.lt ?? null,
    hrr: rounded(seed?.hrr),
    first_hallucination_step: seed?.fhr ?? null,
    path_valid: seed === undefined ? null : seed.sr === 1,
    metacog_signals: signalsOf(reading, seed?.bt ?? 0),
    confidence_log: reading.confidenceLog.map(({ step, confidence }) => ({ step, conf: percent(confidence) })),
    latency_s: row.latencyMs === null ? null : row.latencyMs / 1000,
    outcome: row.outcome,
  };
}

/** The part of a reading's summary that this shape shows. */
interface ReadingSummary {
  readonly claims: readonly { readonly kind: string }[];
  readonly confidenceLog: readonly { readonly step: number; readonly confidence: number }[];
}

function readSummary(readingJson: string | null): ReadingSummary {
  const summary = readingJson === null ? {} : (JSON.parse(readingJson) as Partial<ReadingSummary>);
  return { claims: summary.claims ?? [], confidenceLog: summary.confidenceLog ?? [] };
}

/** Three signals are what the log says; "backtracking" is what it did, since a retreat has no line of its own. */
function signalsOf(reading: ReadingSummary, backtracks: number): MetacogSignal[] {
  const said = new Set(reading.claims.map(({ kind }) => kind));
  const signals: readonly (readonly [boolean, MetacogSignal])[] = [
    [said.has("deadEnd"), "dead end"],
    [backtracks > 0, "backtracking"],
    [said.has("loop"), "loop detected"],
    [said.has("strategyChange"), "strategy_change"],
  ];
  return signals.filter(([isThere]) => isThere).map(([, signal]) => signal);
}

/** Six decimals, as a file for people: 0.9, not 0.8999999999999999. The line formats keep every digit. */
function rounded(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : Number(value.toFixed(6));
}

/** Percent without the noise of binary fractions: 0.29 is 29, not 28.999999999999996. */
function percent(share: number): number {
  return Number((share * 100).toFixed(4));
}
