import type { Generator, TrapPlacement } from "@hallumaze/maze";
import type { Language } from "@hallumaze/protocol";

/** The three intervention groups of Ariadne's Thread. */
export type Group = "A" | "B" | "C";

/**
 * All that decides a trial's result apart from the model's own randomness. Its canonical JSON is hashed to the cell id,
 * so names, aliases, limits, budget, retries and judges are not in it. Defaults are filled in; only `ariadne` may be absent.
 */
export interface CellPlan {
  /** Plan format version. */
  readonly format: 1;
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string | null;
  /** Null where the vendor's own default is meant or the model refuses the parameter. */
  readonly temperature: number | null;
  /** Further sampling or solver parameters, by name; `sim` takes its rates and delays here. */
  readonly params: Readonly<Record<string, number | string | boolean>>;
  readonly maxTokens: number;
  readonly promptVersion: string;
  readonly generator: Generator;
  readonly placement: TrapPlacement;
  readonly seed: number;
  readonly size: number;
  readonly group: Group;
  /** How groups B and C are spoken to after the first answer; absent in group A, whose result is its first answer. */
  readonly ariadne?: { readonly hints: number; readonly version: string };
  readonly mirage: boolean;
  readonly language: Language;
  readonly confidence: boolean;
  /** 0-based repeat. */
  readonly repeat: number;
  /** True where a rehearsal server answered: never mixes with real results. */
  readonly rehearsal: boolean;
}

/** One cell of a sweep's grid. */
export interface Cell {
  /** contentId of the plan. */
  readonly cellId: string;
  /** The model's name in this sweep: its `as`, or `provider/model`. */
  readonly alias: string;
  /** Queue lane: `<provider>.<model>` made safe (letters, digits, `-`, `_`, `.`), unique a provider, model and base URL; a rehearsal's is its own. */
  readonly lane: string;
  /** Where it is asked live once batches are too late, for a model of mode auto; null for any other. */
  readonly liveLane: string | null;
  /** Place in the lane's seeded shuffled order: a pseudo-random integer in 0 … 2^31-1 of (sweep name, cell id). */
  readonly ordinal: number;
  readonly plan: CellPlan;
}
