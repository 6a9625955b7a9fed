import type { ChatRequest, ChatResult, Usage } from "@hallumaze/engine";
import { canonicalJson, sha256Hex } from "@hallumaze/foundation";
import {
  heuristicLevel,
  type Judged,
  type JudgeRequestText,
  type Precheck,
  precheck,
  rubricVersion,
  sameFamily,
  type VerdictReading,
} from "@hallumaze/judge";

import type { JudgeSettings } from "./judge-ports.ts";
import type { JudgeClaim, JudgementRecord, JudgePlan } from "./ports.ts";

/** What the seed calls a verdict of a judge. SOURCE: seed document on the judge, section 3. */
export const judgeName = "LLM-JUDGE-v1";
/** What the seed calls a verdict of the keyword heuristic. */
export const heuristicName = "HEURISTIC";

/** The rules of the heuristic; a changed one needs a new name. */
const heuristicVersion = "heuristic-1";

const noUsage: Usage = { inputTokens: null, outputTokens: null, cachedTokens: null, reasoningTokens: null };

/** Hash of what is judged: the same scenario, response and facts give the same. */
export function inputHash({ scenario, response, facts, truncated }: Judged): string {
  const { prompt, expectedL3, criteriaL1, criteriaL2 } = scenario;
  const plainFacts = facts === null ? null : { ...facts };
  return sha256Hex(canonicalJson([prompt, expectedL3, criteriaL1, criteriaL2, response, plainFacts, truncated]));
}

type Identity = Pick<
  JudgementRecord,
  "resultId" | "modelAsked" | "promptVersion" | "rubricVersion" | "paramsJson" | "round" | "repeat"
>;

/** What a judge is asked with beside the text, as it is kept with every judgement: tells apart two askings of one model. */
export function paramsJsonOf({ judge, generation }: Pick<JudgePlan, "judge" | "generation">): string {
  const { temperature, maxTokens, baseUrl, params } = judge;
  return JSON.stringify({ temperature, maxTokens, baseUrl, ...params, generation });
}

function identityOf(claim: JudgeClaim): Identity {
  const { judge, promptVersion, round, repeat } = claim.plan;
  return {
    resultId: claim.resultId,
    modelAsked: `${judge.provider}/${judge.model}`,
    promptVersion,
    rubricVersion,
    paramsJson: paramsJsonOf(claim.plan),
    round,
    repeat,
  };
}

const nothingSaid = {
  reasoning: null,
  counterArgument: null,
  confidence: null,
  evidence: [],
  modelServed: null,
  requestJson: null,
  rawBody: null,
  usage: noUsage,
  costUsd: null,
  priceDate: null,
  httpMs: null,
} as const;

/** A judgement that needed no call. */
export function precheckJudgement(
  claim: JudgeClaim,
  judged: Judged,
  checked: Exclude<Precheck, { readonly kind: "ask" }>,
): JudgementRecord {
  const isDecided = checked.kind === "decided";
  return {
    ...identityOf(claim),
    ...nothingSaid,
    scoredBy: judgeName,
    decidedBy: "precheck",
    status: isDecided ? "verdict" : "unscored",
    level: isDecided ? checked.level : null,
    unscoredReason: isDecided ? null : checked.reason,
    reasoning: isDecided ? `decided before any call: ${checked.reason}` : null,
    flags: checked.flags,
    fallback: false,
    provisional: false,
    promptHash: "",
    inputHash: inputHash(judged),
    attempt: 1,
  };
}

/** A judgement from a judge's reply, readable or not, with the raw reply. */
export function judgementOf(given: {
  readonly claim: JudgeClaim;
  readonly judged: Judged;
  readonly request: Pick<JudgeRequestText, "promptHash">;
  readonly sent: ChatRequest;
  readonly attempt: number;
  readonly result: ChatResult;
  readonly reading: VerdictReading;
  readonly settings: JudgeSettings;
}): JudgementRecord {
  const { claim, judged, request, sent, attempt, result, reading, settings } = given;
  const cost = settings.costOf(result.usage);
  const verdict = reading.kind === "verdict" ? reading.verdict : null;
  const { provider: _provider, keyEnv: _keyEnv, ...kept } = sent;
  const noticed = [
    ...precheck(judged).flags,
    ...(reading.kind === "verdict" ? reading.flags : []),
    ...(attempt > 1 ? (["formatRetry"] as const) : []),
    ...(claim.submitterModel !== null &&
    sameFamily(`${claim.plan.judge.provider}/${claim.plan.judge.model}`, claim.submitterModel)
      ? (["sameFamily"] as const)
      : []),
  ];
  return {
    ...identityOf(claim),
    scoredBy: judgeName,
    decidedBy: "judge",
    status: verdict === null ? "unscored" : "verdict",
    level: verdict?.level ?? null,
    unscoredReason: reading.kind === "unreadable" ? `${reading.reason}: ${reading.message}` : null,
    reasoning: verdict?.reasoning ?? null,
    counterArgument: verdict?.counterArgument ?? null,
    confidence: verdict?.confidence ?? null,
    evidence: verdict?.evidence ?? [],
    flags: [...new Set(noticed)],
    fallback: false,
    provisional: false,
    modelServed: result.servedModel,
    promptHash: request.promptHash,
    inputHash: inputHash(judged),
    attempt,
    requestJson: JSON.stringify(kept),
    rawBody: result.rawBody,
    usage: result.usage,
    costUsd: cost?.usd ?? null,
    priceDate: cost?.priceDate ?? null,
    httpMs: result.httpMs,
  };
}

/** What the heuristic says: while the gate is shut, or to bridge an outage, which then stands beside it. */
export function heuristicJudgement(
  of: { readonly resultId: string },
  judged: Judged,
  options: { readonly outage: string | null },
): JudgementRecord {
  const { level, reasoning } = heuristicLevel(judged);
  return {
    ...nothingSaid,
    resultId: of.resultId,
    scoredBy: heuristicName,
    decidedBy: "heuristic",
    status: "verdict",
    level,
    unscoredReason: null,
    reasoning: options.outage === null ? reasoning : `${reasoning} Bridges an outage of the judge (${options.outage}).`,
    flags: [],
    fallback: options.outage !== null,
    provisional: options.outage !== null,
    modelAsked: heuristicName,
    promptVersion: heuristicVersion,
    promptHash: options.outage === null ? "" : "fallback",
    rubricVersion,
    paramsJson: "{}",
    inputHash: inputHash(judged),
    round: "first",
    repeat: 0,
    attempt: 1,
  };
}
