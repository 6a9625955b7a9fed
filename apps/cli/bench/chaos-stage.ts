// What the chaos run and its small test share: a server that fails by script, workers that are killed, and the
// reckoning of what the server saw against what the ledger keeps.
import { type MockProviders, type MockProvidersOptions, startMockProviders } from "@hallumaze/mock-providers";
import { createDatabase, createRedis } from "@hallumaze/testkit";

import {
  type Books,
  type Ledger,
  openLedger,
  openStage,
  type Program,
  type Spec,
  type Stage,
} from "../test/program-stage.ts";

/** The model under chaos; its price makes every lost request cost something. */
export const chaosModel = "anthropic/claude-sonnet-5-5";
const usdPerMillion = { input: 3, output: 15 } as const;

/** A sweep of one trial a seed that its limits never hold back. */
export function chaosSpec(cells: number): Spec {
  return {
    models: [chaosModel],
    seeds: [`1..${cells}`],
    // One trial in a million would fail all of its tries by the script alone.
    retries: { tries: 8 },
    maxTokens: 2500,
    prices: { [chaosModel]: usdPerMillion },
    limits: { [chaosModel]: { rpm: 1e6, inputTpm: 1e9, outputTpm: 1e9, concurrency: 1000 } },
  };
}

/** A scripted server, Redis, PostgreSQL, and the program on them. */
export interface ChaosStage extends AsyncDisposable {
  readonly stage: Stage;
  readonly ledger: Ledger;
  readonly mock: MockProviders;
  readonly startWorker: (concurrency: number) => Program;
}

/** Opens a stage whose workers give a call up after `callTimeoutSeconds`. */
export async function openChaos(options: MockProvidersOptions, callTimeoutSeconds: number): Promise<ChaosStage> {
  const closing: (() => PromiseLike<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const one of closing.splice(0).reverse()) await one();
  };
  try {
    const mock = await startMockProviders({ ...options, logLimit: 100_000 });
    closing.push(mock.close);
    const redis = await createRedis();
    closing.push(redis.drop);
    const database = await createDatabase();
    closing.push(database.drop);
    const stage = openStage({
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      HALLUMAZE_CALL_TIMEOUT_SECONDS: `${callTimeoutSeconds}`,
      ...mock.environment(),
    });
    closing.push(stage.clear);
    const ledger = await openLedger(database.url);
    closing.push(() => ledger[Symbol.asyncDispose]());
    const startWorker: ChaosStage["startWorker"] = (concurrency) =>
      stage.start(["worker", "--role", "solve", "--concurrency", `${concurrency}`]);
    return { stage, ledger, mock, startWorker, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What the server saw of a sweep beside what the ledger keeps of it. */
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
export async function reckon({ ledger, mock }: Pick<ChaosStage, "ledger" | "mock">, sweep: string): Promise<Reckoning> {
  const counts = mock.counts();
  const failures = await ledger.sql<{ outcome: string; count: number }>(
    "SELECT outcome, count(*)::int AS count FROM exchanges WHERE outcome IS NOT NULL GROUP BY outcome ORDER BY outcome",
  );
  const trials = await ledger.sql<TrialSums>(`
    SELECT max(e.request_json::json -> 'messages' -> 0 ->> 'content') AS prompt, count(*)::int AS exchanges,
      (count(*) FILTER (WHERE e.outcome = 'transport'))::int AS transport,
      coalesce(sum(json_array_length(e.side_requests_json::json)), 0)::int AS side,
      (SELECT count(*)::int FROM open_requests o WHERE o.subject_id = e.trial_id) AS lost
    FROM exchanges e GROUP BY e.trial_id`);
  const seen = groupByPrompt(mock);
  const sums = { sideRequests: 0, lost: 0, lostUnsent: 0, unexplained: counts.requests, invented: 0 };
  for (const { prompt, exchanges, transport, side, lost } of trials) {
    const { requests, resets } = seen.get(prompt) ?? { requests: 0, resets: 0 };
    const kept = exchanges + side;
    // A try may be killed in its free resend: the reset before it is the same lost request.
    const lostResends = lost === 0 ? 0 : Math.max(0, resets - transport - side);
    sums.sideRequests += side;
    sums.lost += lost;
    sums.lostUnsent += Math.max(0, kept + lost - requests);
    sums.unexplained -= Math.min(requests, kept + lost + lostResends);
    sums.invented += Math.max(0, kept - requests);
  }
  const books = await ledger.books(sweep);
  const failed = failures.reduce((sum, { count }) => sum + count, 0);
  return {
    ...books,
    served: counts.requests,
    replies: books.exchanges - failed,
    failures: Object.fromEntries(failures.map(({ outcome, count }) => [outcome, count])),
    ...sums,
    servedUsd: (counts.inputTokens * usdPerMillion.input + counts.outputTokens * usdPerMillion.output) / 1e6,
  };
}

function groupByPrompt(
  mock: MockProviders,
): ReadonlyMap<string, { readonly requests: number; readonly resets: number }> {
  const seen = new Map<string, { requests: number; resets: number }>();
  for (const { bodyText, end } of mock.requests()) {
    const { messages } = JSON.parse(bodyText) as { messages: readonly { content: string }[] };
    const prompt = messages[0]?.content ?? "";
    const { requests, resets } = seen.get(prompt) ?? { requests: 0, resets: 0 };
    seen.set(prompt, { requests: requests + 1, resets: resets + (end === "reset" ? 1 : 0) });
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
