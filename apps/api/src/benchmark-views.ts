import type {
  AutoScoreView,
  FitnessView,
  JudgementView,
  LevelName,
  ResultView,
  ScenarioView,
  VerdictView,
} from "@hallumaze/contract";
import type { Fitness, JudgeIdentity, Level, Scenario } from "@hallumaze/judge";
import type { AutoScoreAnswer, DefaultVerdict, GateState, JudgedResult, StoredJudgement } from "@hallumaze/judging";

/** Path at which a result is read. */
export function pollPath(resultId: string): string {
  return `/api/benchmark/results/${resultId}`;
}

/** A scenario as it is served. */
export function viewScenario({
  scenarioId,
  prompt,
  expectedL3,
  criteriaL1,
  criteriaL2,
}: Scenario & { readonly scenarioId: string }): ScenarioView {
  return {
    scenario_id: scenarioId,
    prompt,
    expected_l3: expectedL3,
    criteria_l1: criteriaL1,
    criteria_l2: criteriaL2,
  };
}

/** A verdict as it is served. The level, its reason and the confidence are of all opinions, the words of one judgement. */
export function viewVerdict(verdict: DefaultVerdict): VerdictView {
  const { basis } = verdict;
  const words = basis === null ? noWords : viewWords(basis);
  return {
    ...words,
    level: levelOf(verdict.level),
    unscored_reason: verdict.unscoredReason,
    confidence: verdict.confidence,
    fallback: verdict.fallback,
    provisional: verdict.provisional,
    spread: verdict.spread,
    needs_human: verdict.needsHuman,
  };
}

/** An answer with a verdict as it is served. */
export function viewAutoScore(answer: Extract<AutoScoreAnswer, { readonly verdict: DefaultVerdict }>): AutoScoreView {
  const { result, gate, verdict } = answer;
  return {
    result_id: result.resultId,
    ...viewVerdict(verdict),
    gate: viewGate(gate),
    dry_run: answer.kind === "dryRun",
    ...(answer.kind === "dryRun" ? { default: answer.standing === null ? null : viewVerdict(answer.standing) } : {}),
    poll: pollPath(result.resultId),
  };
}

/** A result with all its judgements as it is served. Replies and requests stay in the ledger. */
export function viewResult(result: JudgedResult, gate: GateState, standing: DefaultVerdict | null): ResultView {
  const { resultId, trialId, submitter, scenario, response, createdAtMs, judgements, openRequests } = result;
  return {
    result_id: resultId,
    trial_id: trialId,
    submitter,
    scenario: scenario === null ? null : viewScenario(scenario),
    response,
    created_at: timeOf(createdAtMs),
    default_verdict: standing === null ? null : viewVerdict(standing),
    gate: viewGate(gate),
    open_requests: openRequests,
    judgements: judgements.map(viewJudgement),
  };
}

/** A corrected mean as it is served. */
export function viewFitness(fitness: Extract<Fitness, { kind: "fitness" }>, judge: JudgeIdentity): FitnessView {
  const { method, mean, lo, hi, judgeMean, n, missing, goldItems, undefinedResamples, shares, clipped } = fitness;
  return {
    method,
    mean,
    lo,
    hi,
    judge_mean: judgeMean,
    n,
    missing,
    gold_items: goldItems,
    undefined_resamples: undefinedResamples,
    shares: shares === null ? null : [...shares],
    clipped,
    judge: judge.judgeModel,
    prompt_version: judge.promptVersion,
    rubric_version: judge.rubricVersion,
  };
}

const noWords = {
  reasoning: null,
  counter_argument: null,
  scored_by: null,
  decided_by: null,
  model: null,
  prompt_version: null,
  prompt_hash: null,
  rubric_version: null,
  evidence: [],
  flags: [],
};

function viewWords(judgement: StoredJudgement) {
  const { decidedBy, modelServed, modelAsked, promptHash } = judgement;
  return {
    reasoning: judgement.reasoning,
    counter_argument: judgement.counterArgument,
    scored_by: judgement.scoredBy,
    decided_by: decidedBy,
    model: decidedBy === "judge" ? (modelServed ?? modelAsked) : null,
    prompt_version: judgement.promptVersion,
    // What no prompt was sent for has no hash of one.
    prompt_hash: decidedBy === "judge" ? promptHash : null,
    rubric_version: judgement.rubricVersion,
    evidence: judgement.evidence.map((one) => ({ ...one })),
    flags: [...judgement.flags],
  };
}

function viewJudgement(judgement: StoredJudgement): JudgementView {
  const { round, repeat, attempt, usage, fallback, provisional, confidence } = judgement;
  return {
    judgement_id: judgement.judgementId,
    created_at: timeOf(judgement.createdAtMs),
    ...viewWords(judgement),
    level: levelOf(judgement.level),
    unscored_reason: judgement.unscoredReason,
    confidence,
    fallback,
    provisional,
    model_asked: judgement.modelAsked,
    round,
    repeat,
    attempt,
    input_hash: judgement.inputHash,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cost_usd: judgement.costUsd,
    latency_ms: judgement.httpMs,
  };
}

function viewGate({ open, refusals, calibratedAtMs }: GateState) {
  return { open, refusals: [...refusals], calibrated_at: calibratedAtMs === null ? null : timeOf(calibratedAtMs) };
}

function levelOf(level: Level | null): LevelName | null {
  return level === null ? null : `L${level}`;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
