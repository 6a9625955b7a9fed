import type { BatchStorePort } from "@hallumaze/batching";
import type { OpenTrial, ScoredTrial, StorePort, TrialEnd } from "@hallumaze/engine";

import { coalesce } from "./coalesce.ts";
import { type Database, isUuid, jsonRows } from "./database.ts";
import { isItemsFault } from "./errors.ts";
import { Prisma } from "./generated/client.ts";
import { settleMoney } from "./money.ts";
import { asOpenTrial } from "./open-trials.ts";
import { encodeText } from "./storable-text.ts";

type EndMethods = Pick<StorePort, "endTry" | "saveScores">;

const scoresPerStatement = 500;

/** The methods of the store that write what became of a try. */
export function createEndMethods(database: Database): EndMethods & { readonly drain: () => Promise<void> } {
  const ends = coalesce<Ending, "ended" | "lost">({
    runBatch: (endings) => endBatch(database, endings),
    keyOf: (ending) => ending.trialId,
    sizeOf: ({ end }) => (end.kind === "done" ? end.scored.readingJson.length : end.message.length),
    maxItems: 128,
    maxSize: 2_000_000,
    maxInFlight: 2,
    isItemsFault,
  });
  return {
    endTry: async (trialId, fence, end) => (isUuid(trialId) ? ends.call({ trialId, fence, end }) : "lost"),
    saveScores: (scored) => saveScores(database, scored),
    drain: ends.drain,
  };
}

interface Ending {
  readonly trialId: string;
  readonly fence: number;
  readonly end: TrialEnd;
}

/** The columns of `scored` and `input` that hold what the pure part made of a reply. */
const scoredColumns = Prisma.sql`outcome text, reader_version text, reading_json text, scores json`;

/**
 * Inserts of the reading and the scores of the rows of `source` (id, outcome, reader_version, reading_json, scores). A
 * repeat of the same versions overwrites: the same reply gives the same numbers.
 */
