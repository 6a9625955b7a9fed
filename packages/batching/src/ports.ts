import type {
  BatchStanding,
  ChatRequest,
  ChatResult,
  Claim,
  FailureOutcome,
  OpenTrial,
  RequestAdmission,
} from "@hallumaze/engine";

/** How far a batch is; each step is committed before the next depends on it. */
export type BatchState = "gathering" | "sealed" | "submitting" | "running" | "done";

/** Whose batch it is: what a vendor needs to know of it. */
export interface BatchAddress {
  readonly batchId: string;
  readonly provider: string;
  readonly model: string;
  /** Name of the variable with its key; null for the provider's own. */
  readonly keyEnv: string | null;
  /** Headers that all its requests share. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A batch as the worker that drives it holds it. */
export interface Batch extends BatchAddress {
  readonly lane: string;
  /** Where its trials are asked live if it is late or refused; null: nowhere. */
  readonly liveLane: string | null;
  /** It is not waited for any longer: what has not run goes live. */
  readonly isLate: boolean;
  readonly state: BatchState;
  /** Null before the vendor's answer. */
  readonly vendorId: string | null;
  /** Taken for ours by time and size, by release 0.4.0: its custom ids have not shown yet. */
  readonly isGuess: boolean;
  /** Vendor's ids that were taken for it and turned out to be others'. */
  readonly notOurs: readonly string[];
  readonly rows: number;
  readonly looks: number;
  /** Looks in a row at which the vendor did not know it, or could not give its results. */
  readonly misses: number;
  readonly halvings: number;
  /** Rises with every taking: a write that carries an older one changes nothing. */
  readonly fence: number;
  /** Start of the last submission, milliseconds since the Unix epoch by the ledger's clock, and how long ago; null before. */
  readonly submitted: { readonly atMs: number; readonly agoMs: number } | null;
  /** Whoever drove it went away without giving it back. */
  readonly isOrphan: boolean;
}

/** One request on its way into a batch. */
export interface BatchDraft {
  readonly batchId: string;
  readonly position: number;
  /** The trial, or the request to a judge. */
  readonly subjectId: string;
  readonly fence: number;
  /** The trial's turn, or the judgement's attempt. */
  readonly turn: number;
  readonly tryNumber: number;
  /** The request without its provider, as JSON text. */
  readonly requestJson: string;
  readonly queueMs: number | null;
  /** Most that it can cost, exact decimal US dollars; null where no price is known. */
  readonly boundUsd: string | null;
  /** What a judge's reply is read with beside its request, as JSON text; null for a trial's. */
  readonly readingJson: string | null;
}

/** A row of a batch that has not landed, with what its record needs of the trial. */
export interface BatchRow extends BatchDraft {
  /** The id of its exchange, or of its judgement, from the start. */
  readonly exchangeId: string;
  /** Null for a request to a judge. */
  readonly trial: Pick<Claim, "sweepId" | "alias" | "plan"> | null;
}

/** A row that asks a trial's model. */
export type TrialRow = BatchRow & { readonly trial: NonNullable<BatchRow["trial"]> };

/** How the rows of a batch ended, by kind: `reply` or the failure's outcome. */
export interface BatchReckoning {
  readonly rows: Readonly<Record<string, number>>;
  /** Rows that the results did not hold. */
  readonly missing: number;
  /** Results with ids that are not the batch's, and results that came twice. */
  readonly unknown: number;
  readonly repeated: number;
}

/** How many trials of a model in a lane have no end yet. */
export interface OpenCount {
  readonly sweepId: string;
  readonly alias: string;
  readonly lane: string;
  readonly trials: number;
}

/** The batches in the ledger. Every method is safe to repeat. */
export interface BatchStorePort {
  /** Makes an empty batch that `workerId` gathers in. */
  readonly openBatch: (
    batch: BatchAddress & {
      readonly lane: string;
      readonly liveLane: string | null;
      readonly workerId: string;
      readonly leaseMs: number;
    },
  ) => Promise<void>;
  /** Writes a row, reserves its money and prolongs its claim, in one statement, or none of it. */
  readonly addToBatch: (draft: BatchDraft) => Promise<RequestAdmission>;
  /** Closes a batch that `workerId` gathers in; an empty one goes. Gives its rows. */
  readonly sealBatch: (batchId: string, workerId: string) => Promise<number>;
  /** Takes a batch that is due and that nobody drives; null where there is none. */
  readonly takeBatch: (options: {
    readonly workerId: string;
    readonly leaseMs: number;
    readonly rehearsal: boolean;
    readonly isDead: (workerId: string) => boolean;
  }) => Promise<Batch | null>;
  /** Prolongs the leases of all batches that `workerId` gathers in or drives. */
  readonly renewBatches: (workerId: string, leaseMs: number) => Promise<void>;
  /** Sealed → submitting; false where it is not ours any more. */
  readonly beginSubmission: (batch: Batch) => Promise<boolean>;
  /** Submitting → running. `taken`: the id is another batch's; `lost`: not ours any more. */
  readonly bindBatch: (batch: Batch, vendorId: string) => Promise<"bound" | "taken" | "lost">;
  /** A guess turned out to be others': running → submitting. */
  readonly unbindBatch: (batch: Batch) => Promise<void>;
  /** Keeps that a vendor's batch is another's, as its custom ids say. */
  readonly ruleOut: (batch: Batch, vendorId: string) => Promise<void>;
  /** The vendor refused what it had taken: running → submitting, and still ours. */
  readonly rejectBatch: (batch: Batch) => Promise<void>;
  /** Gives a batch back for a while. */
  readonly releaseBatch: (
    batch: Batch,
    change: {
      readonly afterMs: number;
      readonly message?: string;
      readonly state?: "sealed" | "submitting";
      /** A look was taken: with what it asked for, or in vain. */
      readonly looked?: "well" | "in-vain";
    },
  ) => Promise<void>;
  /** Rows that have not landed, by position, above `after`. */
  readonly listRows: (batchId: string, after: number, limit: number) => Promise<readonly BatchRow[]>;
  /** Of these rows, those that have not landed. */
  readonly findRows: (batchId: string, positions: readonly number[]) => Promise<readonly BatchRow[]>;
  /** Marks rows as landed and gives their claims back. */
  readonly landRows: (batchId: string, positions: readonly number[]) => Promise<void>;
  readonly finishBatch: (batch: Batch, reckoning: BatchReckoning) => Promise<void>;
  /** Turns a batch that was refused into two sealed ones. */
  readonly halveBatch: (batch: Batch) => Promise<void>;
  /** Gives back all that a batch holds, unspent: nothing of it was run. `live`: to be asked live. Gives what goes there. */
  readonly dropBatch: (
    batch: Pick<Batch, "batchId">,
    to?: "live",
  ) => Promise<{ readonly rows: number; readonly live: readonly OpenTrial[] }>;
  /** Gives rows back, unspent, to be asked live: a late batch did not run them. Gives them. */
  readonly returnRows: (batchId: string, positions: readonly number[]) => Promise<readonly OpenTrial[]>;
  /**
   * Moves what waits of some models in a batch lane of a sweep to its live lane: what has failed there before, and where
   * `isLate` all of it; their batches are then late too. What went live stays there. Gives what goes live.
   */
  readonly moveLive: (
    sweepId: string,
    lane: string,
    to: string,
    which: { readonly aliases: readonly string[]; readonly isLate: boolean },
  ) => Promise<readonly OpenTrial[]>;
  /** Trials in these lanes that have no end yet and are not held up, by sweep, model and lane. */
  readonly countOpen: (lanes: readonly string[]) => Promise<readonly OpenCount[]>;
  /** How the batches of a sweep stand, or all where it is null, by vendor; none where nothing is open. */
  readonly batchStandings: (sweepId: string | null) => Promise<readonly BatchStanding[]>;
  /** Of these ids of a vendor's, those that stand in the ledger. */
  readonly knownVendorIds: (provider: string, ids: readonly string[]) => Promise<readonly string[]>;
}

/** Bounds of one batch. */
export interface BatchLimits {
  readonly rows: number;
  /** Of the requests as they go out. */
  readonly bytes: number;
  /** Of the results, as the requests' token limits let them grow. */
  readonly replyBytes: number;
}

/** A request as it stands in a batch. */
export interface BatchBody {
  /** JSON text. */
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Requests of different kinds cannot share a batch: which of the vendor's interfaces it is for. */
  readonly variant: string;
}

/** Why a vendor took no batch, or said nothing of one. */
export interface BatchRefusal {
  readonly outcome: FailureOutcome;
  readonly message: string;
  readonly retryAfterMs: number | null;
  /** Set where the whole lane must stop: wrong key, unknown model, no credit. `resumeAfterMs` null: until told. */
  readonly park: { readonly reason: string; readonly resumeAfterMs: number | null } | null;
}

/** What became of a submission. */
export type Submission =
  | { readonly kind: "accepted"; readonly vendorId: string }
  /** Nothing was made of it. */
  | ({ readonly kind: "refused"; readonly isTooLarge: boolean } & BatchRefusal)
  /** The answer was lost: it may be there. */
  | { readonly kind: "unknown"; readonly message: string };

/** One result, in whatever order they come. */
export interface BatchResult {
  /** Null where it has none. */
  readonly customId: string | null;
  /** Reads it as the live call's reply is read. `turnaroundMs`: from submission to now. */
  readonly read: (request: ChatRequest, turnaroundMs: number) => ChatResult;
}

/** What the vendor says of a batch. */
export type BatchLook =
  | { readonly kind: "running" }
  | { readonly kind: "ended" }
  /** Taken first and refused as a whole then: nothing of it was run. `lines`: 0-based rows that it blames; may be none. */
  | ({ readonly kind: "refused"; readonly isTooLarge: boolean; readonly lines: readonly number[] } & BatchRefusal)
  /** Nothing of that id: another key's, deleted. */
  | { readonly kind: "unknown"; readonly message: string }
  | ({ readonly kind: "unreachable" } & BatchRefusal);

/** The results of a batch that has ended. */
export type BatchResults =
  | {
      readonly kind: "rows";
      readonly results: Iterable<BatchResult>;
      /** What became of the rows that the results do not hold, where the vendor says so; absent: nobody knows. */
      readonly rest?: { readonly outcome: "overloaded" | "cancelled"; readonly message: string };
    }
  /** Past their retention, or deleted. */
  | { readonly kind: "gone"; readonly message: string }
  | ({ readonly kind: "unreachable" } & BatchRefusal);

/** What a vendor has that may be a lost submission. */
export interface FoundBatches {
  readonly kind: "found";
  /** Batches that carry our id: one is it. */
  readonly named: readonly string[];
  /** Batches of its time and size, of a vendor that lets us name none: their custom ids tell, once they have ended. */
  readonly alike: readonly { readonly vendorId: string; readonly hasEnded: boolean }[];
  /** The list shows batches that were surely made after it: what was made before them is in it. */
  readonly isPast: boolean;
}

/** The vendors' batch interfaces. Rejects only on an aborted signal or a broken invariant. */
export interface BatchVendorPort {
  readonly limitsOf: (provider: string) => BatchLimits;
  readonly draft: (request: ChatRequest) => BatchBody;
  readonly submit: (
    batch: BatchAddress,
    rows: readonly { readonly customId: string; readonly body: string }[],
    signal: AbortSignal,
  ) => Promise<Submission>;
  /** Batches that may be a submission that was begun then and lost. */
  readonly find: (
    batch: BatchAddress & { readonly rows: number },
    sinceMs: number,
    signal: AbortSignal,
  ) => Promise<FoundBatches | ({ readonly kind: "unreachable" } & BatchRefusal)>;
  readonly look: (batch: BatchAddress, vendorId: string, signal: AbortSignal) => Promise<BatchLook>;
  /** Asks that nothing further of it be run; what was run is still told. Safe to repeat. */
  readonly cancel: (batch: BatchAddress, vendorId: string, signal: AbortSignal) => Promise<void>;
  readonly results: (batch: BatchAddress, vendorId: string, signal: AbortSignal) => Promise<BatchResults>;
}
