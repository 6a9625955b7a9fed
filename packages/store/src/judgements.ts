import { randomUUID } from "node:crypto";

import { canonicalJson } from "@hallumaze/foundation";
import type {
  CalibrationRecord,
  JudgedResult,
  JudgementRecord,
  JudgeStorePort,
  StoredJudgement,
} from "@hallumaze/judging";

import { type Database, isUuid, jsonRows } from "./database.ts";
import { StoreError } from "./errors.ts";
import { hashText } from "./exchanges.ts";
import { Prisma } from "./generated/client.ts";
import { hasText } from "./stream-trials.ts";
import { decodeNullable, decodeText, encodeNullable, encodeText } from "./storable-text.ts";

type JudgementMethods = Pick<
  JudgeStorePort,
  "addJudgement" | "judgementsOf" | "judgementsOfSweep" | "addCalibration" | "findCalibration" | "countLooks"
>;

/** The methods of the ledger that hold verdicts and what a judge has shown on gold sets. */
export function createJudgementMethods(database: Database): JudgementMethods {
  return {
    addJudgement: async (judgement) => {
      await database.query(Prisma.sql`
        WITH input AS (SELECT i.*, false AS late_duplicate FROM ${judgementRows(judgement)}), ${insertJudgements}
        SELECT count(*)::int AS written FROM judged`);
    },
    judgementsOf: (resultIds) =>
      readJudgements(
        database,
        Prisma.sql`j.result_id IN (SELECT i::uuid FROM json_array_elements_text(${JSON.stringify(resultIds)}::json) AS i)`,
      ),
    judgementsOfSweep: (sweepId, pageSize) => judgementsOfSweep(database, sweepId, pageSize),
    addCalibration: async ({ refusals, ...plain }) => {
      await database.run((prisma) =>
        prisma.calibration.create({
          data: { ...plain, refusalsJson: JSON.stringify(refusals), reportJson: encodeText(plain.reportJson) },
        }),
      );
    },
    findCalibration: (key) => findCalibration(database, key),
    countLooks: async (goldSetId) =>
      database.run((prisma) => prisma.calibration.count({ where: { goldSetId, split: { not: "dev" } } })),
  };
}

/** A judgement as a relation of one row for a statement; of a batch's row, with the id that it has had from the start. */
export function judgementRows(
  judgement: JudgementRecord,
  batch?: { readonly batchId: string; readonly judgementId: string },
): Prisma.Sql {
  const row = { ...toRow(judgement), batch_id: batch?.batchId ?? null, id: batch?.judgementId ?? idOf(judgement) };
  return Prisma.sql`json_to_recordset(${jsonRows([row])}) AS i(id uuid, result_id uuid, scored_by text,
    decided_by text, status text, level smallint, unscored_reason text, reasoning text, counter_argument text,
    confidence float8, evidence_json text, flags_json text, fallback boolean, provisional boolean, model_asked text,
    model_served text, prompt_version text, prompt_hash text, rubric_version text, params_json text, input_hash text,
    round text, repeat int, attempt int, request_json text, raw_body text, input_tokens int, output_tokens int,
    cost_usd numeric, price_date date, http_ms int, batch_id uuid)`;
}

/** Writes the rows of `input` as `judged`; a repeated write of one judgement is one row. A part of a statement. */
export const insertJudgements = Prisma.sql`judged AS (
    INSERT INTO judgements (id, result_id, scored_by, decided_by, status, level, unscored_reason, reasoning,
      counter_argument, confidence, evidence_json, flags_json, fallback, provisional, model_asked, model_served,
      prompt_version, prompt_hash, rubric_version, params_json, input_hash, round, repeat, attempt, request_json,
      raw_body, input_tokens, output_tokens, cost_usd, price_date, http_ms, batch_id, late_duplicate)
    SELECT i.id, i.result_id, i.scored_by, i.decided_by, i.status, i.level, i.unscored_reason, i.reasoning,
      i.counter_argument, i.confidence, i.evidence_json, i.flags_json, i.fallback, i.provisional, i.model_asked,
      i.model_served, i.prompt_version, i.prompt_hash, i.rubric_version, i.params_json, i.input_hash, i.round, i.repeat,
      i.attempt, i.request_json, i.raw_body, i.input_tokens, i.output_tokens, i.cost_usd, i.price_date, i.http_ms, i.batch_id, i.late_duplicate
    FROM input i ON CONFLICT DO NOTHING RETURNING id
  )`;

const ids = new WeakMap<JudgementRecord, string>();

/** A second write of the same object, after a failure that may have come after the commit, is the same row. */
function idOf(judgement: JudgementRecord): string {
  const id = ids.get(judgement) ?? randomUUID();
  ids.set(judgement, id);
  return id;
}

