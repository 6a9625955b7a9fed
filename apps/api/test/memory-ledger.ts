import { randomUUID } from "node:crypto";

import type { Enqueue } from "@hallumaze/engine";
import { HalluMazeError } from "@hallumaze/foundation";
import {
  type CalibrationRecord,
  heuristicJudgement,
  type JudgedResult,
  judgedOf,
  type JudgementRecord,
  type JudgeRequestRow,
  sourceOfResponse,
  type StoredJudgement,
} from "@hallumaze/judging";

import type { ApiPorts } from "../src/api-ports.ts";
import {
  type ApiStage,
  createCaller,
  createDoor,
  type JudgePlay,
  openingCalibration,
  type OpenStage,
} from "./api-stage.ts";

interface Request extends JudgeRequestRow {
  readonly requestId: string;
  state: "planned" | "queued" | "done" | "failed";
}

/** A stage over a ledger and a queue in memory: the judge says L1 of everything. */
export async function openMemoryStage(
  settings: Parameters<OpenStage>[0] = {},
): Promise<ApiStage & { readonly loseQueue: () => void }> {
  const scenarios = new Map<string, NonNullable<JudgedResult["scenario"]>>();
  const results = new Map<string, JudgedResult>();
  const requests = new Map<string, Request>();
  const calibrations: (CalibrationRecord & { readonly createdAtMs: number })[] = [];
  const door = createDoor();
  let calls = 0;
  let play: JudgePlay = "answer";
  let isQueueThere = true;

  const keep = (judgement: JudgementRecord): void => {
    const result = results.get(judgement.resultId);
    if (result === undefined) return;
    const isKnown = result.judgements.some(
      (one) =>
        one.decidedBy === "heuristic" && one.scoredBy === judgement.scoredBy && one.promptHash === judgement.promptHash,
    );
    if (isKnown && judgement.decidedBy === "heuristic") return;
    const stored: StoredJudgement = { ...judgement, judgementId: randomUUID(), createdAtMs: Date.now() };
    results.set(result.resultId, { ...result, judgements: [...result.judgements, stored] });
  };
  const judge = async (request: Request): Promise<void> => {
    calls += 1;
    await door.passed();
    if (play === "refuse") {
      request.state = "failed";
      return;
    }
    const result = results.get(request.resultId);
    const source = result === undefined ? null : sourceOfResponse(result);
    if (source === null) return;
    const judged = judgedOf(source);
    if (play === "outage") {
      if (request.plan.round !== "dryRun")
        keep(heuristicJudgement(request, judged, { outage: "transient_server: 503" }));
      setTimeout(() => void judge(request), 20);
      return;
    }
    keep(verdictOf(request, heuristicJudgement(request, judged, { outage: null })));
    request.state = "done";
  };

  const store: ApiPorts["store"] = {
    addScenario: async (scenario) => {
      const scenarioId = randomUUID();
      scenarios.set(scenarioId, { ...scenario, scenarioId });
      return { scenarioId };
    },
    findScenario: async (scenarioId) => scenarios.get(scenarioId) ?? null,
    addResult: async ({ scenarioId, response, submitter }) => {
      const scenario = scenarios.get(scenarioId);
      if (scenario === undefined) return null;
      return { resultId: addResult({ scenario, response, submitter }) };
    },
    findResult: async (resultId) => {
      const result = results.get(resultId);
      if (result === undefined) return null;
      const open = [...requests.values()].filter(
        (one) => one.resultId === resultId && /planned|queued/.test(one.state),
      );
      return { ...result, openRequests: open.length };
    },
    findSource: async (resultId) => {
      const result = results.get(resultId);
      const source = result === undefined ? null : sourceOfResponse(result);
      return source === null ? null : { source, sweepId: null };
    },
    requestJudgements: async (rows) => {
      const added = rows.filter(({ requestKey }) => !requests.has(requestKey));
      for (const row of added) requests.set(row.requestKey, { ...row, requestId: randomUUID(), state: "planned" });
      return added.length;
    },
    takePlannedJudges: async () => {
      const planned = [...requests.values()].filter(({ state }) => state === "planned");
      for (const request of planned) request.state = "queued";
      return planned.map(({ requestId, lane }) => ({ trialId: requestId, lane, generation: 0, delayMs: 0 }));
    },
    addJudgement: async (judgement) => keep(judgement),
    findCalibration: async ({ judgeModel, promptHash, rubricVersion }) =>
      calibrations.findLast(
        (one) => one.judgeModel === judgeModel && one.promptHash === promptHash && one.rubricVersion === rubricVersion,
      ) ?? null,
    judgementsOfSweep: async function* () {
      yield [];
    },
    findSweep: async () => null,
    ping: async () => undefined,
  };
  const addResult = (given: Pick<JudgedResult, "scenario" | "response" | "submitter">): string => {
    const resultId = randomUUID();
    const rest = { trialId: null, createdAtMs: Date.now(), judgements: [], openRequests: 0 };
    results.set(resultId, { ...given, ...rest, resultId });
    return resultId;
  };
  const queue: ApiPorts["queue"] = {
    ping: async () => {
      if (!isQueueThere) throw new HalluMazeError("queue-unreachable", "the queue is away", { retry: true });
    },
    enqueue: async (_lane: string, items: readonly Enqueue[]) => {
      const ids = new Set(items.map(({ trialId }) => trialId));
      for (const request of requests.values()) if (ids.has(request.requestId)) void judge(request);
    },
  };
  // What nobody delivers the judge's worker does.
  const worker = setInterval(() => void store.takePlannedJudges(100).then((planned) => queue.enqueue("", planned)), 20);
  worker.unref();
  return {
    call: createCaller({ store, queue }, settings),
    judgeCalls: () => calls,
    play: (what) => {
      play = what;
    },
    hold: door.hold,
    release: door.release,
    addCalibration: async (change) => {
      calibrations.push({ ...openingCalibration(change), createdAtMs: Date.now() });
    },
    addBareResult: async () => addResult({ scenario: null, response: null, submitter: null }),
    loseQueue: () => {
      isQueueThere = false;
    },
  };
}

function verdictOf({ plan }: JudgeRequestRow, like: JudgementRecord): JudgementRecord {
  const identity = openingCalibration();
  return {
    ...like,
    scoredBy: "LLM-JUDGE-v1",
    decidedBy: "judge",
    level: 1,
    reasoning: "A list of words: no reason is given.",
    counterArgument: "Nothing is explained.",
    confidence: 0.9,
    modelAsked: identity.judgeModel,
    modelServed: "judge",
    promptVersion: identity.promptVersion,
    promptHash: identity.promptHash,
    rubricVersion: identity.rubricVersion,
    round: plan.round,
    repeat: plan.repeat,
  };
}
