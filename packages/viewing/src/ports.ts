import type { FinishReason } from "@hallumaze/protocol";
import type { Outcome, TrialState } from "@hallumaze/engine";
import type { ImportedTrial } from "@hallumaze/imports";
import type { Scenario } from "@hallumaze/judge";
import type { ProfileName, ProfileScores } from "@hallumaze/metrics";
import type { CellPlan } from "@hallumaze/sweep";

/** One sweep's counts, for a list. */
export interface SweepCounts {
  readonly sweepId: string;
  /** Trials of the current grid by state; a state that is absent has none. */
  readonly states: Readonly<Partial<Record<TrialState, number>>>;
  readonly rehearsal: boolean;
  /** Exact decimal US dollars. */
  readonly budgetUsd: string | null;
  readonly spentUsd: string;
}

/** One exchange of a trial, without request and raw body. */
export interface StoredExchange {
  readonly exchangeId: string;
  readonly turn: number;
  readonly tryNumber: number;
  readonly recordedAtMs: number;
  readonly isLate: boolean;
  /** Null where none came, or it was pruned. */
  readonly text: string | null;
  readonly isPruned: boolean;
  readonly reasoning: string | null;
  readonly finishReason: FinishReason | null;
  readonly nativeFinishReason: string | null;
  readonly outcome: string | null;
  readonly errorMessage: string | null;
  readonly servedModel: string | null;
  readonly servedBy: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cachedTokens: number | null;
  readonly reasoningTokens: number | null;
  readonly costUsd: string | null;
  readonly costBoundUsd: string | null;
  readonly queueMs: number | null;
  readonly limiterMs: number | null;
  readonly httpMs: number;
  readonly ttftMs: number | null;
}

/** All that the ledger has of one trial, but for its judgements. */
export interface TrialDossier {
  readonly trialId: string;
  readonly sweepId: string;
  readonly sweep: string;
  /** The sweep's spec, as JSON text. */
  readonly specJson: string;
  readonly alias: string;
  readonly plan: CellPlan;
  readonly state: TrialState;
  readonly outcome: Outcome | null;
  readonly message: string | null;
  readonly tries: number;
  readonly isReused: boolean;
  readonly createdAtMs: number;
  readonly finishedAtMs: number | null;
  /** Known cost of all its requests; null where none is known. */
  readonly costUsd: string | null;
  /** Under which its judgements stand; null where none was asked. */
  readonly resultId: string | null;
  /** Whether group A got its neutral turn in this sweep. */
  readonly shadow: boolean;
  /** The accepted first answer and those that followed it, by turn; empty without an answer. */
  readonly conversation: readonly StoredExchange[];
  /** The newest, oldest first, and how many there are. */
  readonly exchanges: readonly StoredExchange[];
  /** The newest numbers of each profile. */
  readonly scores: Readonly<Partial<Record<ProfileName, ProfileScores>>>;
}

/** One cell of a grid. */
export interface GridRow {
  readonly trialId: string;
  readonly alias: string;
  readonly size: number;
  readonly seed: number;
  readonly group: CellPlan["group"];
  readonly mirage: boolean;
  readonly language: CellPlan["language"];
  readonly confidence: boolean;
  readonly repeat: number;
  readonly state: TrialState;
  /** Of the metric that was asked for; null where it is not known, or none was asked for. */
  readonly value: number | null;
}

/** One trial on a maze. */
export interface MazeRow extends Omit<GridRow, "value"> {
  readonly outcome: string | null;
  readonly sr: number | null;
  /** Robust. */
  readonly mei: number | null;
}

/** A person's log, as it was imported or walked on the page. */
export interface PersonRow {
  readonly importId: string;
  /** 1-based place in its import. */
  readonly position: number;
  readonly importedAtMs: number;
  readonly model: string;
  readonly participant: string | null;
  readonly size: number;
  readonly seed: number;
  readonly generator: CellPlan["generator"];
  readonly placement: CellPlan["placement"];
  readonly mirage: boolean | null;
  readonly language: string | null;
  readonly confidence: boolean | null;
  readonly outcome: string | null;
  readonly logText: string;
  readonly scores: ImportedTrial["scores"];
}