function toRow(judgement: JudgementRecord) {
  const { usage } = judgement;
  return {
    result_id: judgement.resultId,
    scored_by: judgement.scoredBy,
    decided_by: judgement.decidedBy,
    status: judgement.status,
    level: judgement.level,
    unscored_reason: encodeNullable(judgement.unscoredReason),
    reasoning: encodeNullable(judgement.reasoning),
    counter_argument: encodeNullable(judgement.counterArgument),
    confidence: judgement.confidence,
    evidence_json: encodeText(JSON.stringify(judgement.evidence)),
    flags_json: JSON.stringify(judgement.flags),
    fallback: judgement.fallback,
    provisional: judgement.provisional,
    model_asked: encodeText(judgement.modelAsked),
    model_served: encodeNullable(judgement.modelServed),
    prompt_version: judgement.promptVersion,
    prompt_hash: judgement.promptHash,
    rubric_version: judgement.rubricVersion,
    params_json: encodeText(judgement.paramsJson),
    input_hash: judgement.inputHash,
    round: judgement.round,
    repeat: judgement.repeat,
    attempt: judgement.attempt,
    request_json: encodeNullable(judgement.requestJson),
    raw_body: encodeNullable(judgement.rawBody),
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cost_usd: judgement.costUsd,
    price_date: judgement.priceDate,
    http_ms: judgement.httpMs === null ? null : Math.round(judgement.httpMs),
  };
}

type JudgementRow = Omit<StoredJudgement, "evidence" | "flags" | "usage"> & {
  readonly trialId: string | null;
  readonly evidenceJson: string;
  readonly flagsJson: string;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
};

const columns = Prisma.sql`j.id::text AS "judgementId", j.result_id::text AS "resultId", j.scored_by AS "scoredBy",
  j.decided_by AS "decidedBy", j.status, j.level, j.unscored_reason AS "unscoredReason", j.reasoning,
  j.counter_argument AS "counterArgument", j.confidence, j.evidence_json AS "evidenceJson", j.flags_json AS "flagsJson",
  j.fallback, j.provisional, j.model_asked AS "modelAsked", j.model_served AS "modelServed",
  j.prompt_version AS "promptVersion", j.prompt_hash AS "promptHash", j.rubric_version AS "rubricVersion",
  j.params_json AS "paramsJson", j.input_hash AS "inputHash", j.round, j.repeat, j.attempt,
  j.request_json AS "requestJson", j.raw_body AS "rawBody", j.input_tokens AS "inputTokens",
  j.output_tokens AS "outputTokens", trim_scale(j.cost_usd)::text AS "costUsd", j.price_date::text AS "priceDate",
  j.http_ms AS "httpMs", (extract(epoch FROM j.created_at) * 1000)::float8 AS "createdAtMs"`;

/** Reads the judgements that meet a condition on `j`, oldest first. */
export async function readJudgements(database: Database, condition: Prisma.Sql): Promise<readonly StoredJudgement[]> {
  const rows = await database.query<JudgementRow>(
    Prisma.sql`SELECT ${columns} FROM judgements j WHERE NOT j.late_duplicate AND ${condition} ORDER BY j.created_at, j.id`,
  );
  return rows.map(toJudgement);
}

function toJudgement(row: JudgementRow): StoredJudgement {
  const { evidenceJson, flagsJson, inputTokens, outputTokens, trialId: _trialId, ...plain } = row;
  return {
    ...plain,
    unscoredReason: decodeNullable(row.unscoredReason),
    reasoning: decodeNullable(row.reasoning),
    counterArgument: decodeNullable(row.counterArgument),
    evidence: JSON.parse(decodeText(evidenceJson)) as StoredJudgement["evidence"],
    flags: JSON.parse(flagsJson) as StoredJudgement["flags"],
    modelAsked: decodeText(row.modelAsked),
    modelServed: decodeNullable(row.modelServed),
    paramsJson: decodeText(row.paramsJson),
    requestJson: decodeNullable(row.requestJson),
    rawBody: decodeNullable(row.rawBody),
    usage: { inputTokens, outputTokens, cachedTokens: null, reasoningTokens: null },
  };
}

