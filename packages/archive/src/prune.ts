import { toStoreError } from "@hallumaze/store";
import type pg from "pg";

import { openClient } from "./back-up.ts";

/** Which exchanges lose what is large of them. */
export interface PruneWish {
  /** Null: those of every sweep, and judgements of results that stand in none. */
  readonly sweepId: string | null;
  /** Only of trials that ended so long ago by the server's clock. */
  readonly olderThanMs: number;
  /** True: the replies' text too, after which they cannot be scored or judged again. */
  readonly withText: boolean;
  /** True: only count. */
  readonly dryRun: boolean;
}

/** What was pruned, or would be. */
export interface PruneReport {
  readonly trials: number;
  readonly exchanges: number;
  readonly judgements: number;
  /** What these columns take in the database, compressed as they lie there. */
  readonly storedBytes: number;
  /** Trials left for the next time: another process held them. */
  readonly skipped: number;
}

/** A batch's rows are locked for some milliseconds only. */
const trialsPerBatch = 200;

/**
 * Removes what is large and no report reads: request, raw body and reasoning of exchanges, request and raw body of
 * judgements, and the text where that is asked for. SHA-256 hashes of what went stay, with the time. Readings, scores,
 * usage and cost stay, so that every table and export is what it was.
 *
 * Only of trials that have ended, and nothing that a further try could still use. The text of a reply on which a trial of
 * another sweep stands is kept while that sweep is not pruned too. Safe to repeat, and beside workers.
 */
