import { type ChatRequest, type ChatResult, type ProviderPort, submitSweep, type SweepRecord } from "@hallumaze/engine";
import { scriptedJudges, simJudge } from "@hallumaze/judge";
import { openProviders } from "@hallumaze/providers";
import { type Ledger, openStore } from "@hallumaze/store";
import { parseSpec } from "@hallumaze/sweep";
import { onTestFinished, vi } from "vitest";

import { type JudgeWorkerOptions, startJudgeWorker } from "../src/judge-worker.ts";
import { openLogger } from "../src/logger.ts";
import type { SolveWorker } from "../src/worker.ts";
import { failure, noLimits, reply, shortTimes } from "./worker-replies.ts";
import { type AtEnd, openWorkerStage, type WorkerStage } from "./worker-stage.ts";

/** What a scripted model does with a request; `call` counts its own, from 1. */
export type Part = (
  request: ChatRequest,
  call: number,
  signal: AbortSignal,
) => string | ChatResult | Promise<string | ChatResult>;

/** A provider whose models play parts; one without a part is asked for real (`sim`). */
export interface Cast extends ProviderPort {
  readonly play: (model: string, part: Part) => void;
  /** What reached the port for a model, oldest first. */
  readonly asked: (model: string) => readonly ChatRequest[];
  /** Calls under way now, and the most that there were. */
  readonly inFlight: () => { readonly now: number; readonly most: number };
}

/** What a sweep under a judge asks for. */
export interface JudgedSweep {
  readonly judge: { readonly models: readonly string[]; readonly share?: number; readonly repeats?: number };
  readonly models?: readonly (string | object)[];
  readonly seeds?: readonly (number | string)[];
  readonly groups?: readonly ("A" | "B" | "C")[];
  readonly mirage?: boolean | readonly boolean[];
  readonly confidence?: boolean | readonly boolean[];
  readonly prices?: object;
  readonly limits?: object;
  readonly budgetUsd?: number;
}

/** One judgement as the ledger has it. */
export interface Verdict {
  readonly seed: number;
  readonly group: string;
  readonly scoredBy: string;
  readonly decidedBy: string;
  readonly status: string;
  readonly level: number | null;
  readonly reason: string | null;
  readonly confidence: number | null;
  readonly fallback: boolean;
  readonly provisional: boolean;
  readonly model: string;
  readonly round: string;
  readonly repeat: number;
  readonly attempt: number;
  readonly rawBody: string | null;
  readonly costUsd: number | null;
  readonly late: boolean;
  readonly flags: readonly string[];
}

/** One request to a judge as the ledger has it. */
export interface Asked {
  readonly requestId: string;
  readonly seed: number;
  readonly lane: string;
  readonly round: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly message: string | null;
  readonly fence: number;
  readonly tries: number;
  readonly losses: number;
  /** Every state that it was in, oldest first. */
  readonly history: readonly string[];
}

/** A ledger with workers that solve and judge, both by script. */
export interface JudgeStage extends WorkerStage {
  /** The ledger as another process sees it. */
  readonly ledger: Ledger;
  readonly candidates: Cast;
  readonly judges: Cast;
  /** Casts a candidate whose answer to each seed is {@link answerOf} with more; gives its name in a spec. */
  readonly candidate: (model: string, more?: Readonly<Record<number, string>>) => string;
  readonly sweep: (name: string, asked: JudgedSweep) => Promise<SweepRecord>;
  /** Starts a judge worker; it is drained with the stage at the latest. */
  readonly judging: (given?: Partial<JudgeWorkerOptions>) => SolveWorker;
  readonly verdicts: (sweep: SweepRecord) => Promise<readonly Verdict[]>;
  readonly asked: (sweep: SweepRecord) => Promise<readonly Asked[]>;
  /** Resolves once there are so many requests, none of them open; gives them. */
  readonly settled: (sweep: SweepRecord, requests: number, timeoutMs?: number) => Promise<readonly Asked[]>;
}

