import type { FailureOutcome, OpenTrial, Outcome, RequestAdmission, Usage } from "@hallumaze/engine";
import type { Evidence, JudgeFlag, JudgePromptVersion, Level, Scenario } from "@hallumaze/judge";
import type { CellPlan } from "@hallumaze/sweep";

/** A judge model as a request names it; never holds a key. */
export interface JudgeModel {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string | null;
  readonly temperature: number | null;
  readonly maxTokens: number;
  readonly params: Readonly<Record<string, number | string | boolean>>;
  readonly keyEnv: string | null;
}

/** Why a judge is asked. `dryRun`: beside the default verdict, which it never changes. */
export type JudgeRound = "first" | "repeat" | "second" | "third" | "dryRun";

/** What a request asks for. Its canonical JSON with the result's id is its identity. */
export interface JudgePlan {
  readonly judge: JudgeModel;
  readonly promptVersion: JudgePromptVersion;
  readonly round: JudgeRound;
  /** 0-based repeat within a round. */
  readonly repeat: number;
  /** Counts asked-again judgements of the same judge: `judge --again` raises it. */
  readonly generation: number;
  /** True where no further opinion is to be asked, as for a judge that is being measured. */
  readonly alone?: boolean;
}

/** A request to judge one result. */
export interface JudgeRequestRow {
  readonly resultId: string;
  /** Whose budget pays; null for a result that stands in no sweep. */
  readonly sweepId: string | null;
  readonly lane: string;
  readonly requestKey: string;
  readonly plan: JudgePlan;
}

/** What is judged: a trial's conversation, or a response of its own. */
export type JudgedSource =
  | {
      readonly kind: "trial";
      readonly plan: CellPlan;
      readonly replies: readonly { readonly text: string; readonly finishReason: string | null }[];
    }
  | { readonly kind: "response"; readonly scenario: Scenario; readonly response: string };

/** The right to run one request until the lease ends. */
export interface JudgeClaim {
  readonly requestId: string;
  readonly resultId: string;
  /** Null for a response that no trial gave. */
  readonly trialId: string | null;
  readonly sweepId: string | null;
  readonly lane: string;
  readonly plan: JudgePlan;
  readonly fence: number;
  readonly tries: number;
  readonly waits: number;
  /** Judgements that this request has recorded: the first reply was not readable, and the second call is due. */
  readonly recorded: readonly JudgementRecord[];
  readonly source: JudgedSource;
  /** For the flag `sameFamily` alone; never leaves in a request. */
  readonly submitterModel: string | null;
}

/** Answer to a claim. */
export type JudgeClaimResult =
  | { readonly kind: "claimed"; readonly claim: JudgeClaim }
  | { readonly kind: "nothing" }
  | { readonly kind: "later"; readonly afterMs: number };

/** `verdict` has a level; `unscored` says why it has none; `heuristic` bridges an outage or stands while the gate is shut. */
export type JudgementStatus = "verdict" | "unscored";

/** One judgement, with all that it came from. Append-only. */
export interface JudgementRecord {
  readonly resultId: string;
  /** LLM-JUDGE-v1 or HEURISTIC. */
  readonly scoredBy: string;
  /** judge, precheck, heuristic. */
  readonly decidedBy: string;
  readonly status: JudgementStatus;
  readonly level: Level | null;
  readonly unscoredReason: string | null;
  readonly reasoning: string | null;
  readonly counterArgument: string | null;
  readonly confidence: number | null;
  readonly evidence: readonly Evidence[];
  readonly flags: readonly JudgeFlag[];
  readonly fallback: boolean;
  readonly provisional: boolean;
  /** `provider/model`; the heuristic's own name where no model was asked. */
  readonly modelAsked: string;
  readonly modelServed: string | null;
  readonly promptVersion: string;
  readonly promptHash: string;
  readonly rubricVersion: string;
  readonly paramsJson: string;
  readonly inputHash: string;
  readonly round: JudgeRound;
  readonly repeat: number;
  /** 1-based call of this request: the second asks for the format only. */
  readonly attempt: number;
  readonly requestJson: string | null;
  readonly rawBody: string | null;
  readonly usage: Usage;
  readonly costUsd: string | null;
  readonly priceDate: string | null;
  readonly httpMs: number | null;
}