function writeScores(source: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    written_readings AS (
      INSERT INTO readings (trial_id, reader_version, outcome, reading_json)
      SELECT id, reader_version, outcome, reading_json FROM ${source}
      ON CONFLICT (trial_id, reader_version) DO UPDATE SET
        outcome = excluded.outcome, reading_json = excluded.reading_json, created_at = excluded.created_at
    ), written_scores AS (
      INSERT INTO scores (trial_id, profile, profile_version, reader_version, sr, hc, fhr, bt, lt, hrr, mei, ce, brs, score)
      SELECT source.id, s.profile, s.version, source.reader_version, s.sr, s.hc, s.fhr, s.bt, s.lt, s.hrr, s.mei, s.ce,
        s.brs, s.score
      FROM ${source} source CROSS JOIN LATERAL json_to_recordset(source.scores) AS s(profile text, version text, sr smallint,
        hc float8, fhr float8, bt float8, lt float8, hrr float8, mei float8, ce float8, brs float8, score float8)
      ON CONFLICT (trial_id, profile, profile_version, reader_version) DO UPDATE SET
        sr = excluded.sr, hc = excluded.hc, fhr = excluded.fhr, bt = excluded.bt, lt = excluded.lt, hrr = excluded.hrr,
        mei = excluded.mei, ce = excluded.ce, brs = excluded.brs, score = excluded.score, created_at = excluded.created_at
    )`;
}

/**
 * One statement a batch: state, reading and scores stand together or not at all, and only where the fence still holds.
 * An end settles the trial's exchanges so far, so that no later claim takes a reply that has been judged already; not so
 * `internal`, where the scoring broke and the reply is still good.
 */
async function endBatch(database: Database, endings: readonly Ending[]): Promise<readonly ("ended" | "lost")[]> {
  const rows = await database.query<{ readonly id: string }>(Prisma.sql`
    WITH input AS (
      SELECT * FROM json_to_recordset(${jsonRows(endings.map(toEndRow))}) AS i(trial_id uuid, fence int, kind text,
        message text, after_ms float8, spends text, kept_turns smallint, ${scoredColumns})
    ), held AS (
      SELECT t.id, t.cancel_requested AND i.kind <> 'done' AS is_cancelled, i.kind, i.message, i.after_ms, i.spends, i.kept_turns, i.outcome, i.reader_version, i.reading_json, i.scores
      FROM input i JOIN trials t ON t.id = i.trial_id AND t.fence = i.fence AND t.state = 'running'
      ORDER BY t.id FOR NO KEY UPDATE OF t
    ), ended AS (
      UPDATE trials t SET
        state = CASE WHEN h.is_cancelled THEN 'cancelled' WHEN h.kind = 'retry' THEN 'queued' WHEN h.kind IN ('done', 'blocked') THEN h.kind
          WHEN h.outcome = 'cancelled' THEN 'cancelled' WHEN h.outcome = 'budget_blocked' THEN 'blocked'
          ELSE 'failed' END::trial_state,
        outcome = CASE WHEN h.is_cancelled THEN 'cancelled' ELSE h.outcome END,
        message = CASE WHEN h.is_cancelled THEN 'cancelled by an operator; its last try: ' || h.outcome ELSE h.message END,
        cancel_requested = false,
        tries = t.tries + CASE WHEN h.kind IN ('done', 'failed') OR h.spends = 'try' THEN 1 ELSE 0 END,
        empty_retries = t.empty_retries + CASE WHEN h.spends = 'empty' THEN 1 ELSE 0 END,
        waits = t.waits + CASE WHEN h.spends = 'wait' THEN 1 ELSE 0 END,
        not_before = CASE WHEN h.kind = 'retry' THEN clock_timestamp() + h.after_ms * interval '1 millisecond' END,
        queued_at = CASE WHEN h.kind = 'retry' THEN clock_timestamp() END,
        finished_at = CASE WHEN h.is_cancelled OR h.kind IN ('done', 'failed') THEN clock_timestamp() END,
        claimed_by = NULL, lease_until = NULL,
        settled_sequence = CASE WHEN h.outcome = 'internal' THEN t.settled_sequence
          ELSE coalesce(last.sequence, t.settled_sequence) END,
        kept_turns = coalesce(h.kept_turns, t.kept_turns),
        accepted_exchange_id = CASE WHEN h.kind = 'done' THEN reply.id END
      FROM held h
      LEFT JOIN LATERAL (
        SELECT e.sequence FROM exchanges e WHERE e.trial_id = h.id ORDER BY e.sequence DESC LIMIT 1
      ) last ON true
      LEFT JOIN LATERAL (
        SELECT e.id FROM exchanges e WHERE e.trial_id = h.id AND e.turn = 0 AND NOT e.late_duplicate
          AND e.outcome IS NULL
        ORDER BY e.sequence DESC LIMIT 1
      ) reply ON true
      WHERE t.id = h.id
      RETURNING t.id
    ), scored AS (
      SELECT held.* FROM held JOIN ended ON ended.id = held.id WHERE held.kind = 'done'
    ), ${writeScores(Prisma.sql`scored`)}
    SELECT id::text FROM ended`);
  const ended = new Set(rows.map((row) => row.id));
  return endings.map((ending) => (ended.has(ending.trialId.toLowerCase()) ? "ended" : "lost"));
}

function toEndRow({ trialId, fence, end }: Ending) {
  const base = { trial_id: trialId, fence, kind: end.kind };
  if (end.kind === "done") return { ...base, ...toScoredRow(end.scored), kept_turns: end.keptTurns ?? 0 };
  const failed = { ...base, outcome: end.outcome, message: encodeText(end.message), kept_turns: end.keptTurns ?? 0 };
  return end.kind !== "retry" ? failed : { ...failed, after_ms: end.afterMs, spends: end.spends };
}

function toScoredRow(scored: ScoredTrial) {
  return {
    outcome: scored.outcome,
    reader_version: scored.readerVersion,
    reading_json: encodeText(scored.readingJson),
    scores: Object.entries(scored.profiles).map(([profile, { version, scores }]) => ({ profile, version, ...scores })),
  };
}

async function saveScores(database: Database, scored: Parameters<StorePort["saveScores"]>[0]): Promise<void> {
  // The last of two for one trial counts: one statement cannot write a row twice.
  const byTrial = new Map(
    scored.filter(({ trialId }) => isUuid(trialId)).map((entry) => [entry.trialId.toLowerCase(), entry]),
  );
  const entries = [...byTrial.values()];
  for (let start = 0; start < entries.length; start += scoresPerStatement) {
    const part = entries.slice(start, start + scoresPerStatement);
    const input = part.map((entry) => ({ trial_id: entry.trialId, ...toScoredRow(entry.scored) }));
    await database.query(Prisma.sql`
      WITH input AS (
        SELECT * FROM json_to_recordset(${jsonRows(input)}) AS i(trial_id uuid, ${scoredColumns})
      ), done AS (
        SELECT t.id, i.outcome, i.reader_version, i.reading_json, i.scores
        FROM input i JOIN trials t ON t.id = i.trial_id AND t.state = 'done'
        ORDER BY t.id FOR NO KEY UPDATE OF t
      ), reread AS (
        UPDATE trials t SET outcome = done.outcome FROM done WHERE t.id = done.id AND t.outcome IS DISTINCT FROM done.outcome
      ), ${writeScores(Prisma.sql`done`)}
      SELECT count(*)::int AS saved FROM done`);
  }
}

/**
 * A part of a statement: gives back the claims of `source` (trial_id, fence), as `release` does, into the lane that `lane`
 * says; null: its own. What changes its lane is of a new generation. Requests to judges stay in theirs.
 */
function giveBack(source: Prisma.Sql, lane: Prisma.Sql = Prisma.sql`NULL::text`): Prisma.Sql {
  return Prisma.sql`
    locked AS (
      SELECT t.id, ${lane} AS lane FROM ${source} l JOIN trials t ON t.id = l.trial_id AND t.fence = l.fence AND t.state = 'running'
      ORDER BY t.id FOR NO KEY UPDATE OF t
    ), given_back AS (
      UPDATE trials t SET state = CASE WHEN t.cancel_requested THEN 'cancelled' ELSE 'queued' END::trial_state,
        outcome = CASE WHEN t.cancel_requested THEN 'cancelled' ELSE t.outcome END,
        message = CASE WHEN t.cancel_requested THEN 'cancelled by an operator' ELSE t.message END,
        finished_at = CASE WHEN t.cancel_requested THEN clock_timestamp() END,
        cancel_requested = false, claimed_by = NULL, lease_until = NULL, queued_at = clock_timestamp(),
        lane = coalesce(locked.lane, t.lane), went_live = t.went_live OR locked.lane IS NOT NULL,
        generation = t.generation + CASE WHEN locked.lane IS NULL THEN 0 ELSE 1 END
      FROM locked WHERE t.id = locked.id RETURNING t.*
    ), locked_judges AS (
      SELECT q.id FROM ${source} l JOIN judge_requests q ON q.id = l.trial_id AND q.fence = l.fence AND q.state = 'running'
      ORDER BY q.id FOR NO KEY UPDATE OF q
    ), judges_back AS (
      UPDATE judge_requests q SET state = 'queued', claimed_by = NULL, lease_until = NULL, queued_at = clock_timestamp()
      FROM locked_judges j WHERE q.id = j.id RETURNING 1
    )`;
}

/** Marks rows of a batch as landed, and gives their claims back. */
export async function landBatchRows(database: Database, batchId: string, positions: readonly number[]): Promise<void> {
  if (positions.length === 0) return;
  await database.query(Prisma.sql`
    WITH landed AS (
      UPDATE batch_rows r SET landed_at = clock_timestamp(), request_json = NULL
      WHERE r.batch_id = ${batchId}::uuid AND r.landed_at IS NULL
        AND r.position IN (SELECT json_array_elements_text(${JSON.stringify(positions)}::json)::int)
      RETURNING r.trial_id, r.fence
    ), ${giveBack(Prisma.sql`landed`)}
    SELECT count(*)::int AS back FROM given_back`);
}

/** A part of a statement: takes rows of a batch `b` out of it and gives back the money that was held for them. */
function takeOut(which: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    gone AS (
      DELETE FROM batch_rows r USING b WHERE r.batch_id = b.id AND r.landed_at IS NULL AND ${which}
      RETURNING r.trial_id, r.fence, r.turn, r.try_number, b.live_lane
    ), closed AS (
      DELETE FROM open_requests o USING gone g WHERE o.subject_id = g.trial_id AND o.fence = g.fence AND o.turn = g.turn
        AND o.try_number = g.try_number RETURNING o.sweep_id, o.bound_usd
    ), ${settleMoney(Prisma.sql`SELECT sweep_id, 0 AS spent, coalesce(bound_usd, 0) AS released FROM closed`)}`;
}

