import { createHash, randomUUID } from "node:crypto";

import type { ExchangeRecord, StorePort } from "@hallumaze/engine";

import { coalesce } from "./coalesce.ts";
import { type Database, isUuid, jsonRows } from "./database.ts";
import { isItemsFault, StoreError } from "./errors.ts";
import { Prisma } from "./generated/client.ts";
import { settleMoney } from "./money.ts";
import { encodeNullable, encodeText } from "./storable-text.ts";

/** The method of the store that keeps exchanges. */
export function createExchangeMethods(
  database: Database,
): Pick<StorePort, "recordExchange"> & { readonly drain: () => Promise<void> } {
  const records = coalesce<IdentifiedExchange, "recorded" | "late">({
    runBatch: (exchanges) => recordBatch(database, exchanges),
    keyOf: ({ exchange }) => exchange.trialId,
    sizeOf: ({ exchange }) => exchange.requestJson.length + 2 * (exchange.rawBody?.length ?? 0),
    maxItems: 128,
    maxSize: 2_000_000,
    maxInFlight: 2,
    isItemsFault,
  });
  const ids = new WeakMap<ExchangeRecord, string>();
  return {
    recordExchange: async (exchange) => {
      // A second write of the same object, after a failure that may have come after the commit, is the same row.
      const id = exchange.batch?.exchangeId ?? ids.get(exchange) ?? randomUUID();
      ids.set(exchange, id);
      if (!isUuid(exchange.trialId)) throw unknownTrial(exchange.trialId);
      return records.call({ id, exchange });
    },
    drain: records.drain,
  };
}

/** SHA-256 of a text's UTF-8 bytes, in hexadecimal: what `sha256Hex` gives, at native speed for large bodies. */
export function hashText(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

interface IdentifiedExchange {
  readonly id: string;
  readonly exchange: ExchangeRecord;
}

/**
 * The trial's row is locked while its fence is compared, so that no claim can pass between the comparison and the
 * insert: an exchange that is not marked late is seen by the next claim.
 */
async function recordBatch(
  database: Database,
  exchanges: readonly IdentifiedExchange[],
): Promise<readonly ("recorded" | "late")[]> {
  const rows = await database.query<{ readonly id: string; readonly isLate: boolean }>(Prisma.sql`
    WITH input AS (
      SELECT * FROM json_to_recordset(${jsonRows(exchanges.map(toRow))}) AS i(id uuid, trial_id uuid, fence int, turn int,
        try_number int, worker_id text, request_json text, raw_body text, raw_sha256 text, "text" text, reasoning text,
        finish_reason text, outcome text, error_message text, served_model text, effective_params_json text,
        input_tokens int, output_tokens int, cached_tokens int, reasoning_tokens int, queue_ms int, limiter_ms int,
        http_ms int, ttft_ms int, served_by text, native_finish_reason text, side_requests_json text, cost_usd numeric,
        price_date date, cost_bound_usd numeric, batch_id uuid)
    ), checked AS (
      SELECT i.id, t.sweep_id, t.fence IS DISTINCT FROM i.fence OR t.state <> 'running' AS is_late
      FROM input i JOIN trials t ON t.id = i.trial_id ORDER BY t.id FOR SHARE OF t
    ), written AS (
      INSERT INTO exchanges (id, trial_id, fence, turn, try_number, worker_id, late_duplicate, request_json, raw_body,
        raw_sha256, "text", reasoning, finish_reason, outcome, error_message, served_model, effective_params_json,
        input_tokens, output_tokens, cached_tokens, reasoning_tokens, queue_ms, limiter_ms, http_ms, ttft_ms,
        served_by, native_finish_reason, side_requests_json, cost_usd, price_date, cost_bound_usd, batch_id)
      SELECT i.id, i.trial_id, i.fence, i.turn, i.try_number, i.worker_id, c.is_late, i.request_json, i.raw_body,
        i.raw_sha256, i."text", i.reasoning, i.finish_reason, i.outcome, i.error_message, i.served_model,
        i.effective_params_json, i.input_tokens, i.output_tokens, i.cached_tokens, i.reasoning_tokens, i.queue_ms,
        i.limiter_ms, i.http_ms, i.ttft_ms, i.served_by, i.native_finish_reason, i.side_requests_json, i.cost_usd,
        i.price_date, i.cost_bound_usd, i.batch_id
      FROM input i JOIN checked c ON c.id = i.id
      ON CONFLICT (id) DO NOTHING
      RETURNING id, late_duplicate
    ), closed AS (
      DELETE FROM open_requests o USING input i
      WHERE o.subject_id = i.trial_id AND o.fence = i.fence AND o.turn = i.turn AND o.try_number = i.try_number
      RETURNING o.sweep_id, o.bound_usd
    ), ${settleMoney(Prisma.sql`
      SELECT c.sweep_id, coalesce(i.cost_usd, i.cost_bound_usd, 0) AS spent, 0 AS released
      FROM written w JOIN input i ON i.id = w.id JOIN checked c ON c.id = w.id
      UNION ALL SELECT sweep_id, 0, coalesce(bound_usd, 0) FROM closed`)}
    SELECT c.id::text, coalesce(w.late_duplicate, e.late_duplicate) AS "isLate"
    FROM checked c LEFT JOIN written w ON w.id = c.id LEFT JOIN exchanges e ON e.id = c.id`);
  const late = new Map(rows.map((row) => [row.id, row.isLate]));
  return exchanges.map(({ id, exchange }) => {
    const isLate = late.get(id);
    if (isLate === undefined) throw unknownTrial(exchange.trialId);
    return isLate ? "late" : "recorded";
  });
}

function unknownTrial(trialId: string): StoreError {
  return new StoreError("database-refused", `No trial has the id ${trialId}: its exchange cannot be kept.`);
}

function toRow({ id, exchange }: IdentifiedExchange) {
  const { usage } = exchange;
  return {
    id,
    trial_id: exchange.trialId,
    fence: exchange.fence,
    turn: exchange.turn,
    try_number: exchange.tryNumber,
    worker_id: encodeText(exchange.workerId),
    request_json: encodeText(exchange.requestJson),
    raw_body: encodeNullable(exchange.rawBody),
    raw_sha256: exchange.rawBody === null ? null : hashText(exchange.rawBody),
    text: encodeNullable(exchange.text),
    reasoning: encodeNullable(exchange.reasoning),
    finish_reason: exchange.finishReason,
    outcome: exchange.outcome,
    error_message: encodeNullable(exchange.errorMessage),
    served_model: encodeNullable(exchange.servedModel),
    effective_params_json: encodeText(exchange.effectiveParamsJson),
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cached_tokens: usage.cachedTokens,
    reasoning_tokens: usage.reasoningTokens,
    queue_ms: wholeMs(exchange.queueMs),
    limiter_ms: wholeMs(exchange.limiterMs),
    http_ms: wholeMs(exchange.httpMs),
    ttft_ms: wholeMs(exchange.ttftMs),
    served_by: encodeNullable(exchange.servedBy),
    native_finish_reason: encodeNullable(exchange.nativeFinishReason),
    side_requests_json: encodeNullable(exchange.sideRequestsJson),
    cost_usd: exchange.costUsd,
    price_date: exchange.priceDate,
    cost_bound_usd: exchange.costBoundUsd,
    batch_id: exchange.batch?.batchId ?? null,
  };
}

/** Time is stored in integer milliseconds; a timer of finer grain is rounded here. */
function wholeMs(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}
