// A chaos run: a judged sweep under faults by a seeded schedule, then calm, then the reckoning.
import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

import { createRandom } from "@hallumaze/foundation";

import { everyDay, type FaultLog, type FaultPorts, inflict, serverFaults, workerFaults } from "./chaos-faults.ts";
import { findBreaches, readLedgerFacts, readLeftovers } from "./chaos-invariants.ts";
import { type OutageFigures, takeAway } from "./chaos-outage.ts";
import { askStatus, reckon, reckonJudges } from "./chaos-reckon.ts";
import { chaosSpec, type ChaosStage, openChaos } from "./chaos-stage.ts";
import { type ClockBy, type Pool, startWorkers } from "./chaos-workers.ts";

/** What a run is made of; all times in milliseconds. */
export interface ChaosPlan {
  /** Of every draw of the schedule and of the provider's script; what falls where still depends on the machine. */
  readonly seed: number;
  readonly trials: number;
  readonly workers: number;
  readonly concurrency: number;
  /** Faults begin until then, or until every trial is done. */
  readonly faultsForMs: number;
  /** What is left has to be done so long after the last fault. */
  readonly calmForMs: number;
  readonly gapMs: { readonly least: number; readonly most: number };
  readonly workerFaults: readonly (keyof typeof workerFaults)[];
  readonly serverFaults: readonly (keyof typeof serverFaults)[];
  readonly standstillMs: number;
  readonly clockMs: number;
  readonly clockBy: ClockBy;
  readonly callTimeoutSeconds: number;
  readonly latency: { readonly baseMs: number; readonly perTokenMs: number };
  /** Requests a minute that trials may make; spreads the sweep over the time. */
  readonly rpm: number;
  /** Outages of Redis and of PostgreSQL alone, so long, at 2/5 and 7/10 of the time; 0 for none. */
  readonly outageMs: number;
  readonly withDisk: boolean;
  /** Ends the run early; what it has started is stopped, and what was not done is a breach. */
  readonly stop?: AbortSignal;
  /** Told now and then how far the run is. */
  readonly say: (line: string) => void;
}

const sweep = "chaos";

/** Runs the plan; gives all figures, and in `breaches` what does not hold. */
export async function runChaos(plan: ChaosPlan) {
  await using chaos = await openChaos(
    { seed: plan.seed, latency: plan.latency, script: everyDay },
    plan.callTimeoutSeconds,
    plan.withDisk,
  );
  const { stage, mock } = chaos;
  const spec = chaosSpec(plan.trials, { judged: true, rpm: plan.rpm, tries: 12 });
  const submitted = await stage.run(["submit", stage.spec(sweep, spec)]);
  if (submitted.code !== 0) throw new Error(submitted.err);
  const words = ["worker", "--role", "solve,judge", "--concurrency", `${plan.concurrency}`, "--drain-seconds", "5"];
  await using pool = startWorkers(stage, { count: plan.workers, words, clockBy: plan.clockBy });
  const startedMs = performance.now();
  const faults: FaultLog = { done: {}, troubles: [] };
  const outages = await underFaults(plan, chaos, pool, faults);
  const faultSeconds = Math.round((performance.now() - startedMs) / 1000);
  plan.say(`faults are over after ${faultSeconds} s: ${await progress(chaos)}`);
  const forgotten = new Map<string, number>();
  const retries = await untilDone(plan, chaos, forgotten);
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  const left = await untilNothingIsLeft(chaos);
  const exitCodes = await pool.stop();
  const [solved, judged, facts, { money }] = [
    await reckon(chaos, sweep),
    await reckonJudges(chaos, forgotten),
    await readLedgerFacts(chaos),
    await askStatus(chaos, sweep),
  ];
  const { byRule, byEnd, inFlight, inFlightPeak, completedUnheard } = mock.counts();
  const { beforeWork, inWork } = pool.endings();
  const breaches = findBreaches({
    trials: plan.trials,
    solved,
    judged,
    money,
    ledger: facts,
    left,
    exitCodes,
    endedInWork: inWork,
    serverInFlight: inFlight,
  });
  return {
    seed: plan.seed,
    breaches,
    trials: plan.trials,
    seconds,
    faultSeconds,
    faults: faults.done,
    faultTroubles: faults.troubles,
    outages,
    clock: plan.clockBy === "preload" ? "in the process" : "libfaketime",
    faultsLeftOut: Object.keys(workerFaults).filter((name) => !(plan.workerFaults as readonly string[]).includes(name)),
    disk: chaos.disk !== null,
    workersEnded: { beforeWork, inWork },
    retries,
    solved,
    judged,
    ledger: facts,
    money,
    left,
    server: { byRule, byEnd, inFlightPeak, completedUnheard },
    loadAverage: loadavg(),
  };
}

