// What the provider's server counted beside what the ledger keeps, request by request.
import type { LoggedRequest } from "@hallumaze/mock-providers";

import type { Books } from "../test/program-stage.ts";
import { chaosJudge, chaosModel, type ChaosStage, usdPerMillion } from "./chaos-stage.ts";

/** What the server saw of a sweep's trials beside what the ledger keeps of them. */
export interface Reckoning extends Books {
  /** Requests that the server counted. */
  readonly served: number;
  readonly replies: number;
  readonly failures: Readonly<Record<string, number>>;
  /** Free resends and repairs, kept beside the exchange of their try. */
  readonly sideRequests: number;
  /** Requests left open by a worker that was killed. */
  readonly lost: number;
  /** Of these, those that the server never saw: the kill came before the bytes left. */
  readonly lostUnsent: number;
  /** Requests of the server's that neither an exchange, a side request nor a lost one explains. Has to be 0. */
  readonly unexplained: number;
  /** Exchanges and side requests that the server did not see. Has to be 0. */
  readonly invented: number;
  /** What the server's answers cost in truth, heard or not. */
  readonly servedUsd: number;
}

interface TrialSums {
  readonly prompt: string;
  readonly exchanges: number;
  readonly transport: number;
  readonly side: number;
  readonly lost: number;
}

/** Reckons trial by trial; the prompt tells which trial a request of the server's log is for. */
export async function reckon(chaos: Pick<ChaosStage, "ledger" | "mock">, sweep: string): Promise<Reckoning> {
  const { ledger } = chaos;
  const failures = await ledger.sql<{ outcome: string; count: number }>(
    "SELECT outcome, count(*)::int AS count FROM exchanges WHERE outcome IS NOT NULL GROUP BY outcome ORDER BY outcome",
  );
  const trials = await ledger.sql<TrialSums>(`
    SELECT max(e.request_json::json -> 'messages' -> 0 ->> 'content') AS prompt, count(*)::int AS exchanges,
      (count(*) FILTER (WHERE e.outcome = 'transport'))::int AS transport,
      coalesce(sum(json_array_length(e.side_requests_json::json)), 0)::int AS side,
      (SELECT count(*)::int FROM open_requests o WHERE o.subject_id = e.trial_id) AS lost
    FROM exchanges e GROUP BY e.trial_id`);
  const requests = chaos.mock.requests().filter(({ model }) => model === nameOf(chaosModel));
  const seen = groupBy(requests, ({ messages }) => messages[0]?.content ?? "");
  const sums = { sideRequests: 0, lost: 0, lostUnsent: 0, unexplained: requests.length, invented: 0 };
  for (const { prompt, exchanges, transport, side, lost } of trials) {
    const { requests: asked, resets } = seen.get(prompt) ?? { requests: 0, resets: 0 };
    const kept = exchanges + side;
    // A try may be killed in its free resend: the reset before it is the same lost request.
    const lostResends = lost === 0 ? 0 : Math.max(0, resets - transport - side);
    sums.sideRequests += side;
    sums.lost += lost;
    sums.lostUnsent += Math.max(0, kept + lost - asked);
    sums.unexplained -= Math.min(asked, kept + lost + lostResends);
    sums.invented += Math.max(0, kept - asked);
  }
  const books = await ledger.books(sweep);
  const failed = failures.reduce((sum, { count }) => sum + count, 0);
  return {
    ...books,
    served: requests.length,
    replies: books.exchanges - failed,
    failures: Object.fromEntries(failures.map(({ outcome, count }) => [outcome, count])),
    ...sums,
    servedUsd: servedUsd(chaos, chaosModel),
  };
}

/** What the server saw of the judge's work beside what the ledger keeps of it. */
export interface JudgeReckoning {
  readonly served: number;
  /** Verdicts and unreadable replies of the model, late ones included. */
  readonly judgements: number;
  readonly late: number;
  /** Calls that failed, as the requests' tries and waits count them. */
  readonly failed: number;
  /** Calls whose worker was lost: each a call of unknown fate at most. */
  readonly losses: number;
  readonly lost: number;
  /** Requests of the server's that none of these and no resend explains. Has to be 0. */
  readonly unexplained: number;
  readonly invented: number;
  readonly servedUsd: number;
}

interface ResultSums {
  readonly resultId: string;
  readonly request: string | null;
  readonly judgements: number;
  readonly late: number;
  readonly failed: number;
  readonly losses: number;
  readonly lost: number;
}

