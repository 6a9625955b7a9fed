import type { Outcome, RowPart, StoredReply, StorePort, TrialRow, TrialState, Usage } from "@hallumaze/engine";
import type { JudgedSource, JudgeStorePort } from "@hallumaze/judging";

import { type Database, isUuid, jsonRows } from "./database.ts";
import { Prisma } from "./generated/client.ts";
import { decodeNullable, decodeText } from "./storable-text.ts";

type ProfileName = keyof TrialRow["scores"];
type ProfileScores = NonNullable<TrialRow["scores"][ProfileName]>;

/** The methods of the store that read whole sweeps, a page at a time. */
export function createStreamMethods(
  database: Database,
): Pick<StorePort, "streamTrials" | "streamReplies" | "repliesOf"> {
  return {
    streamTrials: (sweepId, pageSize, reading) => streamTrials(database, sweepId, pageSize, reading),
    streamReplies: (sweepId, pageSize) => streamReplies(database, sweepId, pageSize),
    repliesOf: async (trialIds) => {
      const ids = trialIds.filter(isUuid);
      if (ids.length === 0) return [];
      const page = Prisma.sql`page AS MATERIALIZED (SELECT t.* FROM trials t WHERE t.id = ANY(${ids}::uuid[]) AND ${answered})`;
      return (await readReplies(database, page)).map(toReply);
    },
  };
}

/** The fixed order: the alias by code unit, then the conditions, then the id. */
const order = Prisma.sql`t.alias, t.size, t.seed, t."group", t.mirage, t.language, t.confidence, t.repeat, t.id`;

interface OrderedRow {
  readonly storedAlias: string;
  readonly trialId: string;
  readonly size: number;
  readonly seed: number;
}

const orderColumns = Prisma.sql`t.alias AS "storedAlias", t.id::text AS "trialId", t.size, t.seed::float8 AS seed`;

/**
 * The rows after `last`, `pageSize` of them and those that share the last one's alias, size and seed: a page ends where
 * the indexed columns change, so that the next one starts by the index alone however far into the sweep it is.
 */
function pageAfter(sweepId: string, last: OrderedRow | null, pageSize: number, condition: Prisma.Sql): Prisma.Sql {
  const beyond =
    last === null
      ? Prisma.empty
      : Prisma.sql`AND (t.alias, t.size, t.seed) > (${last.storedAlias}, ${last.size}::int, ${last.seed}::bigint)`;
  return Prisma.sql`page AS MATERIALIZED (
    SELECT t.* FROM trials t WHERE t.sweep_id = ${sweepId}::uuid AND ${condition} ${beyond}
    ORDER BY t.alias, t.size, t.seed FETCH FIRST ${pageSize} ROWS WITH TIES
  )`;
}

const accepted = Prisma.sql`LEFT JOIN LATERAL (
    SELECT * FROM exchanges x WHERE x.id = t.accepted_exchange_id LIMIT 1
  ) e ON true`;

/** What the further turns of a result took; a shadow of group A is no part of its result. */
const furtherTurns = Prisma.sql`CROSS JOIN LATERAL (
    SELECT coalesce(sum(x.input_tokens), 0)::int AS input, coalesce(sum(x.output_tokens), 0)::int AS output,
      coalesce(sum(x.cached_tokens), 0)::int AS cached, coalesce(sum(x.reasoning_tokens), 0)::int AS reasoning,
      coalesce(sum(x.http_ms), 0)::int AS ms
    FROM exchanges x WHERE t."group" <> 'A' AND x.trial_id = e.trial_id AND x.turn > 0 AND x.sequence > e.sequence
      AND NOT x.late_duplicate AND x.outcome IS NULL
  ) further`;

interface TrialPageRow extends OrderedRow {
  readonly cellId: string;
  readonly sweep: string;
  readonly plan: TrialRow["plan"];
  readonly state: TrialState;
  readonly outcome: Outcome | null;
  readonly tries: number;
  readonly message: string | null;
  readonly sourceTrialId: string | null;
  readonly hasExchange: boolean;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cachedTokens: number | null;
  readonly reasoningTokens: number | null;
  readonly servedModel: string | null;
  readonly costUsd: string | null;
  readonly latencyMs: number | null;
  readonly finishedAtMs: number | null;
}