/** Hurts workers and servers side by side until the time is over or all is done; gives what the lone outages cost. */
async function underFaults(
  plan: ChaosPlan,
  chaos: ChaosStage,
  pool: Pool,
  log: FaultLog,
): Promise<readonly OutageFigures[]> {
  const over = new AbortController();
  const { signal } = over;
  const gate = openGate();
  const ports = (name: string): FaultPorts => ({
    chaos,
    pool,
    random: createRandom(`${plan.seed} ${name}`),
    signal,
    standstillMs: plan.standstillMs,
    clockMs: plan.clockMs,
  });
  const loops = [
    inflict(workerFaults, plan.workerFaults, ports("workers"), plan.gapMs, log, gate.enter),
    inflict(workerFaults, plan.workerFaults, ports("more workers"), plan.gapMs, log, gate.enter),
    inflict(serverFaults, plan.serverFaults, ports("servers"), plan.gapMs, log, gate.enter),
  ];
  const hurt = Promise.all(loops);
  const endMs = performance.now() + plan.faultsForMs;
  const outages: OutageFigures[] = [];
  const due =
    plan.outageMs === 0
      ? []
      : (["Redis", "PostgreSQL"] as const).map((server, index) => ({
          server,
          atMs: endMs - plan.faultsForMs * (index === 0 ? 0.6 : 0.3),
        }));
  let toldMs = performance.now();
  while (!isStopped(plan) && performance.now() < endMs && (await openTrials(chaos)) > 0) {
    const next = due[0];
    if (next !== undefined && performance.now() > next.atMs) {
      due.shift();
      const leave = gate.close();
      // What has begun ends first, and work is under way again.
      await sleep(plan.standstillMs + 20_000, undefined, { signal }).catch(() => undefined);
      outages.push(await takeAway(chaos, next.server, plan.outageMs));
      plan.say(JSON.stringify(outages.at(-1)));
      leave();
    }
    if (performance.now() - toldMs > 60_000) {
      toldMs = performance.now();
      plan.say(await progress(chaos));
    }
    await sleep(500);
  }
  over.abort();
  await hurt;
  return outages;
}

function isStopped({ stop }: ChaosPlan): boolean {
  return stop?.aborted === true;
}

/** A door that faults wait at while one outage is measured alone. */
function openGate() {
  let closed: Promise<void> = Promise.resolve();
  return {
    enter: () => closed,
    close: (): (() => void) => {
      let open = (): void => undefined;
      closed = new Promise<void>((resolve) => {
        open = resolve;
      });
      return () => open();
    },
  };
}

/** Waits until trials and judgements are finished; puts back by hand, as a user would, judgements that have failed. */
async function untilDone(plan: ChaosPlan, chaos: ChaosStage, forgotten: Map<string, number>) {
  const { ledger, stage } = chaos;
  const giveUpAtMs = performance.now() + plan.calmForMs;
  const putBack = { times: 0, judgements: 0 };
  let toldMs = performance.now();
  while (!isStopped(plan) && performance.now() < giveUpAtMs) {
    if ((await openTrials(chaos)) === 0) {
      const [judges] = await ledger.sql<{ open: number; failed: number; unasked: number }>(`
        SELECT (count(*) FILTER (WHERE state IN ('planned', 'queued', 'running')))::int AS open,
          (count(*) FILTER (WHERE state IN ('failed', 'blocked')))::int AS failed,
          (SELECT count(*) FROM trials t WHERE t.state = 'done' AND NOT EXISTS (SELECT 1 FROM results r
            JOIN judge_requests q ON q.result_id = r.id WHERE r.trial_id = t.id))::int AS unasked FROM judge_requests`);
      if (judges?.open === 0 && judges.unasked === 0) {
        if (judges.failed === 0) return putBack;
        await rememberCalls(chaos, forgotten);
        const retried = await stage.run(["retry", sweep, "--failed", "--json"]);
        if (retried.code !== 0) throw new Error(retried.err);
        putBack.times += 1;
        putBack.judgements += judges.failed;
      }
    }
    if (performance.now() - toldMs > 15_000) {
      toldMs = performance.now();
      plan.say(await progress(chaos));
    }
    await sleep(500);
  }
  return putBack;
}

async function rememberCalls({ ledger }: ChaosStage, forgotten: Map<string, number>): Promise<void> {
  const rows = await ledger.sql<{ resultId: string; calls: number }>(`
    SELECT result_id::text AS "resultId", sum(tries + waits + losses)::int AS calls FROM judge_requests
    WHERE state IN ('failed', 'blocked') GROUP BY result_id`);
  for (const { resultId, calls } of rows) forgotten.set(resultId, (forgotten.get(resultId) ?? 0) + calls);
}

/** Slots of dead workers are free when their leases end, a minute after the last renewal. */
async function untilNothingIsLeft(chaos: ChaosStage) {
  const giveUpAtMs = performance.now() + 90_000;
  for (;;) {
    const left = await readLeftovers(chaos);
    if ((left.deliveries === 0 && left.slots === 0) || performance.now() > giveUpAtMs) return left;
    await sleep(500);
  }
}

/** Trials that are neither done nor failed; as many as there are where PostgreSQL is away at this moment. */
async function openTrials({ ledger }: ChaosStage): Promise<number> {
  return ledger.count("state NOT IN ('done', 'failed', 'cancelled')").catch(() => Number.POSITIVE_INFINITY);
}

async function progress({ ledger, mock }: ChaosStage): Promise<string> {
  const states = await ledger
    .sql<{ state: string; count: number }>(
      "SELECT state::text, count(*)::int AS count FROM trials GROUP BY 1 ORDER BY 1",
    )
    .catch(() => []);
  const told = states.map(({ state, count }) => `${count} ${state}`).join(", ");
  const judges = await ledger
    .sql<{ state: string; count: number }>(
      "SELECT state::text, count(*)::int AS count FROM judge_requests GROUP BY 1 ORDER BY 1",
    )
    .catch(() => []);
  const judged = judges.map(({ state, count }) => `${count} ${state}`).join(", ");
  return `${told === "" ? "no answer from PostgreSQL" : told}; judges: ${judged}; ${mock.counts().requests} requests`;
}