/** What goes live, of the rows that were given back. */
const goneLive = Prisma.sql`SELECT ${asOpenTrial} FROM given_back t JOIN sweeps s ON s.id = t.sweep_id
    WHERE t.state = 'queued' AND NOT ${isBatchLaneOf(Prisma.sql`t.lane`)} ORDER BY t.ordinal, t.id`;

function isBatchLaneOf(lane: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`${lane} ~ '^(rehearsal\\.)?batch\\.'`;
}

/** Gives back all rows of a batch that have not landed, and ends it. */
export async function dropBatch(
  database: Database,
  batchId: string,
  isLive: boolean,
): ReturnType<BatchStorePort["dropBatch"]> {
  const [row] = await database.query<{ readonly rows: number }>(
    Prisma.sql`SELECT count(*)::int AS rows FROM batch_rows WHERE batch_id = ${batchId}::uuid AND landed_at IS NULL`,
  );
  const live = await database.query<OpenTrial>(Prisma.sql`
    WITH b AS (
      SELECT id, live_lane FROM batches WHERE id = ${batchId}::uuid AND state <> 'done' FOR NO KEY UPDATE
    ), ${takeOut(Prisma.sql`true`)},
    ${giveBack(Prisma.sql`gone`, isLive ? Prisma.sql`l.live_lane` : undefined)}, ended AS (
      UPDATE batches x SET state = 'done', done_at = clock_timestamp(), claimed_by = NULL, lease_until = NULL,
        message = 'dropped: nothing of it was run' FROM b WHERE x.id = b.id
    )
    ${goneLive}`);
  return { rows: row?.rows ?? 0, live };
}