/** Reckons result by result; `forgotten` are calls of requests whose count a retry by hand has set back. */
export async function reckonJudges(chaos: ChaosStage, forgotten: ReadonlyMap<string, number>): Promise<JudgeReckoning> {
  const results = await chaos.ledger.sql<ResultSums>(`
    SELECT r.id::text AS "resultId", asked.request, coalesce(asked.judgements, 0)::int AS judgements,
      coalesce(asked.late, 0)::int AS late, coalesce(calls.failed, 0)::int AS failed,
      coalesce(calls.losses, 0)::int AS losses, coalesce(calls.lost, 0)::int AS lost
    FROM results r
    LEFT JOIN LATERAL (
      SELECT max(j.request_json) AS request, count(*) AS judgements, count(*) FILTER (WHERE j.late_duplicate) AS late
      FROM judgements j WHERE j.result_id = r.id AND j.decided_by = 'judge'
    ) asked ON true
    LEFT JOIN LATERAL (
      SELECT sum(q.tries + q.waits - CASE WHEN q.state = 'done' THEN 1 ELSE 0 END) AS failed, sum(q.losses) AS losses,
        sum((SELECT count(*) FROM open_requests o WHERE o.subject_id = q.id)) AS lost
      FROM judge_requests q WHERE q.result_id = r.id
    ) calls ON true`);
  const requests = chaos.mock.requests().filter(({ model }) => model === nameOf(chaosJudge));
  const seen = groupBy(requests, judgedText);
  const sums = { judgements: 0, late: 0, failed: 0, losses: 0, lost: 0, unexplained: requests.length, invented: 0 };
  for (const result of results) {
    const failed = result.failed + (forgotten.get(result.resultId) ?? 0);
    const request = result.request === null ? null : (JSON.parse(result.request) as Request);
    const { requests: asked, resets } = (request && seen.get(judgedText(request))) ?? { requests: 0, resets: 0 };
    sums.judgements += result.judgements;
    sums.late += result.late;
    sums.failed += failed;
    sums.losses += result.losses;
    sums.lost += result.lost;
    sums.unexplained -= Math.min(asked, result.judgements + failed + Math.max(result.losses, result.lost) + resets);
    sums.invented += Math.max(0, result.judgements - asked);
  }
  return { served: requests.length, ...sums, servedUsd: servedUsd(chaos, chaosJudge) };
}

interface Request {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** A judge's request without the marks that every call draws anew. */
function judgedText({ messages }: Request): string {
  const user = messages.findLast(({ role }) => role === "user")?.content ?? "";
  const answer = /<<<[0-9a-f]{16,} SCENARIO BEGINS>>>[\s\S]*/.exec(user)?.[0] ?? user;
  return answer.replaceAll(/[0-9a-f]{16,}/g, "#").split("<<<# ANSWER ENDS>>>", 1)[0] ?? "";
}

function nameOf(model: string): string {
  return model.slice(model.indexOf("/") + 1);
}

function servedUsd({ mock }: Pick<ChaosStage, "mock">, model: string): number {
  const lanes = mock.counts().lanes.filter((lane) => lane.model === nameOf(model));
  const sum = (name: "inputTokens" | "outputTokens"): number => lanes.reduce((total, lane) => total + lane[name], 0);
  return (sum("inputTokens") * usdPerMillion.input + sum("outputTokens") * usdPerMillion.output) / 1e6;
}

function groupBy(
  requests: readonly LoggedRequest[],
  keyOf: (request: Request) => string,
): ReadonlyMap<string, { readonly requests: number; readonly resets: number }> {
  const seen = new Map<string, { requests: number; resets: number }>();
  for (const { bodyText, end } of requests) {
    const key = keyOf(JSON.parse(bodyText) as Request);
    const known = seen.get(key) ?? { requests: 0, resets: 0 };
    seen.set(key, { requests: known.requests + 1, resets: known.resets + (end === "reset" ? 1 : 0) });
  }
  return seen;
}

/** What `status --json` tells of the sweep's money. */
export interface ToldMoney {
  readonly spentUsd: string;
  readonly open: { readonly count: number; readonly boundUsd: string };
  readonly lost: { readonly count: number; readonly boundUsd: string; readonly unpriced: number };
}

/** Asks the program itself, as a user would. */
export async function askStatus({ stage }: ChaosStage, sweep: string): Promise<{ money: ToldMoney; lines: string }> {
  const [told, shown] = await Promise.all([stage.run(["status", sweep, "--json"]), stage.run(["status", sweep])]);
  if (told.code !== 0) throw new Error(`status ended with ${told.code}:\n${told.out}${told.err}`);
  return { money: (JSON.parse(told.out) as { money: ToldMoney }).money, lines: shown.out };
}
