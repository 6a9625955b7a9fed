import type {
  AggregateBounds,
  AnswerTally,
  ConditionTally,
  ConfidenceTally,
  DetectorStorePort,
  MirageTally,
  PromptTally,
  RepeatTally,
  ServedTally,
  SizeTally,
  SweepAggregates,
} from "@hallumaze/detectors";
import type { CellPlan } from "@hallumaze/sweep";

import { type Database, isUuid } from "./database.ts";
import { Prisma } from "./generated/client.ts";
import { decodeText } from "./storable-text.ts";

/** The method of the ledger that counts for the detectors. */
export function createAggregateMethods(database: Database): DetectorStorePort {
  return { aggregates: (sweepId, bounds) => readAggregates(database, sweepId, bounds) };
}

async function readAggregates(database: Database, sweepId: string, bounds: AggregateBounds): Promise<SweepAggregates> {
  if (!isUuid(sweepId)) return noAggregates;
  const [counts, facts, parts] = await Promise.all([
    countConditions(database, sweepId, bounds.trials),
    readFacts(database, sweepId),
    readReplies(database, sweepId, bounds.replies),
  ]);
  const of = <Part extends keyof Parts>(part: Part): Parts[Part] =>
    parts.filter((row) => row.part === part).map((row) => decodeNames(row.value)) as unknown as Parts[Part];
  const conditions = counts.map(decodeNames);
  return {
    countedTrials: conditions.reduce((sum, { count }) => sum + count, 0),
    lookedAtTrials: of("scope").reduce((sum, { trials }) => sum + trials, 0),
    models: facts.map(({ alias, plan }) => ({
      alias: decodeText(alias),
      isBaseline: plan.provider === "sim",
      temperature: plan.temperature,
    })),
    conditions,
    prompts: of("prompt"),
    sizes: of("size"),
    served: of("served"),
    answers: of("answer"),
    mirages: of("mirage"),
    repeats: of("repeat"),
    confidences: of("confidence"),
  };
}

const noAggregates: SweepAggregates = {
  countedTrials: 0,
  lookedAtTrials: 0,
  models: [],
  conditions: [],
  prompts: [],
  sizes: [],
  served: [],
  answers: [],
  mirages: [],
  repeats: [],
  confidences: [],
};

interface Parts {
  readonly scope: readonly { readonly alias: string; readonly trials: number }[];
  readonly prompt: readonly PromptTally[];
  readonly size: readonly SizeTally[];
  readonly served: readonly ServedTally[];
  readonly answer: readonly AnswerTally[];
  readonly mirage: readonly MirageTally[];
  readonly repeat: readonly RepeatTally[];
  readonly confidence: readonly ConfidenceTally[];
}

/** Names of models come from a spec or a server. */
function decodeNames<Row extends { readonly alias: string; readonly name?: string }>(row: Row): Row {
  const name = row.name === undefined ? {} : { name: decodeText(row.name) };
  return { ...row, alias: decodeText(row.alias), ...name };
}

/**
 * The trials that are looked at: all of the grid, or where they are more than `most`, an equal part of every model and
 * size, the first seeds of each. Every step goes by the index on (sweep, alias, size, seed), so its time is that of `most`.
 */
function lookedAt(sweepId: string, most: number): Prisma.Sql {
  return Prisma.sql`${kindsOf(sweepId)}, seen AS MATERIALIZED (
      SELECT t.* FROM kinds k CROSS JOIN LATERAL (
        SELECT t.id, t.alias, t.size, t.seed, t."group" AS grp, t.mirage, t.language, t.confidence, t.repeat,
          t.state, t.outcome, t.accepted_exchange_id, t.source_trial_id
        FROM trials t
        WHERE t.sweep_id = ${sweepId}::uuid AND t.alias = k.alias AND t.size = k.size AND t.in_grid
        ORDER BY t.seed LIMIT (SELECT greatest(20, ${most}::int / count(*)) FROM kinds)
      ) t
    )`;
}