async function* judgementsOfSweep(
  database: Database,
  sweepId: string,
  pageSize: number,
): AsyncGenerator<readonly { readonly trialId: string; readonly judgements: readonly StoredJudgement[] }[]> {
  if (!isUuid(sweepId)) return;
  let after: string | null = null;
  for (;;) {
    const beyond: Prisma.Sql = after === null ? Prisma.empty : Prisma.sql`AND r.trial_id > ${after}::uuid`;
    const rows: readonly JudgementRow[] = await database.query<JudgementRow>(Prisma.sql`
      WITH page AS (
        SELECT r.id, r.trial_id FROM results r JOIN trials t ON t.id = r.trial_id
        WHERE t.sweep_id = ${sweepId}::uuid AND t.in_grid ${beyond} ORDER BY r.trial_id LIMIT ${pageSize}
      )
      SELECT p.trial_id::text AS "trialId", ${columns} FROM page p JOIN judgements j ON j.result_id = p.id AND NOT j.late_duplicate
      ORDER BY p.trial_id, j.created_at, j.id`);
    const last = await lastOfPage(database, sweepId, after, pageSize);
    const byTrial = new Map<string, StoredJudgement[]>();
    for (const row of rows) {
      const trialId = row.trialId ?? "";
      byTrial.set(trialId, [...(byTrial.get(trialId) ?? []), toJudgement(row)]);
    }
    if (byTrial.size > 0) yield [...byTrial].map(([trialId, judgements]) => ({ trialId, judgements }));
    if (last === null) return;
    after = last;
  }
}

/** The last trial of a page, judged or not; null where there is none. */
async function lastOfPage(
  database: Database,
  sweepId: string,
  after: string | null,
  pageSize: number,
): Promise<string | null> {
  const beyond = after === null ? Prisma.empty : Prisma.sql`AND r.trial_id > ${after}::uuid`;
  const [row] = await database.query<{ readonly last: string | null }>(Prisma.sql`
    SELECT max(trial_id::text) AS last FROM (
      SELECT r.trial_id FROM results r JOIN trials t ON t.id = r.trial_id
      WHERE t.sweep_id = ${sweepId}::uuid AND t.in_grid ${beyond} ORDER BY r.trial_id LIMIT ${pageSize}
    ) page`);
  return row?.last ?? null;
}

/** Below this not even full agreement has a lower bound of 0.90. */
const fewestGateItems = 36;

async function findCalibration(
  database: Database,
  { judgeModel, promptHash, rubricVersion }: Parameters<JudgeStorePort["findCalibration"]>[0],
): ReturnType<JudgeStorePort["findCalibration"]> {
  const newest = (fewestItems: number) =>
    database.run((prisma) =>
      prisma.calibration.findFirst({
        where: { judgeModel, promptHash, rubricVersion, split: { in: ["test", "all"] }, items: { gte: fewestItems } },
        orderBy: [{ createdAt: "desc" }, { id: "desc" }],
      }),
    );
  // A set too small to open the gate cannot close it either; it stands where there is no other.
  const row = (await newest(fewestGateItems)) ?? (await newest(0));
  if (row === null) return null;
  const { refusalsJson, reportJson, createdAt, id: _id, ...plain } = row;
  const calibration: CalibrationRecord = {
    ...plain,
    refusals: JSON.parse(refusalsJson) as readonly string[],
    reportJson: decodeText(reportJson),
  };
  return { ...calibration, createdAtMs: createdAt.getTime() };
}

type ResultMethods = Pick<
  JudgeStorePort,
  "addScenario" | "addResult" | "findScenario" | "findResult" | "listUnjudged" | "goldResults"
>;
type Scenario = Parameters<JudgeStorePort["addScenario"]>[0];

/** The methods of the ledger that hold what is judged. */
export function createJudgeResultMethods(database: Database): ResultMethods {
  return {
    addScenario: (scenario) => addScenario(database, scenario),
    addResult: async ({ scenarioId, response, submitter }) => {
      if (!isUuid(scenarioId)) return null;
      const [row] = await database.query<{ readonly resultId: string }>(Prisma.sql`
        INSERT INTO results (scenario_id, response, submitter)
        SELECT s.id, ${encodeText(response)}, ${encodeNullable(submitter)} FROM scenarios s WHERE s.id = ${scenarioId}::uuid
        RETURNING id::text AS "resultId"`);
      return row ?? null;
    },
    findScenario: async (scenarioId) => {
      if (!isUuid(scenarioId)) return null;
      const row = await database.run((prisma) => prisma.scenario.findUnique({ where: { id: scenarioId } }));
      return row === null ? null : toScenario(row);
    },
    findResult: (resultId) => findResult(database, resultId),
    goldResults: async (goldSetId, items) => {
      const ids: string[] = [];
      for (const [position, item] of items.entries())
        ids.push(await goldResult(database, `gold ${goldSetId}`, position, item));
      return ids;
    },
    listUnjudged: (sweepId, options) => listUnjudged(database, sweepId, options),
  };
}