/** One run of a judge on a gold set, as the ledger has it. */
export interface CalibrationRow {
  readonly calibrationId: string;
  readonly createdAtMs: number;
  readonly goldSetId: string;
  readonly split: string;
  readonly judgeModel: string;
  readonly promptVersion: string;
  readonly promptHash: string;
  readonly rubricVersion: string;
  readonly items: number;
  readonly open: boolean;
  readonly refusals: readonly string[];
  /** The report, as JSON text. */
  readonly reportJson: string;
}

/** An item of a gold set that a judge was asked about. */
export interface GoldText {
  readonly scenario: Scenario;
  readonly response: string;
}

/** A number of a profile, as the ledger names it. */
export interface GridColumn {
  readonly profile: ProfileName;
  readonly metric: keyof ProfileScores;
}

/** What may have changed since the last look. */
export interface LedgerVersions {
  /** By name: a word that differs whenever counts, money or steering differ. */
  readonly sweeps: ReadonlyMap<string, string>;
  /** By lane: the same for an operator's word. */
  readonly lanes: ReadonlyMap<string, string>;
}

/** What one person said of one item of a labelling set. */
export interface StoredLabel {
  readonly itemId: string;
  readonly trialId: string;
  readonly rater: string;
  readonly level: 1 | 2 | 3;
  readonly reason: string | null;
}

/** The labels that people give to a sweep's answers. Every method is safe to repeat. */
export interface LabelPort {
  /** Draws a sweep's set, once, of answers whose text is there; gives how many items it has, at most `most`. */
  readonly drawLabelling: (sweepId: string, most: number) => Promise<number>;
  /** How many items a sweep's set has; 0 before it is drawn. */
  readonly countLabelling: (sweepId: string) => Promise<number>;
  /** A rater's first item without a label of his; null where all have one. */
  readonly nextLabelling: (
    sweepId: string,
    rater: string,
  ) => Promise<{ readonly itemId: string; readonly trialId: string } | null>;
  /** Keeps a label over an earlier one of the rater; false where the set has no such item. */
  readonly saveLabel: (
    sweepId: string,
    label: Pick<StoredLabel, "itemId" | "rater" | "level" | "reason">,
  ) => Promise<boolean>;
  /** All labels of a set, by position and rater. */
  readonly labelsOf: (sweepId: string) => Promise<readonly StoredLabel[]>;
}

/** What is read of the ledger to be looked at. Everything is bounded; nothing is changed. */
export interface ViewPort {
  /** Every sweep's counts, oldest first. */
  readonly sweepCounts: () => Promise<readonly SweepCounts[]>;
  /** The first trial of each kind of failure, by model; of kinds without an outcome of their own there is none. */
  readonly firstFailures: (
    sweepId: string,
  ) => Promise<readonly { readonly alias: string; readonly outcome: string; readonly trialId: string }[]>;
  /** Null where there is no such trial. */
  readonly findTrial: (trialId: string) => Promise<TrialDossier | null>;
  /** Cells of the current grid in the order of alias, size and seed, a page at a time, `limit` at most. */
  readonly gridRows: (sweepId: string, column: GridColumn | null, limit: number) => AsyncIterable<readonly GridRow[]>;
  /** The sweep's trials on one maze, at most `limit`. */
  readonly trialsOnMaze: (
    sweepId: string,
    maze: { readonly size: number; readonly seed: number },
    limit: number,
  ) => Promise<readonly MazeRow[]>;
  /** A person's log; null where there is none of that import and place. */
  readonly findPerson: (importId: string, position: number) => Promise<PersonRow | null>;
  /** People's logs on one maze, oldest first, at most `limit`. */
  readonly peopleOnMaze: (
    maze: { readonly size: number; readonly seed: number },
    limit: number,
  ) => Promise<readonly PersonRow[]>;
  /** The newest calibrations, newest first, at most `limit`. */
  readonly calibrations: (limit: number) => Promise<readonly CalibrationRow[]>;
  /** One calibration; null where there is none of this id. */
  readonly findCalibrationById: (calibrationId: string) => Promise<CalibrationRow | null>;
  /** The texts of a gold set's items, at most `limit`. */
  readonly goldTexts: (goldSetId: string, limit: number) => Promise<readonly GoldText[]>;
  readonly versions: () => Promise<LedgerVersions>;
}