/** The sweep's models and sizes, one step along the index each. */
function kindsOf(sweepId: string): Prisma.Sql {
  return Prisma.sql`kinds AS (
      (SELECT t.alias, t.size FROM trials t WHERE t.sweep_id = ${sweepId}::uuid ORDER BY t.alias, t.size LIMIT 1)
      UNION ALL
      SELECT later.alias, later.size FROM kinds k CROSS JOIN LATERAL (
        SELECT t.alias, t.size FROM trials t
        WHERE t.sweep_id = ${sweepId}::uuid AND (t.alias, t.size) > (k.alias, k.size)
        ORDER BY t.alias, t.size LIMIT 1
      ) later
    )`;
}

async function countConditions(database: Database, sweepId: string, most: number): Promise<readonly ConditionTally[]> {
  return database.query<ConditionTally>(Prisma.sql`
    WITH RECURSIVE ${lookedAt(sweepId, most)}
    SELECT alias, size, grp AS "group", mirage, language, confidence, state::text AS state, outcome, count(*)::int AS count
    FROM seen GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8`);
}

/** One plan of each model. */
async function readFacts(
  database: Database,
  sweepId: string,
): Promise<readonly { readonly alias: string; readonly plan: CellPlan }[]> {
  return database.query(Prisma.sql`
    WITH RECURSIVE ${kindsOf(sweepId)}
    SELECT k.alias, one.plan FROM (SELECT alias, min(size) AS size FROM kinds GROUP BY alias) k CROSS JOIN LATERAL (
      SELECT plan FROM trials t WHERE t.sweep_id = ${sweepId}::uuid AND t.alias = k.alias AND t.size >= k.size AND t.in_grid
      ORDER BY t.size, t.seed LIMIT 1
    ) one ORDER BY k.alias`);
}

/** A reply to be compared with others: one that holds an answer. */
const isAnswer = Prisma.sql`answer IS NOT NULL AND outcome IN ('ok', 'truncated', 'parse_failed')`;
/** Names that a server gives itself, at most: a server may name itself anew in every reply. */
const servedNamesMax = 12;
/** Replies of each model whose stated confidences are looked at, about. */
const confidenceReplies = 40;

/** The first 64 bits of a text's hash: a million texts hold two that agree by chance once in 10^7 looks. That of a pruned text is kept. */
const hashOfText = Prisma.sql`CASE
          WHEN x."text" <> '' THEN ('x' || encode(substr(sha256(convert_to(x."text", 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint
          WHEN x."text" IS NULL THEN ('x' || left(x.text_sha256, 16))::bit(64)::bigint END`;

/**
 * Everything that needs the accepted first replies, in one statement over one look at them. Texts are hashed where they
 * lie and never leave the database.
 */
async function readReplies(
  database: Database,
  sweepId: string,
  most: number,
): Promise<readonly { readonly part: keyof Parts; readonly value: { readonly alias: string } }[]> {
  return database.query(Prisma.sql`
    WITH RECURSIVE ${lookedAt(sweepId, most)}, replies AS MATERIALIZED (
      SELECT *, ntile(4) OVER in_time - 1 AS period, row_number() OVER in_time AS place,
        count(*) OVER (PARTITION BY alias) AS of_model, lag(served_model) OVER in_time AS model_before,
        lag(served_by) OVER in_time AS host_before
      FROM (
        SELECT s.id, s.alias, s.size, s.seed, s.grp, s.mirage, s.language, s.confidence, s.repeat, s.outcome,
          s.source_trial_id, e.*
        FROM seen s CROSS JOIN LATERAL (
          SELECT x.input_tokens, x.output_tokens, x.reasoning_tokens, x.finish_reason, x.http_ms, x.created_at,
            left(x.served_model, 200) AS served_model, left(x.served_by, 200) AS served_by,
            coalesce(octet_length(x.request_json), x.request_bytes) AS sent_bytes, ${hashOfText} AS answer
          FROM exchanges x WHERE x.id = s.accepted_exchange_id LIMIT 1
        ) e
        WHERE s.state = 'done'
        -- Hashed here: the sort by time would carry the texts.
        OFFSET 0
      ) r
      WINDOW in_time AS (PARTITION BY alias ORDER BY created_at, id)
    ), ${promptParts}, ${servedParts}, ${answerParts}, ${pairParts}, ${confidenceParts}
    SELECT part, value FROM (
    SELECT 'scope' AS part, to_json(r) AS value FROM (SELECT alias, count(*)::int AS trials FROM seen GROUP BY alias) r
    UNION ALL SELECT 'prompt', to_json(r) FROM prompts r
    UNION ALL SELECT 'size', to_json(r) FROM sizes r
    UNION ALL SELECT 'served', to_json(r) FROM served r
    UNION ALL SELECT 'answer', to_json(r) FROM answers r
    UNION ALL SELECT 'mirage', to_json(r) FROM mirages r
    UNION ALL SELECT 'repeat', to_json(r) FROM repeats r
    UNION ALL SELECT 'confidence', to_json(r) FROM confidences r
    ) p ORDER BY part, value::text`);
}

