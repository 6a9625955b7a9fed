import { decodeText, encodeText } from "@hallumaze/store";
import type { LabelPort, StoredLabel } from "@hallumaze/viewing";

import { isUuid, type Query, sql } from "./sql.ts";

/** The methods of the ledger that hold people's labels. */
export function createLabelMethods(query: Query): LabelPort {
  return {
    drawLabelling: (sweepId, most) => drawLabelling(query, sweepId, most),
    countLabelling: (sweepId) => countLabelling(query, sweepId),
    nextLabelling: async (sweepId, rater) => {
      const [row] = await query<{ readonly itemId: string; readonly trialId: string }>(sql`
        SELECT i.id::text AS "itemId", i.trial_id::text AS "trialId" FROM labelling_items i
        WHERE i.sweep_id = ${sweepId}::uuid AND NOT EXISTS (
          SELECT 1 FROM human_labels l WHERE l.item_id = i.id AND l.rater = ${encodeText(rater)})
        ORDER BY i.position LIMIT 1`);
      return row ?? null;
    },
    saveLabel: async (sweepId, { itemId, rater, level, reason }) => {
      if (!isUuid(itemId)) return false;
      const rows = await query(sql`
        INSERT INTO human_labels AS l (item_id, rater, level, reason)
        SELECT i.id, ${encodeText(rater)}, ${level}::smallint, ${reason === null ? null : encodeText(reason)}
        FROM labelling_items i WHERE i.id = ${itemId}::uuid AND i.sweep_id = ${sweepId}::uuid
        ON CONFLICT (item_id, rater) DO UPDATE SET level = excluded.level, reason = excluded.reason,
          created_at = clock_timestamp()
        RETURNING 1 AS kept`);
      return rows.length > 0;
    },
    labelsOf: async (sweepId) => {
      const rows = await query<StoredLabel>(sql`
        SELECT i.id::text AS "itemId", i.trial_id::text AS "trialId", l.rater, l.level, l.reason
        FROM labelling_items i JOIN human_labels l ON l.item_id = i.id
        WHERE i.sweep_id = ${sweepId}::uuid ORDER BY i.position, l.rater`);
      return rows.map((row) => ({
        ...row,
        rater: decodeText(row.rater),
        reason: row.reason === null ? null : decodeText(row.reason),
      }));
    },
  };
}

/** The order is that of a hash of the trials' ids: the same for everybody, and of no model or condition. */
async function drawLabelling(query: Query, sweepId: string, most: number): Promise<number> {
  await query(sql`
    INSERT INTO labelling_items (sweep_id, position, trial_id)
    SELECT t.sweep_id, row_number() OVER (ORDER BY md5(t.id::text), t.id), t.id
    FROM (
      SELECT t.id, t.sweep_id FROM trials t JOIN exchanges e ON e.id = t.accepted_exchange_id
      WHERE t.sweep_id = ${sweepId}::uuid AND t.in_grid AND t.state = 'done' AND e."text" IS NOT NULL
      ORDER BY md5(t.id::text), t.id LIMIT ${most}
    ) t
    WHERE NOT EXISTS (SELECT 1 FROM labelling_items i WHERE i.sweep_id = ${sweepId}::uuid)
    ON CONFLICT DO NOTHING`);
  return countLabelling(query, sweepId);
}

async function countLabelling(query: Query, sweepId: string): Promise<number> {
  const [row] = await query<{ readonly items: number }>(
    sql`SELECT count(*)::int AS items FROM labelling_items WHERE sweep_id = ${sweepId}::uuid`,
  );
  return row?.items ?? 0;
}
