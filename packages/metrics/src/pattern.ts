import { isCorrect } from "./confidence-of-walk.ts";
import { isJudged, type Walk } from "./walk.ts";

/**
 * How confidence behaves around an error: **A** falls before or at it, deeply at or after it; **A-late** only after;
 * **B** stays; **B-loop** does not fall over repeats of one directed edge; `mixed` is anything else.
 */
export type ConfidencePattern = "A" | "A-late" | "B" | "B-loop" | "mixed" | "unclassifiable";

/** What pattern reading needs of an attempt. */
export interface PatternAttempt {
  /** 0 … 1; null where none was read. */
  readonly confidence: number | null;
  readonly correct: boolean;
  /** Names the directed edge that was tried; null where it cannot be told. */
  readonly edge: string | null;
  /** True where the move is legal and its directed edge was used before in this pass. */
  readonly repeats: boolean;
}

/** The limits of the patterns. Drops are negative differences of confidences. */
export interface PatternThresholds {
  /** A doubt before or at the error: at most this. */
  readonly doubtMax: number;
  /** A deep fall at or after the error: at most this. */
  readonly fallMax: number;
  /** Confidence that stayed: at least this. */
  readonly steadyMin: number;
  /** Confidences that must stand before the error. */
  readonly parsedBeforeMin: number;
  /** Right attempts with a confidence that must stand before the error. */
  readonly correctBeforeMin: number;
  /** An event is flat where all confidences that it is judged by lie within this range. */
  readonly flatRangeMax: number;
}

/** One event, in order of appearance. The differences are null where it is unclassifiable, and for a loop. */
export interface PatternEvent {
  /** An illegal attempt (or a run of them), or a run of legal moves over directed edges already used. */
  readonly kind: "error" | "loop";
  /** 0-based position of its first attempt. */
  readonly at: number;
  readonly pattern: ConfidencePattern;
  /** A flag beside the pattern: the confidences around it hardly differ, so they cannot tell anything. */
  readonly flat: boolean;
  readonly dPre: number | null;
  readonly dAt: number | null;
  readonly dPost: number | null;
}

/** SOURCE: spec section 6, pattern of an error event; `flatRangeMax` is ours (two printed per cent). */
export const patternThresholds: PatternThresholds = {
  doubtMax: -0.1,
  fallMax: -0.2,
  steadyMin: -0.05,
  parsedBeforeMin: 4,
  correctBeforeMin: 3,
  flatRangeMax: 0.02,
};

/** 0.75 - 0.95 is -0.19999999999999996 in binary: limits are met within this. */
const tolerance = 1e-9;

/**
 * Takes a walk's attempts for pattern reading: one for each line that was tried. Several moves of one line share its
 * confidence; the illegal one among them speaks for the line.
 */
export function patternAttempts(walk: Pick<Walk, "steps">): readonly PatternAttempt[] {
  return walk.steps
    .filter((step) => step.confidenceCounts && isJudged(step))
    .map((step) => ({
      confidence: step.confidence,
      correct: isCorrect(step, "legal"),
      edge: step.from === null || step.dir === null ? null : `${step.from.join()}${step.dir}`,
      repeats: step.repeatsEdge,
    }));
}

/** Finds and classifies every event of a trial. Linear in the attempts, apart from the repeats of an edge. */
export function classifyPatterns(
  attempts: readonly PatternAttempt[],
  thresholds: PatternThresholds = patternThresholds,
): readonly PatternEvent[] {
  const events: PatternEvent[] = [];
  const parsed: number[] = [];
  const correct: number[] = [];
  const uses = new Map<string, number[]>();
  let running: "error" | "loop" | null = null;
  let loop: { at: number; edges: Set<string> } | null = null;
  const closeLoop = (): void => {
    if (loop !== null) events.push(loopEvent(loop, uses, thresholds));
    loop = null;
  };

  attempts.forEach((attempt, at) => {
    const kind = attempt.correct ? (attempt.repeats ? "loop" : null) : "error";
    if (kind !== "loop") closeLoop();
    if (attempt.edge !== null) {
      // A legal edge that is no repeat starts afresh: what an earlier pass said about it is another story.
      const known = attempt.correct && !attempt.repeats ? [] : (uses.get(attempt.edge) ?? []);
      if (attempt.confidence !== null) known.push(attempt.confidence);
      uses.set(attempt.edge, known);
    }
    if (kind === "loop" && attempt.edge !== null) {
      loop ??= { at, edges: new Set() };
      loop.edges.add(attempt.edge);
    }
    if (kind === "error" && running !== "error") {
      const edgeUses = attempt.edge === null ? [] : (uses.get(attempt.edge) ?? []);
      const next = attempts[at + 1]?.confidence ?? null;
      events.push(errorEvent(at, attempt.confidence, next, { parsed, correct, edgeUses }, thresholds));
    }
    running = kind;
    if (attempt.confidence !== null) {
      parsed.push(attempt.confidence);
      if (attempt.correct) correct.push(attempt.confidence);
    }
  });
  closeLoop();
  return events.sort((one, other) => one.at - other.at);
}

