import { canonicalJson } from "@hallumaze/foundation";
import type { JudgedResult, JudgeStorePort } from "@hallumaze/judging";

import { type Database, isUuid } from "./database.ts";
import { hashText } from "./exchanges.ts";
import { Prisma } from "./generated/client.ts";
import { readJudgements } from "./judgements.ts";
import { decodeNullable, decodeText, encodeNullable, encodeText } from "./storable-text.ts";

type ResultMethods = Pick<JudgeStorePort, "addScenario" | "addResult" | "findScenario" | "findResult" | "listUnjudged">;
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
      WHERE t.sweep_id = ${sweepId}::uuid AND t.in_grid AND t.state = 'done' ${beyond}
        AND ('x' || substr(md5(t.cell_id), 1, 7))::bit(28)::int < ${options.share}::float8 * 268435456
        AND NOT EXISTS (
          SELECT 1 FROM results r JOIN judge_requests q ON q.result_id = r.id
          WHERE r.trial_id = t.id AND q.plan_json::json->>'judgeKey' = ${encodeText(options.judge)})
      ORDER BY t.id LIMIT ${options.limit}
    ), made AS (
      INSERT INTO results (trial_id) SELECT id FROM chosen
      ON CONFLICT (trial_id) DO UPDATE SET trial_id = excluded.trial_id RETURNING id, trial_id
    )
    SELECT id::text AS "resultId", trial_id::text AS "trialId" FROM made ORDER BY trial_id`);
}