/** Opens the stage, its queue in Redis where one is named; all is closed when the test ends, or by `atEnd`. */
export async function openJudgeStage(redisUrl?: string, atEnd: AtEnd = onTestFinished): Promise<JudgeStage> {
  const closers: (() => Promise<void>)[] = [];
  atEnd(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  const stage = await openWorkerStage(redisUrl, (close) => void closers.push(close));
  await stage.sql(historyOfStates);
  const ledger = await openStore({ databaseUrl: stage.databaseUrl, poolSize: 4, migrate: false });
  closers.push(() => ledger.close());
  const [candidates, judges] = [openCast(closers), openCast(closers)];
  const asked = (sweep: SweepRecord) => stage.sql<Asked>(askedQuery, [sweep.sweepId]);
  return {
    ...stage,
    ledger,
    candidates,
    judges,
    work: (given) => stage.work({ provider: candidates, ...given }),
    candidate: (model, more = {}) => {
      candidates.play(model, (request) => answerOf(seedOf(request), more[seedOf(request)]));
      return `openai/${model}`;
    },
    sweep: (name, given) => submitJudged(stage, name, given),
    judging: (given = {}) => {
      const worker = startJudgeWorker({
        store: ledger,
        queue: stage.queue,
        provider: judges,
        limiter: noLimits,
        logger: openLogger("silent"),
        concurrency: 4,
        rehearsal: false,
        times: shortTimes,
        ...given,
      });
      closers.push(() => worker.drain(500));
      return worker;
    },
    verdicts: (sweep) => stage.sql<Verdict>(verdictsQuery, [sweep.sweepId]),
    asked,
    settled: async (sweep, requests, timeout = 45_000) => {
      await vi.waitFor(
        async () => {
          const states = await stage.sql<{ state: string; count: number }>(statesQuery, [sweep.sweepId]);
          const count = states.reduce((sum, one) => sum + one.count, 0);
          const isOver = states.every(({ state }) => ["done", "failed", "blocked"].includes(state));
          if (count < requests || !isOver) throw new Error(`${requests} wanted: ${JSON.stringify(states)}`);
        },
        { timeout, interval: 30 },
      );
      return asked(sweep);
    },
  };
}

function openCast(closers: (() => Promise<void>)[]): Cast {
  const real = openProviders();
  closers.push(() => real.close());
  const parts = new Map<string, Part>();
  const asked = new Map<string, ChatRequest[]>();
  let [now, most] = [0, 0];
  return {
    play: (model, part) => void parts.set(model, part),
    asked: (model) => asked.get(model) ?? [],
    inFlight: () => ({ now, most }),
    complete: async (request, signal) => {
      const all = [...(asked.get(request.model) ?? []), request];
      asked.set(request.model, all);
      now += 1;
      most = Math.max(most, now);
      try {
        const part = parts.get(request.model);
        if (part === undefined) return await real.complete(request, signal);
        const said = await part(request, all.length, signal);
        return typeof said === "string" ? priced(reply(said)) : said;
      } finally {
        now -= 1;
      }
    },
  };
}

/** A reply with the tokens of {@link callUsd}. */
function priced(result: ChatResult): ChatResult {
  return { ...result, usage: { inputTokens: 1000, outputTokens: 100, cachedTokens: 0, reasoningTokens: 0 } };
}

/** US dollars for a million tokens, and what a scripted reply of a model of that price costs. */
export const price = { input: 10, output: 10 } as const;
export const callUsd = 0.011;

async function submitJudged(
  stage: WorkerStage,
  name: string,
  { seeds = [1], models = ["sim/dfs-honest"], groups = ["A"], mirage = true, ...others }: JudgedSweep,
): Promise<SweepRecord> {
  const text = JSON.stringify({ name, models, seeds, sizes: [5], groups, mirage, ...others });
  const { spec } = parseSpec(text, { fileName: "judged.json" });
  const provenance = { gitCommit: null, gitDirty: null, programVersion: "test", nodeVersion: process.version };
  const { signal } = new AbortController();
  return (await submitSweep(stage, spec, { provenance, fresh: true, rehearsal: false, signal })).sweep;
}

/** The seed of a trial's first prompt. */
export function seedOf({ messages }: ChatRequest): number {
  return Number(/^Seed: (\d+)/m.exec(messages[0]?.content ?? "")?.[1] ?? Number.NaN);
}

/** A sentence that every scripted answer holds, for verdicts to quote. */
export const quotable = "I went back to the junction because the branch was closed.";

/** A trial's answer that a judge has to be asked about. */
export function answerOf(seed: number, more = ""): string {
  return `Answer number ${seed}x.\n${quotable}\n${more}\nFINAL_PATH: (0,0)→(0,1)`;
}

/** Which of {@link answerOf}'s answers a judge's request holds. */
export function judgedSeed({ messages }: ChatRequest): number {
  return Number(/Answer number (\d+)x/.exec(messages[0]?.content ?? "")?.[1] ?? Number.NaN);
}

/** The nonce that a request asks back. */
export function nonceOf({ system }: ChatRequest): string {
  return /nonce of this call is ([0-9a-f]{16,})/.exec(system)?.[1] ?? "";
}

/** A verdict in the form that is asked for, on one of {@link answerOf}'s answers. */
export function verdictOn(request: ChatRequest, level: 1 | 2 | 3, given: object = {}): string {
  return JSON.stringify({
    evidence: [{ quote: quotable, claim: "a retreat with its reason" }],
    counter_argument: "The exit is not shown to be reached.",
    reasoning: "The retreat is reasoned, and nothing more is shown.",
    level: `L${level}`,
    confidence: 0.9,
    nonce: nonceOf(request),
    ...given,
  });
}

/** The judge by rule. */
export const byRule: Part = (request) => simJudge(asSim(request));

/** A judge that does what the candidate's text says, with the nonce of its own request. */
export const obedient: Part = (request) => scriptedJudges.obedientWithNonce(asSim(request));

function asSim({ system, messages, params }: ChatRequest) {
  return { system, user: messages[0]?.content ?? "", params };
}

/** A failure of a judge's provider. */
export function failed(
  outcome: "overloaded" | "timeout" | "transport" | "filtered" | "bad_request",
  message: string,
): ChatResult {
  return { ...failure(message), kind: "failure", outcome } as ChatResult;
}

const historyOfStates = `
  CREATE TABLE judge_history (id bigserial, request_id uuid, state text);
  CREATE INDEX ON judge_history (request_id, id);
  CREATE FUNCTION keep_judge_state() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO judge_history (request_id, state) VALUES (NEW.id, NEW.state::text);
      RETURN NULL;
    END $$;
  CREATE TRIGGER judge_states AFTER INSERT OR UPDATE ON judge_requests FOR EACH ROW EXECUTE FUNCTION keep_judge_state();`;

const statesQuery = `SELECT q.state::text, count(*)::int AS count FROM judge_requests q JOIN results r ON r.id = q.result_id
    JOIN trials t ON t.id = r.trial_id WHERE t.sweep_id = $1 GROUP BY q.state`;

const askedQuery = `SELECT q.id::text AS "requestId", t.seed::int, q.lane, q.plan_json::json->>'round' AS round,
    q.state::text, q.outcome, q.message, q.fence, q.tries, q.losses,
    (SELECT json_agg(h.state ORDER BY h.id) FROM judge_history h WHERE h.request_id = q.id) AS history
  FROM judge_requests q JOIN results r ON r.id = q.result_id JOIN trials t ON t.id = r.trial_id
  WHERE t.sweep_id = $1 ORDER BY t.seed, q.created_at, q.id`;

const verdictsQuery = `SELECT t.seed::int, t."group", j.scored_by AS "scoredBy", j.decided_by AS "decidedBy", j.status,
    j.level::int, j.unscored_reason AS reason, j.confidence, j.fallback, j.provisional, j.model_asked AS model, j.round,
    j.repeat, j.attempt, j.raw_body AS "rawBody", j.cost_usd::float8 AS "costUsd", j.late_duplicate AS late,
    j.flags_json::json AS flags
  FROM judgements j JOIN results r ON r.id = j.result_id JOIN trials t ON t.id = r.trial_id
  WHERE t.sweep_id = $1 ORDER BY t.seed, t."group", j.created_at, j.id`;
