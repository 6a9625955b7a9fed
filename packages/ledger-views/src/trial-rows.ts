import { decodeText } from "@hallumaze/store";
import type { StoredExchange, TrialDossier } from "@hallumaze/viewing";

import { isUuid, type Query, type Sql, sql } from "./sql.ts";

/** Exchanges that are shown of one trial: one that was asked for weeks has no more than a few dozen. */
const exchangesMax = 100;

type Profiles = TrialDossier["scores"];

interface TrialRow extends Omit<TrialDossier, "conversation" | "exchanges" | "scores"> {
  readonly holderId: string;
  readonly acceptedId: string | null;
}

/** One trial with its exchanges, the conversation that was scored, and the newest numbers; null where there is none. */
export async function findTrial(query: Query, trialId: string): Promise<TrialDossier | null> {
  if (!isUuid(trialId)) return null;
  const [row] = await query<TrialRow>(sql`
    SELECT t.id::text AS "trialId", s.id::text AS "sweepId", s.name AS sweep, s.spec_json AS "specJson", t.alias, t.plan,
      t.state::text AS state, t.outcome, t.message, t.tries + t.empty_retries AS tries,
      t.source_trial_id IS NOT NULL AS "isReused", ${msOf(sql`t.created_at`)} AS "createdAtMs",
      ${msOf(sql`t.finished_at`)} AS "finishedAtMs", r.id::text AS "resultId", t.accepted_exchange_id::text AS "acceptedId",
      (SELECT trim_scale(sum(x.cost_usd))::text FROM exchanges x WHERE x.trial_id = t.id) AS "costUsd",
      coalesce(e.trial_id, t.id)::text AS "holderId",
      EXISTS (SELECT 1 FROM readings d WHERE d.trial_id = e.trial_id AND strpos(d.reading_json, '"ariadne":{') > 0) AS shadow
    FROM trials t JOIN sweeps s ON s.id = t.sweep_id LEFT JOIN results r ON r.trial_id = t.id
      LEFT JOIN exchanges e ON e.id = t.accepted_exchange_id
    WHERE t.id = ${trialId}::uuid`);
  if (row === undefined) return null;
  const { holderId, acceptedId, ...trial } = row;
  const [exchanges, conversation, scores] = await Promise.all([
    newestExchanges(query, holderId),
    acceptedId === null ? [] : scoredConversation(query, acceptedId),
    trial.state === "done" ? newestScores(query, trialId, holderId) : {},
  ]);
  return {
    ...trial,
    sweep: decodeText(trial.sweep),
    specJson: decodeText(trial.specJson),
    alias: decodeText(trial.alias),
    message: decode(trial.message),
    conversation,
    exchanges,
    scores,
  };
}

function msOf(moment: Sql): Sql {
  return sql`(extract(epoch FROM ${moment}) * 1000)::float8`;
}

function decode(stored: string | null): string | null {
  return stored === null ? null : decodeText(stored);
}

const columns = sql`x.id::text AS "exchangeId", x.turn, x.try_number AS "tryNumber", ${msOf(sql`x.created_at`)} AS "recordedAtMs",
  x.late_duplicate AS "isLate", x."text", x."text" IS NULL AND x.text_sha256 IS NOT NULL AS "isPruned", x.reasoning,
  x.finish_reason AS "finishReason", x.native_finish_reason AS "nativeFinishReason", x.outcome,
  x.error_message AS "errorMessage", x.served_model AS "servedModel", x.served_by AS "servedBy",
  x.input_tokens AS "inputTokens", x.output_tokens AS "outputTokens", x.cached_tokens AS "cachedTokens",
  x.reasoning_tokens AS "reasoningTokens", trim_scale(x.cost_usd)::text AS "costUsd",
  trim_scale(x.cost_bound_usd)::text AS "costBoundUsd", x.queue_ms AS "queueMs", x.limiter_ms AS "limiterMs",
  x.http_ms AS "httpMs", x.ttft_ms AS "ttftMs"`;

async function newestExchanges(query: Query, trialId: string): Promise<readonly StoredExchange[]> {
  const rows = await query<StoredExchange>(sql`
    SELECT ${columns} FROM exchanges x WHERE x.trial_id = ${trialId}::uuid ORDER BY x.sequence DESC LIMIT ${exchangesMax}`);
  return rows.map(decodeExchange).toReversed();
}

/** The accepted first answer and the newest reply of each turn that followed it and that its trial kept (0: all). */
async function scoredConversation(query: Query, acceptedId: string): Promise<readonly StoredExchange[]> {
  const rows = await query<StoredExchange>(sql`
    WITH first AS (
      SELECT e.*, o.kept_turns FROM exchanges e JOIN trials o ON o.id = e.trial_id WHERE e.id = ${acceptedId}::uuid
    ), later AS (
      SELECT DISTINCT ON (x.turn) x.id FROM first f JOIN exchanges x ON x.trial_id = f.trial_id
      WHERE x.turn > 0 AND x.sequence > f.sequence AND NOT x.late_duplicate AND x.outcome IS NULL
        AND (f.kept_turns = 0 OR x.turn < f.kept_turns)
      ORDER BY x.turn, x.sequence DESC
    )
    SELECT ${columns} FROM exchanges x WHERE x.id IN (SELECT id FROM first UNION ALL SELECT id FROM later)
    ORDER BY x.turn, x.sequence`);
  return rows.map(decodeExchange);
}

function decodeExchange(row: StoredExchange): StoredExchange {
  return {
    ...row,
    text: decode(row.text),
    reasoning: decode(row.reasoning),
    nativeFinishReason: decode(row.nativeFinishReason),
    errorMessage: decode(row.errorMessage),
    servedModel: decode(row.servedModel),
    servedBy: decode(row.servedBy),
  };
}

type Scores = NonNullable<Profiles[keyof Profiles]>;

/** The newest numbers of a trial; of one that was taken over its source's, unless it was rescored itself. */
async function newestScores(query: Query, trialId: string, holderId: string): Promise<Profiles> {
  const rows = await query<Scores & { readonly profile: keyof Profiles }>(sql`
    SELECT DISTINCT ON (s.profile) s.profile, s.sr, s.hc, s.fhr, s.bt, s.lt, s.hrr, s.mei, s.ce, s.brs, s.score
    FROM scores s
    WHERE s.trial_id = CASE WHEN EXISTS (SELECT 1 FROM readings r WHERE r.trial_id = ${trialId}::uuid)
      THEN ${trialId}::uuid ELSE ${holderId}::uuid END
    ORDER BY s.profile, s.created_at DESC, s.reader_version DESC, s.profile_version DESC`);
  return Object.fromEntries(rows.map(({ profile, ...scores }) => [profile, scores]));
}
