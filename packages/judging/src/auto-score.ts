import type { QueuePort } from "@hallumaze/engine";
import type { Clock } from "@hallumaze/foundation";
import type { JudgeIdentity, JudgePromptVersion } from "@hallumaze/judge";

import {
  type Consensus,
  type DefaultVerdict,
  defaultVerdict,
  dryRunJudgement,
  type GateState,
  gateStateOf,
  isRegularHeuristic,
  loneVerdict,
} from "./default-verdict.ts";
import { heuristicJudgement, inputHash } from "./judgement-records.ts";
import { judgedOf } from "./maze-facts.ts";
import type { JudgedResult, JudgedSource, JudgeModel, JudgeRound, JudgeStorePort } from "./ports.ts";
import { deliverPlanned, requestRow } from "./request-judgements.ts";

/** The judge that a service asks, as it stands in requests and behind the gate. */
export interface ServiceJudge {
  readonly model: JudgeModel;
  readonly lane: string;
  readonly promptVersion: JudgePromptVersion;
  /** What the gate stands for. */
  readonly identity: JudgeIdentity;
}

/** What scoring on demand needs from outside. */
export interface AutoScorePorts {
  readonly store: Pick<
    JudgeStorePort,
    "findResult" | "findSource" | "requestJudgements" | "takePlannedJudges" | "addJudgement" | "findCalibration"
  >;
  readonly queue: Pick<QueuePort, "enqueue" | "ping">;
  readonly now: Clock;
  /** Waits; rejects when the signal fires. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** How a service scores. */
export interface AutoScoreSettings {
  /** Null: the service has no judge, and the heuristic's verdict stands. */
  readonly judge: ServiceJudge | null;
  readonly consensus: Consensus;
  /** True: while the gate is closed a plain call has the judge run beside the heuristic. */
  readonly shadow: boolean;
  /** How long a call waits for its verdict before it hands out the poll address. */
  readonly deadlineMs: number;
  /** Longest wait for the queue to say that it is there. */
  readonly pingMs: number;
}

/** What became of a call. */
export type AutoScoreAnswer =
  | { readonly kind: "unknown" | "nothingToJudge" | "noJudge" }
  /** Another call's request is under way: it works, this one does not. */
  | { readonly kind: "busy" }
  /** The request stands in the ledger and goes on; the verdict is to be polled for. */
  | { readonly kind: "pending" }
  | {
      readonly kind: "scored";
      readonly result: JudgedResult;
      readonly gate: GateState;
      readonly verdict: DefaultVerdict;
    }
  | {
      readonly kind: "dryRun";
      readonly result: JudgedResult;
      readonly gate: GateState;
      /** The judge's verdict, which stands for nothing. */
      readonly verdict: DefaultVerdict;
      /** What stands for the result, unchanged. */
      readonly standing: DefaultVerdict | null;
    };

/** What is judged of a result with a scenario and a response; null for a trial and for anything incomplete. */
export function sourceOfResponse({ scenario, response }: JudgedResult): JudgedSource | null {
  if (scenario === null || response === null) return null;
  const { scenarioId: _scenarioId, ...asked } = scenario;
  return { kind: "response", scenario: asked, response };
}

/** The gate as a service sees it; closed where it has no judge. */
export async function serviceGate(
  store: Pick<JudgeStorePort, "findCalibration">,
  judge: ServiceJudge | null,
): Promise<GateState> {
  if (judge !== null) return gateStateOf(store, judge.identity);
  return { open: false, refusals: ["No judge is configured."], calibratedAtMs: null };
}

/** What stands for a result in a service, from what is already kept; null where nothing does. */
export function standingVerdict(
  { judgements, openRequests }: Pick<JudgedResult, "judgements" | "openRequests">,
  { judge, consensus }: Pick<AutoScoreSettings, "judge" | "consensus">,
  gate: Pick<GateState, "open">,
): DefaultVerdict | null {
  if (judge !== null) return defaultVerdict({ judgements, openRequests, judge: judge.identity, gate, consensus });
  const heuristic = judgements.findLast(isRegularHeuristic);
  return heuristic === undefined ? null : loneVerdict(heuristic);
}

/**
 * Scores one result on demand, as the seed's endpoint does. While the gate is closed the heuristic answers and nothing is
 * bought; once it is open the judge's verdict does. `dryRun` buys the judge's verdict beside whatever stands.
 *
 * Of many calls at once the one whose request the ledger took works, and waits until the deadline. Calling again buys
 * nothing again. Rejects where ledger or queue are away; a request that was taken by then is kept and carried out.
 */
export async function autoScore(
  ports: AutoScorePorts,
  settings: AutoScoreSettings,
  asked: { readonly resultId: string; readonly dryRun: boolean },
  signal: AbortSignal,
): Promise<AutoScoreAnswer> {
  const result = await ports.store.findResult(asked.resultId);
  if (result === null) return { kind: "unknown" };
  const { judge } = settings;
  if (asked.dryRun && judge === null) return { kind: "noJudge" };
  const gate = await serviceGate(ports.store, judge);
  // While the gate is closed a plain call may still have the shadow's request to write.
  const known = asked.dryRun || gate.open ? readAnswer(result, settings, gate, asked.dryRun) : null;
  if (known !== null) return known;
  const found = await ports.store.findSource(result.resultId);
  if (found === null) return { kind: "nothingToJudge" };
  const { source, sweepId } = found;
  if (asked.dryRun || gate.open) {
    if (judge === null) return { kind: "noJudge" };
    return askJudge(
      ports,
      { ...settings, judge },
      { resultId: result.resultId, sweepId, gate, dryRun: asked.dryRun },
      signal,
    );
  }
  return scoreByHeuristic(ports, settings, { result, source, sweepId, gate });
}

async function scoreByHeuristic(
  { store }: AutoScorePorts,
  settings: AutoScoreSettings,
  given: {
    readonly result: JudgedResult;
    readonly source: JudgedSource;
    readonly sweepId: string | null;
    readonly gate: GateState;
  },
): Promise<AutoScoreAnswer> {
  const { result, gate } = given;
  const { resultId } = result;
  const { judge, shadow } = settings;
  const judged = judgedOf(given.source);
  const hash = inputHash(judged);
  const isKept = result.judgements.some((one) => isRegularHeuristic(one) && one.inputHash === hash);
  if (!isKept) await store.addJudgement(heuristicJudgement({ resultId }, judged, { outage: null }));
  // Only written down: the judge's worker delivers it, and this call waits for nobody.
  if (shadow && judge !== null)
    await store.requestJudgements(rowsOf({ resultId, sweepId: given.sweepId }, judge, settings.consensus, false));
  const after = isKept ? result : await store.findResult(resultId);
  const verdict = after === null ? null : standingVerdict(after, settings, gate);
  if (after === null || verdict === null) return { kind: "unknown" };
  return { kind: "scored", result: after, gate, verdict };
}

async function askJudge(
  ports: AutoScorePorts,
  settings: AutoScoreSettings & { readonly judge: ServiceJudge },
  asked: {
    readonly resultId: string;
    readonly sweepId: string | null;
    readonly gate: GateState;
    readonly dryRun: boolean;
  },
  signal: AbortSignal,
): Promise<AutoScoreAnswer> {
  const { resultId, gate, dryRun } = asked;
  const { store, queue } = ports;
  await queue.ping(settings.pingMs);
  const rows = rowsOf(asked, settings.judge, settings.consensus, dryRun);
  // The ledger takes one of many: whose row it took works.
  if ((await store.requestJudgements(rows)) === 0) {
    const result = await readSettled(store, resultId);
    if (result === null) return { kind: "unknown" };
    const known = readAnswer(result, settings, gate, dryRun);
    return known ?? (result.openRequests > 0 ? { kind: "busy" } : endedAnswer(result, settings, gate, dryRun));
  }
  const startedMs = ports.now();
  await deliverPlanned({ store, queue });
  for (let waits = 0; !signal.aborted; waits += 1) {
    const result = await readSettled(store, resultId);
    if (result === null) return { kind: "unknown" };
    const answer = readAnswer(result, settings, gate, dryRun);
    if (answer !== null) return answer;
    if (result.openRequests === 0 && !isSpokenOf(result, settings.judge, dryRun)) {
      return endedAnswer(result, settings, gate, dryRun);
    }
    const leftMs = startedMs + settings.deadlineMs - ports.now();
    if (leftMs <= 0) break;
    await ports.sleep(Math.min(leftMs, pollMs(waits)), signal).catch(() => undefined);
  }
  return { kind: "pending" };
}

/** Short at first, for a judge that answers at once. */
function pollMs(waits: number): number {
  return Math.min(500, 25 * 2 ** Math.min(waits, 6));
}

/** Verdicts and open requests are read side by side: a request that ended between the two has its verdict in a second reading. */
async function readSettled(store: AutoScorePorts["store"], resultId: string): Promise<JudgedResult | null> {
  const result = await store.findResult(resultId);
  return result?.openRequests === 0 ? store.findResult(resultId) : result;
}

/** The answer that the judgements give by now; null while the judge is at work, or was never asked. */
function readAnswer(
  result: JudgedResult,
  settings: AutoScoreSettings,
  gate: GateState,
  dryRun: boolean,
): AutoScoreAnswer | null {
  const isOver = result.openRequests === 0;
  const standing = standingVerdict(result, settings, gate);
  if (dryRun) {
    const found = settings.judge === null ? null : dryRunJudgement(result.judgements, settings.judge.identity);
    if (found === null || !(isOver || found.status === "verdict")) return null;
    return { kind: "dryRun", result, gate, verdict: loneVerdict(found), standing };
  }
  if (standing === null) return null;
  // An unreadable reply is asked for once more; a further opinion may be due that is not asked for yet.
  const isFinal = !standing.provisional && (standing.level !== null || isOver);
  return isFinal || standing.fallback ? { kind: "scored", result, gate, verdict: standing } : null;
}

/** Whether the judge has said anything: then a further opinion may be due that nobody has asked for yet. */
function isSpokenOf({ judgements }: JudgedResult, { identity }: ServiceJudge, dryRun: boolean): boolean {
  return judgements.some(
    ({ round, modelAsked }) => (round === "dryRun") === dryRun && modelAsked === identity.judgeModel,
  );
}

/** The answer where no request is open and no verdict is final: what stands, or that the judge gave up. */
function endedAnswer(
  result: JudgedResult,
  settings: AutoScoreSettings,
  gate: GateState,
  dryRun: boolean,
): AutoScoreAnswer {
  const standing = standingVerdict(result, settings, gate);
  if (dryRun) return { kind: "dryRun", result, gate, verdict: gaveUp, standing };
  return { kind: "scored", result, gate, verdict: standing ?? gaveUp };
}

/** The judge's call ended without a judgement: refused by its vendor, too long, or out of tries. Never a level. */
const gaveUp: DefaultVerdict = {
  level: null,
  unscoredReason: "judgeGaveUp",
  confidence: null,
  spread: null,
  basis: null,
  fallback: false,
  provisional: false,
  needsHuman: true,
};

function rowsOf(
  { resultId, sweepId }: { readonly resultId: string; readonly sweepId: string | null },
  judge: ServiceJudge,
  { repeats }: Consensus,
  dryRun: boolean,
) {
  const { model, lane, promptVersion } = judge;
  return Array.from({ length: dryRun ? 1 : repeats }, (_, repeat) => {
    const round: JudgeRound = dryRun ? "dryRun" : repeat === 0 ? "first" : "repeat";
    const plan = { judge: model, promptVersion, round, repeat, generation: 0 };
    return requestRow({ resultId, sweepId }, lane, plan);
  });
}