interface Before {
  /** Confidences before the event, in order. */
  readonly parsed: readonly number[];
  /** Those of right attempts. */
  readonly correct: readonly number[];
  /** Those of all uses of the event's directed edge, this one included. */
  readonly edgeUses: readonly number[];
}

function errorEvent(
  at: number,
  confidence: number | null,
  next: number | null,
  before: Before,
  thresholds: PatternThresholds,
): PatternEvent {
  const { parsed, correct } = before;
  const enough = parsed.length >= thresholds.parsedBeforeMin && correct.length >= thresholds.correctBeforeMin;
  if (confidence === null || !enough) {
    return { kind: "error", at, pattern: "unclassifiable", flat: false, dPre: null, dAt: null, dPost: null };
  }
  const base = median(correct.slice(-3));
  const dPre = (parsed.at(-1) ?? 0) - median(parsed.slice(-4, -1));
  const dAt = confidence - base;
  const dPost = next === null ? dAt : next - base;
  const judgedBy = [...parsed.slice(-4), ...correct.slice(-3), confidence, next ?? confidence];
  const flat = Math.max(...judgedBy) - Math.min(...judgedBy) <= thresholds.flatRangeMax + tolerance;
  return { kind: "error", at, pattern: patternOf({ dPre, dAt, dPost }, before, thresholds), flat, dPre, dAt, dPost };
}

function patternOf(
  { dPre, dAt, dPost }: { readonly dPre: number; readonly dAt: number; readonly dPost: number },
  { edgeUses }: Before,
  { doubtMax, fallMax, steadyMin }: PatternThresholds,
): ConfidencePattern {
  const atMost = (value: number, limit: number): boolean => value <= limit + tolerance;
  const doubted = atMost(dPre, doubtMax) || atMost(dAt, doubtMax);
  if (doubted && atMost(Math.min(dAt, dPost), fallMax)) return "A";
  if (!doubted && atMost(dPost, fallMax)) return "A-late";
  if (dAt >= steadyMin - tolerance && dPost >= steadyMin - tolerance) return "B";
  const slope = pooledSlope([edgeUses]);
  return slope !== null && slope >= -tolerance ? "B-loop" : "mixed";
}

function loopEvent(
  { at, edges }: { readonly at: number; readonly edges: ReadonlySet<string> },
  uses: ReadonlyMap<string, readonly number[]>,
  { flatRangeMax }: PatternThresholds,
): PatternEvent {
  const repeated = [...edges].map((edge) => uses.get(edge) ?? []).filter((confidences) => confidences.length >= 2);
  const slope = pooledSlope(repeated);
  const pattern = slope === null ? "unclassifiable" : slope >= -tolerance ? "B-loop" : "mixed";
  const all = repeated.flat();
  const flat = slope !== null && Math.max(...all) - Math.min(...all) <= flatRangeMax + tolerance;
  return { kind: "loop", at, pattern, flat, dPre: null, dAt: null, dPost: null };
}

/** Least-squares slope of confidence over the uses of an edge, pooled within edges; null where no edge has two. */
function pooledSlope(usesOfEdges: readonly (readonly number[])[]): number | null {
  let covariance = 0;
  let variance = 0;
  for (const confidences of usesOfEdges) {
    const middle = (confidences.length - 1) / 2;
    confidences.forEach((confidence, use) => {
      covariance += (use - middle) * confidence;
      variance += (use - middle) ** 2;
    });
  }
  return variance === 0 ? null : covariance / variance;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