const ofExchange = Prisma.sql`e.id IS NOT NULL AS "hasExchange", e.input_tokens + further.input AS "inputTokens",
        e.output_tokens + further.output AS "outputTokens", e.cached_tokens + further.cached AS "cachedTokens",
        e.reasoning_tokens + further.reasoning AS "reasoningTokens", e.served_model AS "servedModel",
        (SELECT trim_scale(sum(x.cost_usd))::text FROM exchanges x WHERE x.trial_id = t.id) AS "costUsd",
        e.http_ms + further.ms AS "latencyMs", (extract(epoch FROM t.finished_at) * 1000)::float8 AS "finishedAtMs"
      FROM page t JOIN sweeps s ON s.id = t.sweep_id ${accepted} ${furtherTurns}`;

const noExchange = Prisma.sql`false AS "hasExchange", NULL AS "servedModel", NULL AS "costUsd", NULL AS "latencyMs",
        NULL AS "finishedAtMs"
      FROM page t JOIN sweeps s ON s.id = t.sweep_id`;

async function* streamTrials(
  database: Database,
  sweepId: string,
  pageSize: number,
  reading: ReadingPart = "whole",
): AsyncGenerator<readonly TrialRow[]> {
  if (!isUuid(sweepId)) return;
  let last: TrialPageRow | null = null;
  for (;;) {
    const rows: readonly TrialPageRow[] = await database.query<TrialPageRow>(Prisma.sql`
      WITH ${pageAfter(sweepId, last, pageSize, Prisma.sql`t.in_grid`)}
      SELECT ${orderColumns}, t.cell_id AS "cellId", s.name AS sweep, t.plan, t.state::text AS state, t.outcome,
        t.tries + t.empty_retries AS tries, t.message, t.source_trial_id::text AS "sourceTrialId",
        ${reading === "scores" ? noExchange : ofExchange}
      ORDER BY ${order}`);
    if (rows.length === 0) return;
    const found = await findScores(database, rows, reading);
    yield rows.map((row) => toTrialRow(row, found.get(row.trialId)));
    if (rows.length < pageSize) return;
    last = rows.at(-1) ?? null;
  }
}

type ReadingPart = "whole" | RowPart;

/**
 * What a reading is read as: `walk` is a fifth of the whole. A text that is escaped for storage is no JSON to the database,
 * and it refuses some escapes of JSON (U+0000, half a pair): such readings come whole.
 */
const readingColumns: Readonly<Record<Exclude<ReadingPart, "scores">, Prisma.Sql>> = {
  whole: Prisma.sql`r.reading_json`,
  walk: Prisma.sql`CASE WHEN left(r.reading_json, 1) <> '{' OR strpos(r.reading_json, '\\u') > 0 THEN r.reading_json
    ELSE json_build_object('walk', r.reading_json::json -> 'walk', 'ariadne', r.reading_json::json -> 'ariadne')::text END`,
};

interface Found {
  readonly scores: Partial<Record<ProfileName, ProfileScores>>;
  readonly readingJson: string | null;
}

interface ScoreRow extends ProfileScores {
  readonly trialId: string;
  readonly profile: ProfileName;
}

/**
 * The newest numbers of each trial. One that was taken over shows its source's, unless it was rescored itself: a rescore
 * of one sweep does not change another.
 */