const isThoughtOut = Prisma.sql`outcome = 'truncated_in_reasoning' OR (outcome = 'empty' AND finish_reason = 'length')`;

const promptParts = Prisma.sql`prompts AS (
      SELECT k.alias, k.size, k.language, k.mirage, k.confidence, k.period, t.plan, k.replies,
        k.counted AS "inputCounted", k.mean AS "inputMean", k.log_ms AS "latencyLogMean"
      FROM (
        SELECT alias, size, language, mirage, confidence, period, min(id::text)::uuid AS id, count(*)::int AS replies,
          count(input_tokens)::int AS counted, avg(input_tokens)::float8 AS mean,
          avg(ln(greatest(http_ms, 1)::float8)) AS log_ms
        FROM replies GROUP BY alias, size, language, mirage, confidence, period
      ) k CROSS JOIN LATERAL (SELECT plan FROM trials t WHERE t.id = k.id LIMIT 1) t
    ), sizes AS (
      SELECT k.alias, k.size, k.replies, k.p95 AS "completeOutputP95", k.out AS "thoughtOut",
        k.reasoning AS "thoughtOutReasoningMean", k.unknown AS "unknownFinish", k.missing AS "missingUsage",
        (t.plan->>'maxTokens')::float8 AS "maxTokens"
      FROM (
        SELECT alias, size, min(id::text)::uuid AS id, count(*)::int AS replies,
          percentile_disc(0.95) WITHIN GROUP (ORDER BY output_tokens) FILTER (WHERE outcome = 'ok') AS p95,
          (count(*) FILTER (WHERE ${isThoughtOut}))::int AS out,
          (avg(reasoning_tokens) FILTER (WHERE ${isThoughtOut}))::float8 AS reasoning,
          (count(*) FILTER (WHERE finish_reason IS NULL OR finish_reason = 'other'))::int AS unknown,
          (count(*) FILTER (WHERE input_tokens IS NULL OR output_tokens IS NULL))::int AS missing
        FROM replies GROUP BY alias, size
      ) k CROSS JOIN LATERAL (SELECT plan FROM trials t WHERE t.id = k.id LIMIT 1) t
    )`;

const timesOf = Prisma.sql`(extract(epoch FROM min(created_at)) * 1000)::float8 AS "firstMs",
            (extract(epoch FROM max(created_at)) * 1000)::float8 AS "lastMs"`;

const servedParts = Prisma.sql`served AS (
      SELECT alias, kind, name, replies, "firstMs", "lastMs", runs FROM (
        SELECT *, row_number() OVER (PARTITION BY alias, kind ORDER BY replies DESC, name) AS place
        FROM (
          SELECT alias, 'model' AS kind, served_model AS name, count(*)::int AS replies, ${timesOf},
            (count(*) FILTER (WHERE served_model IS DISTINCT FROM model_before))::int AS runs
          FROM replies WHERE served_model IS NOT NULL GROUP BY alias, served_model
          UNION ALL
          SELECT alias, 'host', served_by, count(*)::int, ${timesOf},
            (count(*) FILTER (WHERE served_by IS DISTINCT FROM host_before))::int
          FROM replies WHERE served_by IS NOT NULL GROUP BY alias, served_by
        ) n
      ) k WHERE place <= ${servedNamesMax}
    )`;

