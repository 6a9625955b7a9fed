import type { JudgedSource, JudgeStorePort } from "@hallumaze/judging";

import { type Database, isUuid } from "./database.ts";
import { Prisma } from "./generated/client.ts";
import { decodeNullable, decodeText } from "./storable-text.ts";

type TrialSource = Extract<JudgedSource, { readonly kind: "trial" }>;

/** What a statement gives of a result's source. */
export interface SourceRow {
  readonly trialPlan: TrialSource["plan"] | null;
  readonly replies: TrialSource["replies"] | null;
  readonly response: string | null;
  readonly prompt: string | null;
  readonly expectedL3: string | null;
  readonly criteriaL1: string | null;
  readonly criteriaL2: string | null;
}

/** The columns of a `SourceRow`, with `sourceJoins`. */
export const sourceColumns = Prisma.sql`t.plan AS "trialPlan", talk.replies, r.response, s.prompt,
  s.expected_l3 AS "expectedL3", s.criteria_l1 AS "criteriaL1", s.criteria_l2 AS "criteriaL2"`;

/** Joins what is judged of a result `r`: its scenario, or its trial with the conversation that was scored. */
export const sourceJoins = Prisma.sql`LEFT JOIN scenarios s ON s.id = r.scenario_id
    LEFT JOIN trials t ON t.id = r.trial_id LEFT JOIN exchanges e ON e.id = t.accepted_exchange_id
    LEFT JOIN LATERAL (
      SELECT json_agg(json_build_object('text', coalesce(x."text", ''), 'finishReason', x.finish_reason) ORDER BY x.turn) AS replies
      FROM (
        SELECT e."text", e.finish_reason, 0 AS turn
        UNION ALL
        SELECT f."text", f.finish_reason, f.turn FROM (
          SELECT DISTINCT ON (y.turn) y.* FROM exchanges y
          WHERE y.trial_id = e.trial_id AND y.turn > 0 AND y.sequence > e.sequence AND NOT y.late_duplicate
            AND y.outcome IS NULL AND t."group" <> 'A'
          ORDER BY y.turn, y.sequence DESC
        ) f
      ) x
    ) talk ON e.id IS NOT NULL`;

/** What is judged; null where there is nothing to judge. */
export function toSource(row: SourceRow): JudgedSource | null {
  if (row.trialPlan !== null && row.replies !== null) {
    const replies = row.replies.map((reply) => ({ ...reply, text: decodeText(reply.text) }));
    return { kind: "trial", plan: row.trialPlan, replies };
  }
  if (row.prompt === null || row.expectedL3 === null || row.response === null) return null;
  const scenario = {
    prompt: decodeText(row.prompt),
    expectedL3: decodeText(row.expectedL3),
    criteriaL1: decodeNullable(row.criteriaL1),
    criteriaL2: decodeNullable(row.criteriaL2),
  };
  return { kind: "response", scenario, response: decodeText(row.response) };
}

/** The method of the ledger that reads what is judged. */
export function createSourceMethods(database: Database): Pick<JudgeStorePort, "findSource"> {
  return {
    findSource: async (resultId) => {
      if (!isUuid(resultId)) return null;
      const [row] = await database.query<SourceRow & { readonly sweepId: string | null }>(Prisma.sql`
        SELECT t.sweep_id::text AS "sweepId", ${sourceColumns} FROM results r ${sourceJoins} WHERE r.id = ${resultId}::uuid`);
      const source = row === undefined ? null : toSource(row);
      return source === null ? null : { source, sweepId: row?.sweepId ?? null };
    },
  };
}