async function addScenario(database: Database, scenario: Scenario): Promise<{ readonly scenarioId: string }> {
  const { prompt, expectedL3, criteriaL1, criteriaL2 } = scenario;
  const contentId = hashText(canonicalJson([prompt, expectedL3, criteriaL1, criteriaL2]));
  const row = await database.run((prisma) =>
    prisma.scenario.upsert({
      where: { contentId },
      update: {},
      create: {
        contentId,
        prompt: encodeText(prompt),
        expectedL3: encodeText(expectedL3),
        criteriaL1: encodeNullable(criteriaL1),
        criteriaL2: encodeNullable(criteriaL2),
      },
    }),
  );
  return { scenarioId: row.id };
}

function toScenario(row: {
  readonly id: string;
  readonly prompt: string;
  readonly expectedL3: string;
  readonly criteriaL1: string | null;
  readonly criteriaL2: string | null;
}) {
  return {
    scenarioId: row.id,
    prompt: decodeText(row.prompt),
    expectedL3: decodeText(row.expectedL3),
    criteriaL1: decodeNullable(row.criteriaL1),
    criteriaL2: decodeNullable(row.criteriaL2),
  };
}

async function findResult(database: Database, resultId: string): Promise<JudgedResult | null> {
  if (!isUuid(resultId)) return null;
  const row = await database.run((prisma) =>
    prisma.result.findUnique({ where: { id: resultId }, include: { scenario: true } }),
  );
  if (row === null) return null;
  const [judgements, [open]] = await Promise.all([
    readJudgements(database, Prisma.sql`j.result_id = ${resultId}::uuid`),
    database.query<{ readonly count: number }>(Prisma.sql`
      SELECT count(*)::int AS count FROM judge_requests
      WHERE result_id = ${resultId}::uuid AND state IN ('planned', 'queued', 'running', 'blocked')`),
  ]);
  return {
    resultId: row.id,
    trialId: row.trialId,
    submitter: decodeNullable(row.submitter),
    scenario: row.scenario === null ? null : toScenario(row.scenario),
    response: decodeNullable(row.response),
    createdAtMs: row.createdAt.getTime(),
    judgements,
    openRequests: open?.count ?? 0,
  };
}

/** The share is drawn by the cell's id, so that every process, and a later one, draws the same trials. */
async function listUnjudged(
  database: Database,
  sweepId: string,
  options: Parameters<JudgeStorePort["listUnjudged"]>[1],
): ReturnType<JudgeStorePort["listUnjudged"]> {
  if (!isUuid(sweepId)) return [];
  const beyond = options.after === null ? Prisma.empty : Prisma.sql`AND t.id > ${options.after}::uuid`;
  return database.query<{ readonly resultId: string; readonly trialId: string }>(Prisma.sql`
    WITH chosen AS (
      SELECT t.id FROM trials t
      WHERE t.sweep_id = ${sweepId}::uuid AND t.in_grid AND t.state = 'done' AND ${hasText} ${beyond}
        AND ('x' || substr(md5(t.cell_id), 1, 7))::bit(28)::int < ${options.share}::float8 * 268435456
        AND NOT EXISTS (
          SELECT 1 FROM results r JOIN judge_requests q ON q.result_id = r.id
          WHERE r.trial_id = t.id AND q.plan_json::json->>'judgeKey' = ${encodeText(options.judge)}
            AND q.plan_json::json->>'round' = 'first')
      ORDER BY t.id LIMIT ${options.limit}
    ), made AS (
      INSERT INTO results (trial_id) SELECT id FROM chosen
      ON CONFLICT (trial_id) DO UPDATE SET trial_id = excluded.trial_id RETURNING id, trial_id
    )
    SELECT id::text AS "resultId", trial_id::text AS "trialId" FROM made ORDER BY trial_id`);
}

/** A gold item is known by its set and its texts: an interrupted calibration finds what it has made. */
async function goldResult(
  database: Database,
  submitter: string,
  position: number,
  { scenario, response }: { readonly scenario: Scenario; readonly response: string },
): Promise<string> {
  const { scenarioId } = await addScenario(database, scenario);
  const [row] = await database.query<{ readonly id: string }>(Prisma.sql`
    WITH known AS (
      SELECT id FROM results WHERE scenario_id = ${scenarioId}::uuid AND submitter = ${submitter}
        AND response = ${encodeText(response)} ORDER BY created_at, id LIMIT 1
    ), made AS (
      INSERT INTO results (scenario_id, response, submitter)
      SELECT ${scenarioId}::uuid, ${encodeText(response)}, ${submitter} WHERE NOT EXISTS (SELECT 1 FROM known)
      RETURNING id
    )
    SELECT id::text FROM known UNION ALL SELECT id::text FROM made`);
  if (row === undefined) throw new StoreError("database-refused", `Gold item ${position} could not be kept.`);
  return row.id;
}
