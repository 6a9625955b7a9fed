import { readConversation } from "@hallumaze/ariadne";
import type { ExchangeView, ProfileView, ReplyView, TrialJudgement, TrialView } from "@hallumaze/contract";
import { analyseWalk, conversationOf, prepareTrial, type ReplyAnalysis } from "@hallumaze/engine";
import { type StoredJudgement, trialLevel } from "@hallumaze/judging";
import type { Maze } from "@hallumaze/maze";
import { type ProfileName, profileVersions, type ProfileScores } from "@hallumaze/metrics";
import { type CellPlan, parseStoredSpec } from "@hallumaze/sweep";

import { fillFormulas } from "./fill-formulas.ts";
import { locateQuote } from "./locate-quotes.ts";
import type { StoredExchange, TrialDossier } from "./ports.ts";
import { viewMaze } from "./view-maze.ts";
import { type ReadWalk, viewReading, viewWalk } from "./view-walk.ts";

/** Profiles in the order in which they are shown. */
const profileNames: readonly ProfileName[] = ["robust", "seed", "published"];

/**
 * A trial as it is looked at: its replies are read, walked and scored anew by this program's rules, so that every place in
 * them is known; `isStored` says whether the ledger's numbers are the same. Pure.
 */
export function viewTrial(trial: TrialDossier, judgements: readonly StoredJudgement[]): TrialView {
  const { plan, conversation } = trial;
  const { maze, prompt } = prepareTrial(plan);
  const isWhole = conversation.length > 0 && conversation.every(({ isPruned }) => !isPruned);
  const read = isWhole ? readReplies(plan, maze, conversation, trial.shadow) : null;
  const { judge } = parseStoredSpec(trial.specJson);
  const texts = conversation.map(({ text }) => text ?? "");
  const level = judge === null ? null : trialLevel(judgements, judge);
  return {
    trialId: trial.trialId,
    kind: "model",
    sweep: trial.sweep,
    model: trial.alias,
    provider: plan.provider,
    ...conditionsOf(plan),
    temperature: plan.temperature,
    maxTokens: plan.maxTokens,
    params: { ...plan.params },
    promptVersion: plan.promptVersion,
    rehearsal: plan.rehearsal,
    state: trial.state,
    outcome: trial.outcome,
    message: trial.message,
    tries: trial.tries,
    isReused: trial.isReused,
    createdAtMs: trial.createdAtMs,
    finishedAtMs: trial.finishedAtMs,
    costUsd: trial.costUsd,
    maze: viewMaze(maze, plan),
    prompt: { system: prompt.system, user: prompt.user },
    replies: conversation.map((reply, at) => viewReply(plan, reply, read?.turns[at] ?? null)),
    reading: read === null ? null : viewReading(read),
    walk: read === null ? null : viewWalk(read),
    profiles: viewProfiles(read, plan, trial.scores),
    level: level === null ? null : { level: level.level, unscoredReason: level.unscoredReason, spread: level.spread },
    judgements: judgements.map((judgement) => viewJudgement(judgement, texts)),
    exchanges: trial.exchanges.map((exchange, at) => viewExchange(exchange, at, conversation)),
  };
}

/** A conversation that was read, walked and scored anew. */
export interface ReadReplies extends ReadWalk {
  readonly turns: ReturnType<typeof readConversation>["turns"];
  readonly analysis: ReplyAnalysis;
}

/** Reads, walks and scores the replies of a plan, at least one. */
export function readReplies(
  plan: CellPlan,
  maze: Maze,
  replies: readonly Pick<StoredExchange, "text" | "finishReason">[],
  shadow: boolean,
): ReadReplies {
  const said = replies.map(({ text, finishReason }) => ({ text: text ?? "", finishReason }));
  const { reading, walk, stepsOf, turns } = readConversation(conversationOf(plan, maze, shadow), said, "strict");
  // The published rules read one text: group A's first answer, else the answer that stands last.
  const text = (plan.group === "A" ? said[0] : said.at(-1))?.text ?? "";
  const analysis = analyseWalk(maze, { reading, walk, text, confidenceAsked: plan.confidence });
  return { maze, reading, walk, stepsOf, turns, analysis };
}