/** A judgement as it is read back. */
export interface StoredJudgement extends JudgementRecord {
  readonly judgementId: string;
  readonly createdAtMs: number;
}

/** How a request ended for now. */
export type JudgeEnd =
  | { readonly kind: "done"; readonly outcome: "verdict" | "unscored" }
  | {
      readonly kind: "retry";
      readonly outcome: Outcome;
      readonly message: string;
      readonly afterMs: number;
      readonly spends: "try" | "wait";
    }
  | { readonly kind: "failed" | "blocked"; readonly outcome: FailureOutcome; readonly message: string };

/** A result with all its judgements, oldest first. */
export interface JudgedResult {
  readonly resultId: string;
  readonly trialId: string | null;
  readonly submitter: string | null;
  readonly scenario: (Scenario & { readonly scenarioId: string }) | null;
  readonly response: string | null;
  readonly createdAtMs: number;
  readonly judgements: readonly StoredJudgement[];
  /** Requests that are not finished. */
  readonly openRequests: number;
}

/** What a judge of one prompt and rubric has shown on a gold set. */
export interface CalibrationRecord {
  readonly goldSetId: string;
  readonly split: string;
  readonly judgeModel: string;
  readonly promptVersion: string;
  readonly promptHash: string;
  readonly rubricVersion: string;
  readonly items: number;
  readonly agreed: number;
  readonly open: boolean;
  readonly refusals: readonly string[];
  readonly reportJson: string;
}

/** How a sweep's requests to judges stand. */
export interface JudgeProgress {
  readonly states: Readonly<Record<string, number>>;
  readonly unscored: number;
  readonly failures: readonly { readonly outcome: string; readonly count: number; readonly firstMessage: string }[];
}

/** The part of the ledger that judging needs. Every method is safe to repeat. */
export interface JudgeStorePort {
  readonly addScenario: (scenario: Scenario) => Promise<{ readonly scenarioId: string }>;
  /** Null where no scenario has that id. */
  readonly addResult: (result: {
    readonly scenarioId: string;
    readonly response: string;
    readonly submitter: string | null;
  }) => Promise<{ readonly resultId: string } | null>;
  readonly findScenario: (scenarioId: string) => Promise<(Scenario & { readonly scenarioId: string }) | null>;
  readonly findResult: (resultId: string) => Promise<JudgedResult | null>;

  /** What is judged of a result, and whose budget pays; null where there is nothing to judge. */
  readonly findSource: (
    resultId: string,
  ) => Promise<{ readonly source: JudgedSource; readonly sweepId: string | null } | null>;
  /** Done trials of a sweep without a request of these judges, at most `limit`; makes their result rows. `share` 0 … 1 is drawn by cell id. */
  readonly listUnjudged: (
    sweepId: string,
    options: { readonly judge: string; readonly share: number; readonly limit: number; readonly after: string | null },
  ) => Promise<readonly { readonly resultId: string; readonly trialId: string }[]>;
  /** Adds requests that are not there yet; gives how many were. */
  readonly requestJudgements: (rows: readonly JudgeRequestRow[]) => Promise<number>;
  /** Requests in state `planned`, marked as queued: to deliver. */
  readonly takePlannedJudges: (limit: number) => Promise<readonly OpenTrial[]>;
  readonly listOpenJudges: (lane: string, pageSize: number) => AsyncIterable<readonly OpenTrial[]>;
  readonly listOpenJudgeLanes: (
    sweepId: string | null,
  ) => Promise<readonly { readonly lane: string; readonly open: number }[]>;
  readonly reclaimLostJudges: (isDead: (workerId: string) => boolean) => Promise<readonly OpenTrial[]>;

