import { decodeText } from "@hallumaze/store";
import type { CalibrationRow, GoldText } from "@hallumaze/viewing";

import { isUuid, type Query, type Sql, sql } from "./sql.ts";

interface StoredCalibration extends Omit<CalibrationRow, "refusals"> {
  readonly refusalsJson: string;
}

/** The newest calibrations, newest first. */
export function calibrations(query: Query, limit: number): Promise<readonly CalibrationRow[]> {
  return read(query, sql`ORDER BY c.created_at DESC, c.id DESC LIMIT ${limit}`);
}

/** One calibration. */
export async function findCalibrationById(query: Query, calibrationId: string): Promise<CalibrationRow | null> {
  if (!isUuid(calibrationId)) return null;
  const [row] = await read(query, sql`WHERE c.id = ${calibrationId}::uuid`);
  return row ?? null;
}

async function read(query: Query, rest: Sql): Promise<readonly CalibrationRow[]> {
  const rows = await query<StoredCalibration>(sql`
    SELECT c.id::text AS "calibrationId", (extract(epoch FROM c.created_at) * 1000)::float8 AS "createdAtMs",
      c.gold_set_id AS "goldSetId", c.split, c.judge_model AS "judgeModel", c.prompt_version AS "promptVersion",
      c.prompt_hash AS "promptHash", c.rubric_version AS "rubricVersion", c.items, c.open,
      c.refusals_json AS "refusalsJson", c.report_json AS "reportJson"
    FROM calibrations c ${rest}`);
  return rows.map(({ refusalsJson, reportJson, ...row }) => ({
    ...row,
    refusals: JSON.parse(refusalsJson) as readonly string[],
    reportJson: decodeText(reportJson),
  }));
}

interface StoredText {
  readonly prompt: string;
  readonly expectedL3: string;
  readonly criteriaL1: string | null;
  readonly criteriaL2: string | null;
  readonly response: string;
}

/** The texts of a gold set's items, as they were given to judges. */
export async function goldTexts(query: Query, goldSetId: string, limit: number): Promise<readonly GoldText[]> {
  const rows = await query<StoredText>(sql`
    SELECT s.prompt, s.expected_l3 AS "expectedL3", s.criteria_l1 AS "criteriaL1", s.criteria_l2 AS "criteriaL2", r.response
    FROM results r JOIN scenarios s ON s.id = r.scenario_id
    WHERE r.submitter = ${`gold ${goldSetId}`} AND r.response IS NOT NULL ORDER BY r.created_at, r.id LIMIT ${limit}`);
  return rows.map(({ prompt, expectedL3, criteriaL1, criteriaL2, response }) => ({
    scenario: {
      prompt: decodeText(prompt),
      expectedL3: decodeText(expectedL3),
      criteriaL1: criteriaL1 === null ? null : decodeText(criteriaL1),
      criteriaL2: criteriaL2 === null ? null : decodeText(criteriaL2),
    },
    response: decodeText(response),
  }));
}