/** The profiles with their formulas filled in; without a text to read, what the ledger has, and no formula. */
export function viewProfiles(
  read: ReadReplies | null,
  plan: Pick<CellPlan, "confidence">,
  stored: Readonly<Partial<Record<ProfileName, ProfileScores>>>,
): ProfileView[] {
  return profileNames.flatMap((profile): ProfileView[] => {
    const kept = stored[profile];
    const scores = read?.analysis.profiles[profile];
    if (read === null || scores === undefined) {
      return kept === undefined
        ? []
        : [{ profile, version: profileVersions[profile], isStored: true, formulas: storedOnly(kept) }];
    }
    const formulas = fillFormulas(profile, { ...read, scores, confidenceAsked: plan.confidence });
    return [{ profile, version: profileVersions[profile], isStored: sameScores(kept, scores), formulas }];
  });
}

const scoreNames = ["sr", "hc", "fhr", "bt", "lt", "hrr", "mei", "ce", "brs", "score"] as const;

function sameScores(kept: ProfileScores | undefined, scores: ProfileScores): boolean {
  return kept !== undefined && scoreNames.every((name) => kept[name] === scores[name]);
}

function storedOnly(scores: ProfileScores): ProfileView["formulas"] {
  const note = "The reply's text was pruned: the number is the ledger's.";
  return scoreNames.map((metric) => ({
    metric,
    formula: "",
    filled: null,
    value: scores[metric],
    better: "neither" as const,
    note,
  }));
}

/** The maze's seed and the conditions of a plan. */
export function conditionsOf(plan: CellPlan) {
  const { seed, size, group, mirage, language, confidence, repeat } = plan;
  return { seed, size, group, mirage, language, confidence, repeat };
}

function viewReply(plan: CellPlan, reply: StoredExchange, turn: ReadReplies["turns"][number]): ReplyView {
  return {
    turn: reply.turn,
    said: turn === null ? null : { kind: turn.kind, text: turn.text, triggers: [...turn.triggers] },
    text: reply.text ?? "",
    isPruned: reply.isPruned,
    finishReason: reply.finishReason,
    isScored: plan.group !== "A" || reply.turn === 0,
  };
}

function viewJudgement(judgement: StoredJudgement, texts: readonly string[]): TrialJudgement {
  const { judgementId, createdAtMs, level, unscoredReason, confidence, reasoning, counterArgument } = judgement;
  const { scoredBy, decidedBy, modelAsked, modelServed, promptVersion, rubricVersion } = judgement;
  const { round, repeat, attempt, costUsd, httpMs } = judgement;
  return {
    judgementId,
    createdAtMs,
    level,
    unscoredReason,
    confidence,
    reasoning,
    counterArgument,
    evidence: judgement.evidence.map(({ quote, claim }) => ({ quote, claim, span: locateQuote(quote, texts) })),
    flags: [...judgement.flags],
    scoredBy,
    decidedBy,
    modelAsked,
    modelServed,
    promptVersion,
    rubricVersion,
    round,
    repeat,
    attempt,
    costUsd,
    httpMs,
  };
}

function viewExchange(exchange: StoredExchange, at: number, conversation: readonly StoredExchange[]): ExchangeView {
  const { exchangeId, recordedAtMs, text, httpMs, ...told } = exchange;
  const reply = conversation.findIndex((one) => one.exchangeId === exchangeId);
  return {
    ...told,
    sequence: at + 1,
    sentAtMs: recordedAtMs - httpMs,
    httpMs,
    reply: reply < 0 ? null : reply,
    text: reply < 0 ? text : null,
  };
}