export async function prune(databaseUrl: string, wish: PruneWish, signal: AbortSignal): Promise<PruneReport> {
  const client = openClient(databaseUrl);
  try {
    await client.connect();
    const { rows } = await client.query<{ readonly cutoff: string }>(
      "SELECT (clock_timestamp() - $1::float8 * interval '1 millisecond')::text AS cutoff",
      [wish.olderThanMs],
    );
    const cutoff = rows[0]?.cutoff ?? "";
    const { rows: sweeps } = await client.query<{ readonly id: string }>(
      "SELECT id::text FROM sweeps WHERE $1::uuid IS NULL OR id = $1::uuid ORDER BY created_at, id",
      [wish.sweepId],
    );
    let report: PruneReport = { trials: 0, exchanges: 0, judgements: 0, storedBytes: 0, skipped: 0 };
    for (const { id } of sweeps) {
      for await (const batch of listEnded(client, id, cutoff, signal)) {
        report = add(report, await pruneBatch(client, batch, wish));
      }
    }
    if (wish.sweepId === null) report = add(report, await pruneOwnResults(client, cutoff, wish, signal));
    return report;
  } catch (error) {
    signal.throwIfAborted();
    throw toStoreError(error, databaseUrl);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function add(sum: PruneReport, part: PruneReport): PruneReport {
  return {
    trials: sum.trials + part.trials,
    exchanges: sum.exchanges + part.exchanges,
    judgements: sum.judgements + part.judgements,
    storedBytes: sum.storedBytes + part.storedBytes,
    skipped: sum.skipped + part.skipped,
  };
}

const hasEnded = "t.state IN ('done', 'failed', 'cancelled') AND t.finished_at < $2::timestamptz";

/** Ids of ended trials, in the order of an index of the sweep: each page begins where the last one ended. */
async function* listEnded(
  client: pg.ClientBase,
  sweepId: string,
  cutoff: string,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  let after = "";
  for (;;) {
    signal.throwIfAborted();
    const { rows } = await client.query<{ readonly id: string; readonly cellId: string; readonly ended: boolean }>(
      `SELECT t.id::text, t.cell_id AS "cellId", ${hasEnded} AS ended FROM trials t
       WHERE t.sweep_id = $1::uuid AND t.cell_id > $3 ORDER BY t.cell_id LIMIT $4`,
      [sweepId, cutoff, after, trialsPerBatch],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    const ended = rows.filter((row) => row.ended === true).map((row) => row.id);
    if (ended.length > 0) yield ended;
    after = last.cellId;
  }
}

const hash = (column: string): string => `encode(sha256(convert_to(${column}, 'UTF8')), 'hex')`;

/** What a trial's row must say while its exchanges are pruned; locked, so that no retry begins meanwhile. */
const lockedTrials = `
  wanted AS (
    SELECT t.id FROM trials t WHERE t.id = ANY ($1::uuid[]) AND t.state IN ('done', 'failed', 'cancelled')
  ), held AS MATERIALIZED (
    SELECT t.id, t.state, t.sweep_id, t.settled_sequence FROM trials t JOIN wanted w ON w.id = t.id
    WHERE t.state IN ('done', 'failed', 'cancelled') ORDER BY t.id FOR NO KEY UPDATE OF t SKIP LOCKED
  ), judged AS (
    SELECT r.id AS result_id, r.trial_id FROM results r JOIN held h ON h.id = r.trial_id
  ), asked AS (
    SELECT j.trial_id FROM judged j JOIN judge_requests q ON q.result_id = j.result_id
    WHERE q.state IN ('planned', 'queued', 'running', 'blocked')
  ), body AS (
    SELECT e.id, h.id AS trial_id,
      -- A failed try's reply may be what a retry goes on from: of such a trial, text and reasoning stay.
      h.state = 'done' AS is_done,
      h.state = 'done' AND $2::boolean AND e."text" <> '' AND NOT EXISTS (SELECT 1 FROM asked a WHERE a.trial_id = h.id)
        -- A row that took an answer over has its source's age, however young its sweep is: it keeps the text.
        AND NOT EXISTS (SELECT 1 FROM trials o WHERE o.source_trial_id = h.id AND o.sweep_id <> h.sweep_id) AS is_text_gone
    FROM held h JOIN exchanges e ON e.trial_id = h.id
  ), chosen AS (
    SELECT b.*, e.request_json, e.raw_body, e.reasoning, e."text" FROM body b JOIN exchanges e ON e.id = b.id
    WHERE e.request_json IS NOT NULL OR e.raw_body IS NOT NULL OR (b.is_done AND e.reasoning IS NOT NULL)
      OR (b.is_text_gone AND e."text" IS NOT NULL)
  ), verdicts AS (
    SELECT v.id, v.request_json, v.raw_body FROM judgements v JOIN judged j ON j.result_id = v.result_id
    WHERE (v.request_json IS NOT NULL OR v.raw_body IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM asked a WHERE a.trial_id = j.trial_id)
  )`;

const sums = `
  SELECT (SELECT count(DISTINCT trial_id)::int FROM chosen) AS trials, (SELECT count(*)::int FROM chosen) AS exchanges,
    (SELECT count(*)::int FROM verdicts) AS judgements,
    ((SELECT coalesce(sum(coalesce(pg_column_size(request_json), 0) + coalesce(pg_column_size(raw_body), 0)
        + CASE WHEN is_done THEN coalesce(pg_column_size(reasoning), 0) ELSE 0 END
        + CASE WHEN is_text_gone THEN coalesce(pg_column_size("text"), 0) ELSE 0 END), 0) FROM chosen)
      + (SELECT coalesce(sum(coalesce(pg_column_size(request_json), 0) + coalesce(pg_column_size(raw_body), 0)), 0) FROM verdicts)
    )::float8 AS "storedBytes",
    ((SELECT count(*) FROM wanted) - (SELECT count(*) FROM held))::int AS skipped`;

const writeVerdicts = `
  UPDATE judgements v SET request_json = NULL, raw_body = NULL, pruned_at = clock_timestamp(),
    request_sha256 = coalesce(v.request_sha256, ${hash("v.request_json")}), raw_sha256 = coalesce(v.raw_sha256, ${hash("v.raw_body")})
  FROM verdicts c WHERE v.id = c.id`;

async function pruneBatch(client: pg.ClientBase, trialIds: readonly string[], wish: PruneWish): Promise<PruneReport> {
  const written = `, emptied AS (
    UPDATE exchanges e SET request_json = NULL, raw_body = NULL, pruned_at = clock_timestamp(),
      request_sha256 = coalesce(e.request_sha256, ${hash("e.request_json")}),
      request_bytes = coalesce(e.request_bytes, octet_length(e.request_json)),
      raw_sha256 = coalesce(e.raw_sha256, ${hash("e.raw_body")}),
      reasoning = CASE WHEN c.is_done THEN NULL ELSE e.reasoning END,
      reasoning_sha256 = CASE WHEN c.is_done THEN coalesce(e.reasoning_sha256, ${hash("e.reasoning")}) ELSE e.reasoning_sha256 END,
      "text" = CASE WHEN c.is_text_gone THEN NULL ELSE e."text" END,
      text_sha256 = CASE WHEN c.is_text_gone THEN coalesce(e.text_sha256, ${hash('e."text"')}) ELSE e.text_sha256 END
    FROM chosen c WHERE e.id = c.id
  ), emptied_verdicts AS (${writeVerdicts})`;
  const { rows } = await client.query<PruneReport>(`WITH ${lockedTrials}${wish.dryRun ? "" : written} ${sums}`, [
    trialIds,
    wish.withText,
  ]);
  return rows[0] ?? { trials: 0, exchanges: 0, judgements: 0, storedBytes: 0, skipped: 0 };
}

/** Judgements of results that came over HTTP or from a gold set: their age is their own. */
async function pruneOwnResults(
  client: pg.ClientBase,
  cutoff: string,
  wish: PruneWish,
  signal: AbortSignal,
): Promise<PruneReport> {
  let sum: PruneReport = { trials: 0, exchanges: 0, judgements: 0, storedBytes: 0, skipped: 0 };
  let after = "00000000-0000-0000-0000-000000000000";
  for (;;) {
    signal.throwIfAborted();
    const { rows } = await client.query<{
      readonly last: string | null;
      readonly judgements: number;
      readonly storedBytes: number;
    }>(
      `WITH page AS (
         SELECT v.id, v.created_at, v.result_id FROM judgements v WHERE v.id > $1::uuid ORDER BY v.id LIMIT $3
       ), verdicts AS MATERIALIZED (
         SELECT v.id, v.request_json, v.raw_body FROM page p JOIN judgements v ON v.id = p.id JOIN results r ON r.id = v.result_id
         WHERE r.trial_id IS NULL AND v.created_at < $2::timestamptz AND (v.request_json IS NOT NULL OR v.raw_body IS NOT NULL)
           AND NOT EXISTS (SELECT 1 FROM judge_requests q WHERE q.result_id = r.id
             AND q.state IN ('planned', 'queued', 'running', 'blocked'))
       )${wish.dryRun ? "" : `, emptied AS (${writeVerdicts})`}
       SELECT (SELECT max(id::text) FROM page) AS last, (SELECT count(*)::int FROM verdicts) AS judgements,
         (SELECT coalesce(sum(coalesce(pg_column_size(request_json), 0) + coalesce(pg_column_size(raw_body), 0)), 0) FROM verdicts)::float8
           AS "storedBytes"`,
      [after, cutoff, trialsPerBatch * 5],
    );
    const [page] = rows;
    if (page === undefined || page.last === null) return sum;
    sum = add(sum, {
      ...sum,
      trials: 0,
      exchanges: 0,
      skipped: 0,
      judgements: page.judgements,
      storedBytes: page.storedBytes,
    });
    after = page.last;
  }
}
