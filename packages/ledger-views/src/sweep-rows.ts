import { decodeText } from "@hallumaze/store";
import type { LedgerVersions, SweepCounts } from "@hallumaze/viewing";

import { type Query, sql } from "./sql.ts";

/** Every sweep's counts, from those that the database keeps as they change. */
export async function sweepCounts(query: Query): Promise<readonly SweepCounts[]> {
  return query<SweepCounts>(sql`
    SELECT s.id::text AS "sweepId", trim_scale(s.budget_usd)::text AS "budgetUsd", trim_scale(s.spent_usd)::text AS "spentUsd",
      coalesce(k.states, '{}'::json) AS states,
      EXISTS (SELECT 1 FROM trial_tallies r WHERE r.sweep_id = s.id AND r.lane LIKE 'rehearsal.%') AS rehearsal
    FROM sweeps s LEFT JOIN (
      SELECT sweep_id, json_object_agg(state, trials) AS states
      FROM (
        SELECT sweep_id, state, sum(trials)::float8 AS trials FROM trial_tallies WHERE in_grid
        GROUP BY sweep_id, state HAVING sum(trials) <> 0
      ) t GROUP BY sweep_id
    ) k ON k.sweep_id = s.id
    ORDER BY s.created_at, s.id`);
}

interface VersionRow {
  readonly kind: "sweep" | "lane";
  readonly name: string;
  readonly version: string;
}

/** A word for each sweep and lane that differs whenever what is shown of it does. Reads kept counts, no trial. */
export async function ledgerVersions(query: Query): Promise<LedgerVersions> {
  const rows = await query<VersionRow>(sql`
    SELECT 'sweep' AS kind, s.name, md5(concat_ws('|', s.id, s.submitted_at, s.grid_revision, s.spent_usd, s.reserved_usd,
      s.budget_usd, s.paused_at, s.paused_models, s.cancelled_at, s.priority, s.weight, s.priority_given, s.weight_given,
      t.word, j.word)) AS version
    FROM sweeps s
    LEFT JOIN (
      SELECT sweep_id, string_agg(concat_ws(',', alias, lane, state, outcome, in_grid, n), ';' ORDER BY alias, lane, state, outcome, in_grid) AS word
      FROM (
        SELECT sweep_id, alias, lane, state, outcome, in_grid, sum(trials) AS n FROM trial_tallies GROUP BY 1, 2, 3, 4, 5, 6
      ) k GROUP BY sweep_id
    ) t ON t.sweep_id = s.id
    LEFT JOIN (
      SELECT sweep_id, string_agg(concat_ws(',', state, outcome, n), ';' ORDER BY state, outcome) AS word
      FROM (SELECT sweep_id, state, outcome, sum(requests) AS n FROM judge_tallies GROUP BY 1, 2, 3) k GROUP BY sweep_id
    ) j ON j.sweep_id = s.id
    UNION ALL
    SELECT 'lane', c.lane, md5(concat_ws('|', c.limits_json, c.parked_at, c.parked_until, c.park_reason)) FROM lane_controls c`);
  const of = (kind: VersionRow["kind"]): ReadonlyMap<string, string> =>
    new Map(rows.filter((row) => row.kind === kind).map(({ name, version }) => [decodeText(name), version]));
  return { sweeps: of("sweep"), lanes: of("lane") };
}

/** The first trial of each model and outcome that failed or is blocked; one look along an index each. */
export async function firstFailures(
  query: Query,
  sweepId: string,
): Promise<readonly { readonly alias: string; readonly outcome: string; readonly trialId: string }[]> {
  const rows = await query<{ readonly alias: string; readonly outcome: string; readonly trialId: string }>(sql`
    SELECT k.alias, k.outcome, f.id::text AS "trialId"
    FROM (
      SELECT alias, outcome FROM trial_tallies
      WHERE sweep_id = ${sweepId}::uuid AND in_grid AND state IN ('failed', 'blocked') AND outcome <> ''
      GROUP BY 1, 2 HAVING sum(trials) <> 0
    ) k CROSS JOIN LATERAL (
      SELECT t.id FROM trials t
      WHERE t.sweep_id = ${sweepId}::uuid AND t.alias = k.alias AND t.outcome = k.outcome AND t.in_grid
        AND t.state IN ('failed', 'blocked')
      ORDER BY t.finished_at, t.id LIMIT 1
    ) f`);
  return rows.map((row) => ({ ...row, alias: decodeText(row.alias) }));
}