async function findScores(
  database: Database,
  page: readonly TrialPageRow[],
  reading: ReadingPart,
): Promise<ReadonlyMap<string, Found>> {
  const input = page.map(({ trialId, sourceTrialId }) => ({ own: trialId, source: sourceTrialId }));
  // Lateral with a limit or an offset: one look into the index a trial, whatever the planner thinks of tables that have
  // grown since it last counted them.
  const wanted = Prisma.sql`
    WITH wanted AS (
      SELECT i.own, CASE WHEN i.source IS NULL OR rescored.found THEN i.own ELSE i.source END AS holder
      FROM json_to_recordset(${jsonRows(input)}) AS i(own uuid, source uuid)
      LEFT JOIN LATERAL (SELECT true AS found FROM readings r WHERE r.trial_id = i.own LIMIT 1) rescored ON true
    )`;
  const [readings, scores] = await Promise.all([
    reading === "scores"
      ? []
      : database.query<{ readonly trialId: string; readonly readingJson: string }>(Prisma.sql`
      ${wanted}
      SELECT w.own::text AS "trialId", ${readingColumns[reading]} AS "readingJson"
      FROM wanted w CROSS JOIN LATERAL (
        SELECT * FROM readings r WHERE r.trial_id = w.holder ORDER BY r.created_at DESC, r.reader_version DESC LIMIT 1
      ) r`),
    database.query<ScoreRow>(Prisma.sql`
      ${wanted}
      SELECT w.own::text AS "trialId", s.profile, s.sr, s.hc, s.fhr, s.bt, s.lt, s.hrr, s.mei, s.ce, s.brs, s.score
      FROM wanted w CROSS JOIN LATERAL (
        SELECT DISTINCT ON (profile) * FROM scores s WHERE s.trial_id = w.holder
        ORDER BY s.profile, s.created_at DESC, s.reader_version DESC, s.profile_version DESC OFFSET 0
      ) s`),
  ]);
  const found = new Map<string, Found>();
  for (const { trialId, readingJson } of readings)
    found.set(trialId, { scores: {}, readingJson: decodeText(readingJson) });
  for (const { trialId, profile, ...numbers } of scores) {
    const known = found.get(trialId) ?? { scores: {}, readingJson: null };
    found.set(trialId, { ...known, scores: { ...known.scores, [profile]: numbers } });
  }
  return found;
}

function toTrialRow(row: TrialPageRow, found: Found | undefined): TrialRow {
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens } = row;
  const usage: Usage | null = row.hasExchange ? { inputTokens, outputTokens, cachedTokens, reasoningTokens } : null;
  return {
    trialId: row.trialId,
    cellId: decodeText(row.cellId),
    sweep: decodeText(row.sweep),
    alias: decodeText(row.storedAlias),
    plan: row.plan,
    state: row.state,
    outcome: row.outcome,
    tries: row.tries,
    message: decodeNullable(row.message),
    reused: row.sourceTrialId !== null,
    scores: row.state === "done" ? (found?.scores ?? {}) : {},
    readingJson: row.state === "done" ? (found?.readingJson ?? null) : null,
    usage,
    servedModel: decodeNullable(row.servedModel),
    costUsd: row.costUsd,
    latencyMs: row.latencyMs,
    finishedAtMs: row.finishedAtMs,
  };
}

interface ReplyPageRow extends OrderedRow {
  readonly plan: StoredReply["plan"];
  readonly first: StoredReply["replies"][number];
  /** Null where the first answer was the last. */
  readonly followUps: StoredReply["replies"] | null;
  readonly isPruned: boolean;
  readonly shadow: boolean;
}

/** The turns that followed the accepted first answer and that its trial kept (0: all), the newest reply of each. */
const conversation = Prisma.sql`LEFT JOIN LATERAL (
    SELECT json_agg(json_build_object('text', coalesce(f."text", ''), 'finishReason', f.finish_reason) ORDER BY f.turn) AS replies,
      bool_or(f."text" IS NULL AND f.text_sha256 IS NOT NULL) AS is_pruned
    FROM (
      SELECT DISTINCT ON (x.turn) x.* FROM exchanges x JOIN trials o ON o.id = x.trial_id
      WHERE x.trial_id = e.trial_id AND x.turn > 0 AND x.sequence > e.sequence AND NOT x.late_duplicate AND x.outcome IS NULL
        AND (o.kept_turns = 0 OR x.turn < o.kept_turns)
      ORDER BY x.turn, x.sequence DESC
    ) f
  ) later ON true`;

const answered = Prisma.sql`t.in_grid AND t.state = 'done' AND t.accepted_exchange_id IS NOT NULL`;

