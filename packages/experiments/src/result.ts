import type { Estimate, Provenance } from "@hallumaze/trials";

/** What a column holds, which tells how to print it: `interval` holds an `Estimate`. Shares are 0 … 1. */
export type ColumnKind = "text" | "count" | "share" | "value" | "interval" | "p" | "bounds";

/** One column of a table. */
export interface Column {
  readonly key: string;
  readonly label: string;
  readonly kind: ColumnKind;
  /** Absent where neither is better. */
  readonly better?: "high" | "low";
}

/** A cell: `Estimate` under `interval`, [lowest, highest] under `bounds`; null is unknown, never 0. */
export type TableCell = string | number | null | Estimate | readonly [number, number];

/** A table: every row has a cell for every column's key. */
export interface ResultTable {
  /** Kebab-case, unique within its result: part of a file's name. */
  readonly name: string;
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Readonly<Record<string, TableCell>>[];
}

/** One value of a figure with its interval. `category` stands on the discrete axis, `series` is told apart by colour and shape. */
export interface IntervalPoint extends Estimate {
  readonly series: string;
  readonly category: string;
  /** Rows of small panels; absent where there is one panel. */
  readonly panel?: string;
}

/** One point of a line. */
export interface LinePoint extends Estimate {
  readonly series: string;
  readonly x: number;
  readonly panel?: string;
}

/** A line across a figure that values are read against. */
export interface Reference {
  readonly at: number;
  readonly label: string;
}

/** What a figure shows; how it looks is decided where it is drawn. */
export type FigureData = { readonly name: string; readonly title: string } & (
  | {
      readonly kind: "intervals";
      readonly valueLabel: string;
      readonly references: readonly Reference[];
      readonly points: readonly IntervalPoint[];
    }
  | {
      readonly kind: "lines";
      readonly xLabel: string;
      readonly yLabel: string;
      readonly points: readonly LinePoint[];
    }
  | {
      /** Accuracy against stated confidence; the diagonal is perfect. */
      readonly kind: "reliability";
      readonly points: readonly {
        readonly series: string;
        readonly confidence: number;
        readonly accuracy: number;
        readonly count: number;
      }[];
    }
  | {
      /** Counts of parts that add up to a whole a category. */
      readonly kind: "stacked";
      readonly valueLabel: string;
      readonly points: readonly { readonly category: string; readonly part: string; readonly count: number }[];
    }
);

/** Something that limits what a result can be read as. */
export interface Warning {
  readonly code:
    | "ceiling-test"
    | "at-ceiling"
    | "few-mazes"
    | "few-models"
    | "walks-sampled"
    | "low-coverage"
    | "missing-not-at-random"
    | "no-common-mazes"
    | "no-data"
    | "no-detectable-effect"
    | "index-undefined"
    | "single-value";
  readonly message: string;
}

/** The names of the experiments. */
export type ExperimentName =
  | "models"
  | "mirage"
  | "ariadne"
  | "difficulty"
  | "confidence"
  | "ablation"
  | "reasoning"
  | "human"
  | "language"
  | "judge"
  | "profiles"
  | "outcomes";

/** What an experiment found: plain JSON, the same for the same trials in any order. */
export interface ExperimentResult {
  readonly experiment: ExperimentName;
  readonly title: string;
  readonly tables: readonly ResultTable[];
  readonly figures: readonly FigureData[];
  /** What it means in plain sentences, with intervals; what cannot be told is said too. */
  readonly reading: readonly string[];
  readonly warnings: readonly Warning[];
  readonly provenance: Provenance;
}