/** A text counts as shared where two mazes of one condition have it; repeats of a maze are one. */
const answerParts = Prisma.sql`texts AS (
      SELECT alias, size, count(*)::int AS mazes, min(one) AS one, max(one) AS other
      FROM (
        SELECT alias, size, language, confidence, grp, mirage, answer, seed, min(id::text) AS one
        FROM replies WHERE ${isAnswer} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
      ) m GROUP BY alias, size, language, confidence, grp, mirage, answer
    ), answers AS (
      SELECT alias, size, sum(mazes)::int AS answers, coalesce(sum(mazes) FILTER (WHERE mazes > 1), 0)::int AS shared,
        max(mazes)::int AS largest,
        coalesce((array_agg(json_build_array(one, other) ORDER BY mazes DESC, one) FILTER (WHERE mazes > 1))[1], '[]'::json) AS examples
      FROM texts GROUP BY alias, size
    )`;

/**
 * A maze without a trap has one prompt, with and without the mirage: its requests are equally long, and it is no pair. Pruned
 * requests have no length: such a maze then counts as one, 0.4 % of 5×5. */
const pairParts = Prisma.sql`pairs AS (
      SELECT alias, min(id::text) FILTER (WHERE mirage) AS one, min(id::text) FILTER (WHERE NOT mirage) AS other,
        min(answer) = max(answer) AS same_text, count(input_tokens) = 2 AS counted, min(input_tokens) = max(input_tokens) AS same_input
      FROM replies WHERE ${isAnswer}
      GROUP BY alias, size, seed, language, confidence, grp, repeat
      HAVING count(*) = 2 AND (count(sent_bytes) < 2 OR min(sent_bytes) <> max(sent_bytes))
    ), mirages AS (
      SELECT alias, count(*)::int AS pairs, (count(*) FILTER (WHERE same_text))::int AS identical,
        (count(*) FILTER (WHERE counted))::int AS counted,
        (count(*) FILTER (WHERE counted AND same_input))::int AS "sameInput",
        coalesce((array_agg(json_build_array(one, other) ORDER BY one) FILTER (WHERE same_text OR (counted AND same_input)))[1], '[]'::json)
          AS examples
      FROM pairs GROUP BY alias
    ), repeats AS (
      SELECT alias, count(*)::int AS sets, (count(*) FILTER (WHERE same_text))::int AS identical,
        coalesce((array_agg(json_build_array(one, other) ORDER BY one) FILTER (WHERE same_text))[1], '[]'::json) AS examples
      FROM (
        SELECT alias, min(answer) = max(answer) AS same_text, min(id::text) AS one, max(id::text) AS other
        FROM replies WHERE ${isAnswer} AND (SELECT max(repeat) > 0 FROM seen)
        GROUP BY alias, size, seed, language, confidence, grp, mirage HAVING count(*) > 1
      ) k GROUP BY alias
    )`;

/** The newest reading's log of confidences, of replies from all over the sweep. Text that was stored in escapes is left out. */
const confidenceParts = Prisma.sql`stated AS (
      SELECT a.alias, a.id, r.reading_json::json AS reading
      FROM replies a CROSS JOIN LATERAL (
        SELECT r.reading_json FROM readings r WHERE r.trial_id IN (a.id, a.source_trial_id)
        ORDER BY r.trial_id = a.id DESC, r.created_at DESC LIMIT 1
      ) r
      WHERE a.confidence AND a.outcome = 'ok' AND a.place % greatest(1, a.of_model / ${confidenceReplies}) = 0
        AND left(r.reading_json, 1) = '{'
    ), confidences AS (
      SELECT s.alias, count(DISTINCT s.id)::int AS replies, (count(DISTINCT s.id) FILTER (WHERE c.value IS NULL))::int AS without,
        count(c.value)::int AS statements, count(DISTINCT c.value->>'confidence')::int AS distinct
      FROM (SELECT * FROM stated WHERE (reading->>'attempts')::float8 > 0) s
      LEFT JOIN LATERAL json_array_elements(s.reading->'confidenceLog') c ON true
      GROUP BY s.alias
    )`;