async function* streamReplies(
  database: Database,
  sweepId: string,
  pageSize: number,
): AsyncGenerator<readonly StoredReply[]> {
  if (!isUuid(sweepId)) return;
  let last: ReplyPageRow | null = null;
  for (;;) {
    const rows = await readReplies(database, pageAfter(sweepId, last, pageSize, answered));
    if (rows.length === 0) return;
    yield rows.map(toReply);
    if (rows.length < pageSize) return;
    last = rows.at(-1) ?? null;
  }
}

/** The conversations of the trials of a `page`. */
function readReplies(database: Database, page: Prisma.Sql): Promise<readonly ReplyPageRow[]> {
  return database.query<ReplyPageRow>(Prisma.sql`
    WITH ${page}
    SELECT ${orderColumns}, t.plan,
      json_build_object('text', coalesce(e."text", ''), 'finishReason', e.finish_reason) AS first,
      later.replies AS "followUps",
      (e."text" IS NULL AND e.text_sha256 IS NOT NULL) OR coalesce(later.is_pruned, false) AS "isPruned", EXISTS (SELECT 1 FROM readings r
        WHERE r.trial_id = e.trial_id AND strpos(r.reading_json, '"ariadne":{') > 0) AS shadow
    FROM page t ${accepted} ${conversation} ORDER BY ${order}`);
}

function toReply({ trialId, plan, first, followUps, shadow, isPruned }: ReplyPageRow): StoredReply {
  const replies = [first, ...(followUps ?? [])].map((reply) => ({ ...reply, text: decodeText(reply.text) }));
  return { trialId, plan, shadow, isPruned, replies };
}

type TrialSource = Extract<JudgedSource, { readonly kind: "trial" }>;

/** What a statement gives of a result's source. */
export interface SourceRow {
  readonly trialPlan: TrialSource["plan"] | null;
  readonly replies: TrialSource["replies"] | null;
  /** True where a reply's text was pruned; null without a trial. */
  readonly isPruned: boolean | null;
  readonly response: string | null;
  readonly prompt: string | null;
  readonly expectedL3: string | null;
  readonly criteriaL1: string | null;
  readonly criteriaL2: string | null;
}

/** The columns of a `SourceRow`, with `sourceJoins`. */
export const sourceColumns = Prisma.sql`t.plan AS "trialPlan", talk.replies, talk.is_pruned AS "isPruned", r.response, s.prompt,
  s.expected_l3 AS "expectedL3", s.criteria_l1 AS "criteriaL1", s.criteria_l2 AS "criteriaL2"`;

/** Joins what is judged of a result `r`: its scenario, or its trial with the conversation that was scored. */
export const sourceJoins = Prisma.sql`LEFT JOIN scenarios s ON s.id = r.scenario_id
    LEFT JOIN trials t ON t.id = r.trial_id LEFT JOIN exchanges e ON e.id = t.accepted_exchange_id
    LEFT JOIN LATERAL (
      SELECT json_agg(json_build_object('text', coalesce(x."text", ''), 'finishReason', x.finish_reason) ORDER BY x.turn) AS replies,
        bool_or(x."text" IS NULL AND x.text_sha256 IS NOT NULL) AS is_pruned
      FROM (
        SELECT e."text", e.text_sha256, e.finish_reason, 0 AS turn
        UNION ALL
        SELECT f."text", f.text_sha256, f.finish_reason, f.turn FROM (
          SELECT DISTINCT ON (y.turn) y.* FROM exchanges y
          WHERE y.trial_id = e.trial_id AND y.turn > 0 AND y.sequence > e.sequence AND NOT y.late_duplicate
            AND y.outcome IS NULL AND t."group" <> 'A'
          ORDER BY y.turn, y.sequence DESC
        ) f
      ) x
    ) talk ON e.id IS NOT NULL`;

/** True for a trial `t` whose answer's text was not pruned. */
export const hasText = Prisma.sql`NOT EXISTS (SELECT 1 FROM exchanges e
  WHERE e.id = t.accepted_exchange_id AND e."text" IS NULL AND e.text_sha256 IS NOT NULL)`;

/** What is judged; null where there is nothing to judge, or its text was pruned. */
export function toSource(row: SourceRow): JudgedSource | null {
  if (row.isPruned === true) return null;
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