  readonly claimJudge: (delivery: {
    readonly trialId: string;
    readonly generation: number;
    readonly workerId: string;
    readonly leaseMs: number;
  }) => Promise<JudgeClaimResult>;
  /** The claim as it was when its call was handed to a batch, whether it still stands or not; null where nothing is to be judged. */
  readonly findJudgeClaim: (requestId: string, fence: number) => Promise<JudgeClaim | null>;
  readonly renewJudges: (
    claims: readonly { readonly trialId: string; readonly fence: number }[],
    leaseMs: number,
  ) => Promise<readonly string[]>;
  readonly releaseJudge: (requestId: string, fence: number) => Promise<void>;
  /** Charges a call to the sweep; `open` at once for a result that stands in none. */
  readonly openJudgeCall: (call: {
    readonly requestId: string;
    readonly fence: number;
    readonly attempt: number;
    readonly tryNumber: number;
    readonly workerId: string;
    readonly boundUsd: string | null;
  }) => Promise<RequestAdmission>;
  /**
   * Keeps a judgement with its raw reply and settles its call, in one statement. `late`: the fence is old; it is kept all
   * the same, and counts in no consensus.
   */
  readonly recordJudgement: (
    judgement: JudgementRecord,
    of: {
      readonly requestId: string;
      readonly fence: number;
      readonly attempt: number;
      readonly tryNumber: number;
      /** Its batch, and the id that it has had since its call was put there; absent for a live call. */
      readonly batch?: { readonly batchId: string; readonly judgementId: string };
    },
  ) => Promise<"recorded" | "late">;
  /** Keeps a judgement that no request asked for (the heuristic's). Once a result, scorer and input. */
  readonly addJudgement: (judgement: JudgementRecord) => Promise<void>;
  /** Ends a try without a judgement; books its call at `spentUsd`, null: at its bound. */
  readonly endJudge: (
    requestId: string,
    fence: number,
    end: JudgeEnd,
    call: { readonly attempt: number; readonly tryNumber: number; readonly spentUsd: string | null } | null,
  ) => Promise<"ended" | "lost">;
  readonly blockJudgeLane: (lane: string, outcome: Outcome, message: string) => Promise<number>;
  /** Lanes of judges with requests that a stopped vendor blocks; a spent budget does not count. */
  /** Moves what waits in a lane of a sweep's judges to another, after a change of its mode; gives what was moved. */
  readonly moveJudges: (sweepId: string, lane: string, to: string) => Promise<readonly OpenTrial[]>;
  readonly listBlockedJudgeLanes: () => Promise<readonly string[]>;
  readonly unblockJudges: (where: {
    readonly lane?: string;
    readonly sweepId?: string;
    /** Which; the blocked ones unless told. */
    readonly states?: readonly ("blocked" | "failed" | "cancelled")[];
  }) => Promise<readonly OpenTrial[]>;

  /** Requests of a sweep by state, and the failed ones by outcome with the first message. */
  readonly judgeProgress: (sweepId: string) => Promise<JudgeProgress>;
  readonly judgementsOfSweep: (
    sweepId: string,
    pageSize: number,
  ) => AsyncIterable<readonly { readonly trialId: string; readonly judgements: readonly StoredJudgement[] }[]>;
  /** The results of a gold set's items, in their order; made where they are missing. */
  readonly goldResults: (
    goldSetId: string,
    items: readonly { readonly scenario: Scenario; readonly response: string }[],
  ) => Promise<readonly string[]>;
  readonly judgementsOf: (resultIds: readonly string[]) => Promise<readonly StoredJudgement[]>;
  /** How many of these requests are not finished, and how many failed or are blocked. */
  readonly openJudgesOf: (
    requestKeys: readonly string[],
  ) => Promise<{ readonly open: number; readonly failed: number; readonly firstMessage: string }>;
  readonly addCalibration: (calibration: CalibrationRecord) => Promise<void>;
  /** The newest calibration of a judge on a test split; null before the first. */
  readonly findCalibration: (key: {
    readonly judgeModel: string;
    readonly promptHash: string;
    readonly rubricVersion: string;
  }) => Promise<(CalibrationRecord & { readonly createdAtMs: number }) | null>;
  /** How often the test split of a gold set was looked at. */
  readonly countLooks: (goldSetId: string) => Promise<number>;
}
