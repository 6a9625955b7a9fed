import type { ProfileName, ProfileScores } from "@hallumaze/metrics";
import type { CellPlan } from "@hallumaze/sweep";

/** One trial as experiments read it. The ledger's and the reports' rows fit it; an imported trial can be brought into it. */
export interface TrialSource {
  /** The model's name in its sweep. */
  readonly alias: string;
  readonly plan: Pick<
    CellPlan,
    "generator" | "placement" | "seed" | "size" | "group" | "mirage" | "language" | "confidence" | "repeat"
  >;
  /** `done` has an answer; every other state is an answer that is missing. */
  readonly state: string;
  readonly outcome: string | null;
  /** By profile; one that is absent was not computed (an imported trial has `published` only). */
  readonly scores: Readonly<Partial<Record<ProfileName, ProfileScores>>>;
  /** The stored summary of reading, walk and Ariadne record; null where there is none. */
  readonly readingJson: string | null;
  /** Absent or null where no judge was asked. */
  readonly judge?: { readonly level: 1 | 2 | 3 | null } | null;
}

/**
 * What kind of answer a row holds: `full`; `cutOff`, scored on the part that is there; `nonAnswer`, the model's own
 * failure to answer, which counts as SR 0 and MEI 0; `missing`, lost to infrastructure or not run, in no mean.
 *
 * SOURCE: spec/benchmark.md section 4, item 11.
 */
export type AnswerKind = "full" | "cutOff" | "nonAnswer" | "missing";

/** Tells what kind of answer a row holds. */
export function answerKind({ state, outcome, scores }: Pick<TrialSource, "state" | "outcome" | "scores">): AnswerKind {
  const known = scores.seed ?? scores.robust ?? scores.published;
  if (state !== "done" || known === undefined) return "missing";
  switch (outcome) {
    case "ok":
      return "full";
    case "truncated":
    case "truncated_in_reasoning":
      // BRS is null exactly where no attempt was made: a cut-off without a walk is a non-answer.
      return known.brs === null && known.sr === 0 ? "nonAnswer" : "cutOff";
    case "empty":
    case "refused":
    case "filtered":
    case "parse_failed":
      return "nonAnswer";
    default:
      return "missing";
  }
}
