// What must hold when the faults are over, whatever they were.
import { openLimiter } from "@hallumaze/limiter";
import { openQueue } from "@hallumaze/queue";

import type { JudgeReckoning, Reckoning, ToldMoney } from "./chaos-reckon.ts";
import { type ChaosStage, requestUsdMax } from "./chaos-stage.ts";

/** All that is compared. */
export interface Evidence {
  readonly trials: number;
  readonly solved: Reckoning;
  readonly judged: JudgeReckoning;
  readonly money: ToldMoney;
  readonly ledger: LedgerFacts;
  /** What is left in the queue and at the limiter. */
  readonly left: Leftovers;
  readonly exitCodes: readonly (number | null)[];
  readonly endedInWork: readonly string[];
  /** Requests that the server still holds. */
  readonly serverInFlight: number;
}

/** Sums that the ledger's own tables give. */
export interface LedgerFacts {
  readonly acceptedTwice: number;
  /** Exchanges after a reply that was not empty: each one a call paid twice. */
  readonly askedAgain: number;
  readonly overTries: number;
  readonly overAsked: number;
  readonly running: number;
  readonly liveRequests: number;
  readonly losses: number;
  readonly reservedUsd: number;
  readonly openUsd: number;
  readonly openJudgeUsd: number;
  readonly spentUsd: number;
  readonly exchangesKnownUsd: number;
  readonly exchangesBoundUsd: number;
  readonly judgementsUsd: number;
  /** Done trials without a finished first request to the judge. */
  readonly unjudged: number;
  readonly requestsNotDone: number;
  /** Judge, round and repeat of a result with more than one standing verdict, or an attempt kept twice. */
  readonly verdictsTwice: number;
  /** Finished requests without a judgement that ends them. */
  readonly verdictsMissing: number;
}

/** Reads them. */
export async function readLedgerFacts({ ledger }: ChaosStage): Promise<LedgerFacts> {
  const [facts] = await ledger.sql<LedgerFacts>(`
    SELECT
      (SELECT count(*) - count(DISTINCT accepted_exchange_id) FROM trials WHERE accepted_exchange_id IS NOT NULL)::int AS "acceptedTwice",
      (SELECT count(*) FROM exchanges a WHERE NOT a.late_duplicate AND EXISTS (SELECT 1 FROM exchanges b
        WHERE b.trial_id = a.trial_id AND b.sequence < a.sequence AND b.outcome IS NULL AND NOT b.late_duplicate
          AND b."text" <> ''))::int AS "askedAgain",
      (SELECT count(*) FROM trials t JOIN sweeps s ON s.id = t.sweep_id
        WHERE t.tries > s.max_tries OR t.empty_retries > s.max_empty_retries)::int AS "overTries",
      (SELECT count(*) FROM (
        SELECT t.id FROM trials t JOIN sweeps s ON s.id = t.sweep_id JOIN exchanges e ON e.trial_id = t.id
        WHERE NOT e.late_duplicate AND e.outcome IS DISTINCT FROM 'rate_limited'
        GROUP BY t.id, s.max_tries, s.max_empty_retries HAVING count(*) > s.max_tries + s.max_empty_retries) over_asked)::int AS "overAsked",
      ((SELECT count(*) FROM trials WHERE state = 'running' OR claimed_by IS NOT NULL OR lease_until IS NOT NULL)
        + (SELECT count(*) FROM judge_requests WHERE state = 'running' OR claimed_by IS NOT NULL OR lease_until IS NOT NULL))::int AS running,
      (SELECT count(*) FROM open_requests o
        WHERE EXISTS (SELECT 1 FROM trials t WHERE t.id = o.subject_id AND t.fence = o.fence AND t.state = 'running')
          OR EXISTS (SELECT 1 FROM judge_requests j WHERE j.id = o.subject_id AND j.fence = o.fence AND j.state = 'running'))::int AS "liveRequests",
      (SELECT coalesce(sum(losses), 0) FROM trials)::int AS losses,
      (SELECT sum(reserved_usd) FROM sweeps)::float8 AS "reservedUsd",
      (SELECT coalesce(sum(bound_usd), 0) FROM open_requests)::float8 AS "openUsd",
      (SELECT coalesce(sum(bound_usd), 0) FROM open_requests o JOIN judge_requests j ON j.id = o.subject_id)::float8 AS "openJudgeUsd",
      (SELECT sum(spent_usd) FROM sweeps)::float8 AS "spentUsd",
      (SELECT coalesce(sum(cost_usd), 0) FROM exchanges)::float8 AS "exchangesKnownUsd",
      (SELECT coalesce(sum(cost_bound_usd), 0) FROM exchanges WHERE cost_usd IS NULL)::float8 AS "exchangesBoundUsd",
      (SELECT coalesce(sum(cost_usd), 0) FROM judgements)::float8 AS "judgementsUsd",
      (SELECT count(*) FROM trials t WHERE t.state = 'done' AND NOT EXISTS (
        SELECT 1 FROM results r JOIN judge_requests q ON q.result_id = r.id
        WHERE r.trial_id = t.id AND q.state = 'done' AND q.plan_json::json ->> 'round' = 'first'))::int AS unjudged,
      (SELECT count(*) FROM judge_requests WHERE state <> 'done')::int AS "requestsNotDone",
      ((SELECT count(*) FROM (SELECT 1 FROM judgements WHERE NOT late_duplicate AND decided_by <> 'heuristic' AND status = 'verdict'
          GROUP BY result_id, model_asked, round, repeat HAVING count(*) > 1) twice)
        + (SELECT count(*) FROM (SELECT 1 FROM judgements WHERE NOT late_duplicate AND decided_by <> 'heuristic'
          GROUP BY result_id, model_asked, round, repeat, attempt HAVING count(*) > 1) twice))::int AS "verdictsTwice",
      (SELECT count(*) FROM judge_requests q WHERE q.state = 'done' AND NOT EXISTS (
        SELECT 1 FROM judgements j WHERE j.result_id = q.result_id AND NOT j.late_duplicate AND j.decided_by <> 'heuristic'
          AND j.round = q.plan_json::json ->> 'round' AND j.repeat = (q.plan_json::json ->> 'repeat')::int))::int AS "verdictsMissing"`);
  if (facts === undefined) throw new Error("sums without a row");
  return facts;
}