/** Gives rows of a batch back to be asked live. */
export async function returnBatchRows(
  database: Database,
  batchId: string,
  positions: readonly number[],
): Promise<readonly OpenTrial[]> {
  return database.query<OpenTrial>(Prisma.sql`
    WITH b AS (
      SELECT id, live_lane FROM batches WHERE id = ${batchId}::uuid FOR NO KEY UPDATE
    ), ${takeOut(Prisma.sql`r.position IN (SELECT json_array_elements_text(${JSON.stringify(positions)}::json)::int)`)},
    ${giveBack(Prisma.sql`gone`, Prisma.sql`l.live_lane`)}
    ${goneLive}`);
}

/** Moves what waits in a lane of a sweep's judges to another. */
export async function moveJudges(
  database: Database,
  sweepId: string,
  lane: string,
  to: string,
): Promise<readonly OpenTrial[]> {
  return database.query<OpenTrial>(Prisma.sql`
    WITH moved AS (
      UPDATE judge_requests q SET lane = ${to}, state = 'queued', generation = q.generation + 1, queued_at = clock_timestamp()
      WHERE q.sweep_id = ${sweepId}::uuid AND q.lane = ${lane} AND q.state IN ('planned', 'queued') RETURNING q.*
    )
    SELECT q.id::text AS "trialId", q.lane, q.generation, 0 AS "delayMs", 0 AS priority FROM moved q ORDER BY q.created_at, q.id`);
}

/** What is late is due at once: its batches are looked at, and cancelled, by whoever drives them next. */
export async function moveLive(
  database: Database,
  sweepId: string,
  lane: string,
  to: string,
  { aliases, isLate }: Parameters<BatchStorePort["moveLive"]>[3],
): Promise<readonly OpenTrial[]> {
  const isTheirs = Prisma.sql`t.sweep_id = ${sweepId}::uuid
    AND t.alias IN (SELECT json_array_elements_text(${JSON.stringify(aliases.map(encodeText))}::json))`;
  if (isLate) {
    await database.query(Prisma.sql`
      UPDATE batches b SET late_at = clock_timestamp(), not_before = CASE WHEN b.state = 'submitting' THEN b.not_before END
      WHERE b.lane = ${lane} AND b.live_lane IS NOT NULL AND b.state <> 'done' AND b.late_at IS NULL AND EXISTS (
        SELECT 1 FROM batch_rows r JOIN trials t ON t.id = r.trial_id
        WHERE r.batch_id = b.id AND r.landed_at IS NULL AND ${isTheirs})
      RETURNING 1 AS late`);
  }
  return database.query<OpenTrial>(Prisma.sql`
    WITH waiting AS (
      SELECT t.id FROM trials t WHERE ${isTheirs} AND t.lane = ${lane} AND t.in_grid
        AND t.state IN ('planned', 'queued') AND (${isLate} OR t.tries + t.waits + t.empty_retries > 0)
      ORDER BY t.id FOR NO KEY UPDATE
    ), moved AS (
      UPDATE trials t SET lane = ${to}, went_live = true, state = 'queued', generation = t.generation + 1, queued_at = clock_timestamp()
      FROM waiting w WHERE t.id = w.id RETURNING t.*
    )
    SELECT ${asOpenTrial} FROM moved t JOIN sweeps s ON s.id = t.sweep_id ORDER BY t.ordinal, t.id`);
}