/** What waits, runs or rests in the queue, and the slots that are taken at the limiter. */
export interface Leftovers {
  readonly deliveries: number;
  readonly slots: number;
}

/** Asks queue and limiter themselves, past the proxies. */
export async function readLeftovers({ ledger, direct }: ChaosStage): Promise<Leftovers> {
  const [first] = await ledger.sql<{ id: string }>("SELECT id FROM _prisma_migrations ORDER BY started_at, id LIMIT 1");
  const lanes = await ledger.sql<{ lane: string }>("SELECT lane FROM trials UNION SELECT lane FROM judge_requests");
  const options = { ledger: first?.id ?? "", onError: () => undefined };
  const queue = await openQueue({ redisUrl: direct.redisUrl }, options);
  const limiter = await openLimiter({ redisUrl: direct.redisUrl });
  try {
    let deliveries = 0;
    for (const { lane } of lanes) {
      const { waiting, active, delayed } = await queue.depth(lane);
      deliveries += waiting + active + delayed;
    }
    const limited = [...new Set(lanes.map(({ lane }) => lane.replace(/^judge\./, "")))];
    const uses = await limiter.use(limited);
    return { deliveries, slots: uses.reduce((sum, { inFlight }) => sum + inFlight, 0) };
  } finally {
    await Promise.all([queue.close(), limiter.close()]);
  }
}

/** Gives one sentence for each promise that is broken; an empty list where all hold. */
export function findBreaches(evidence: Evidence): readonly string[] {
  const { trials, solved, judged, money, ledger, left } = evidence;
  const breaches: string[] = [];
  const is = (what: string, found: unknown, wanted: unknown): void => {
    if (JSON.stringify(found) !== JSON.stringify(wanted)) {
      breaches.push(`${what}: ${JSON.stringify(found)}, must be ${JSON.stringify(wanted)}`);
    }
  };
  const atMost = (what: string, found: number, most: number): void => {
    if (!(found <= most)) breaches.push(`${what}: ${found}, at most ${most}`);
  };
  is("cells by state", solved.states, { done: trials });
  is("trials with an accepted reply of their own", solved.accepted, trials);
  is("exchanges accepted for two trials", ledger.acceptedTwice, 0);
  is("trials with one reading and three profiles", solved.scored, trials);
  is("requests after a reply that stood", ledger.askedAgain, 0);
  is("requests of trials that nothing explains", solved.unexplained, 0);
  is("exchanges that the server never saw", solved.invented, 0);
  atMost("late duplicates, of lost claims", solved.lateDuplicates, ledger.losses);
  is("trials over their tries", ledger.overTries, 0);
  is("trials asked more often than their tries allow", ledger.overAsked, 0);

  is("done trials that no judge has finished with", ledger.unjudged, 0);
  is("requests to judges that are not done", ledger.requestsNotDone, 0);
  is("verdicts that stand twice", ledger.verdictsTwice, 0);
  is("finished requests without a judgement", ledger.verdictsMissing, 0);
  is("requests of judges that nothing explains", judged.unexplained, 0);
  is("judgements that the server never saw", judged.invented, 0);

  is("claims that are still held", ledger.running, 0);
  is("requests that are still open", ledger.liveRequests, 0);
  is("open requests as status tells them", money.open.count, 0);
  is("lost requests as status tells them", money.lost.count, solved.lost + judged.lost);
  is("deliveries left in the queue", left.deliveries, 0);
  is("slots taken at the limiter", left.slots, 0);
  is("requests that the server still holds", evidence.serverInFlight, 0);

  const cent = 0.000_001;
  atMost("reserved beyond open requests, USD", Math.abs(ledger.reservedUsd - ledger.openUsd), cent);
  const judgeFailuresUsd = ledger.spentUsd - ledger.exchangesKnownUsd - ledger.exchangesBoundUsd - ledger.judgementsUsd;
  atMost("spent less than exchanges and judgements say, USD", -judgeFailuresUsd, cent);
  atMost("spent on failed calls to judges, USD", judgeFailuresUsd, (judged.failed + judged.losses) * requestUsdMax);
  const lostUsd = ledger.openUsd - ledger.openJudgeUsd;
  const { servedUsd } = solved;
  atMost("known cost of trials beyond the server's, USD", ledger.exchangesKnownUsd, servedUsd + cent);
  atMost(
    "the server's cost of trials beyond the ledger's, USD",
    servedUsd,
    ledger.exchangesKnownUsd + ledger.exchangesBoundUsd + lostUsd + solved.sideRequests * requestUsdMax + cent,
  );
  atMost("known cost of judges beyond the server's, USD", ledger.judgementsUsd, judged.servedUsd + cent);
  atMost(
    "the server's cost of judges beyond the ledger's, USD",
    judged.servedUsd,
    ledger.judgementsUsd +
      judgeFailuresUsd +
      ledger.openJudgeUsd +
      (judged.losses + judged.failed) * requestUsdMax +
      cent,
  );

  is("workers that ended by themselves in mid-work", evidence.endedInWork, []);
  is(
    "exit codes of workers that were asked to end, other than 0",
    evidence.exitCodes.filter((code) => code !== 0),
    [],
  );
  return breaches;
}
