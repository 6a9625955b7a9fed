import { anthropicMessages } from "./anthropic-messages.ts";
import {
  type BatchAnswer,
  type BatchCall,
  type BatchDesk,
  type DeskBatch,
  type DeskRow,
  failureOf,
  pageOf,
  type RowEnd,
} from "./batch-desk.ts";
import { asList, asObject, asText } from "./read-json.ts";
import { writeAnthropicFailure } from "./vendor-failures.ts";

const dayMs = 86_400_000;
const places = /^(?:\/anthropic)?\/v1\/messages\/batches(?:\/([^/]+)(?:\/(results|cancel))?)?$/;

/** Whether a path belongs to Anthropic's Message Batches. */
export function isAnthropicBatch(path: string): boolean {
  return places.test(path);
}

/** Anthropic's Message Batches. SOURCE: types of @anthropic-ai/sdk 1.14.0 `resources/messages/batches`. */
export function answerAnthropicBatch(desk: BatchDesk, call: BatchCall): BatchAnswer {
  const [, id, part] = places.exec(call.path) ?? [];
  if (id === undefined) return call.method === "POST" ? create(desk, call) : list(desk, call);
  const batch = desk.find("anthropic", call.keyId, decodeURIComponent(id));
  if (batch === null) return { kind: "failure", failure: "model_not_found", message: `Message Batch ${id} not found` };
  if (part === "cancel") {
    desk.cancel(batch);
    return { kind: "json", body: view(batch) };
  }
  if (part === undefined) return { kind: "json", body: view(batch) };
  if (batch.ends === null) return { kind: "failure", failure: "bad_request", message: "results are not ready yet" };
  if (batch.rule?.resultsGone === true) {
    return {
      kind: "failure",
      failure: "model_not_found",
      message: "the results of this batch are no longer available",
    };
  }
  return { kind: "text", body: results(desk, batch, call), type: "application/x-jsonl" };
}

function create(desk: BatchDesk, call: BatchCall): BatchAnswer {
  const { number, rule } = desk.arrive("anthropic");
  if (rule?.refuse !== undefined) return { kind: "failure", failure: rule.refuse };
  const requests = asList(asObject(parse(call.body))["requests"]).map(asObject);
  if (requests.length === 0)
    return { kind: "failure", failure: "bad_request", message: "requests: at least one is required" };
  const rows = requests.map((request) => ({
    customId: asText(request["custom_id"]) ?? "",
    question: anthropicMessages.read(request["params"], "anthropic", call.path),
  }));
  const ids = new Set(rows.map(({ customId }) => customId));
  if (ids.size < rows.length || rows.some(({ customId }) => !/^[a-zA-Z0-9_-]{1,64}$/.test(customId))) {
    return {
      kind: "failure",
      failure: "bad_request",
      message: "requests: custom_id must be unique and fit ^[a-zA-Z0-9_-]{1,64}$",
    };
  }
  const id = `msgbatch_rehearsal_${number}_${call.requestId}`;
  const batch = desk.make({ number, id, vendor: "anthropic", keyId: call.keyId, rows, rule, meta: {} });
  return { kind: "json", body: view(batch), isLost: rule?.loseAnswer === true };
}

function list(desk: BatchDesk, { keyId, query }: BatchCall): BatchAnswer {
  return { kind: "json", body: pageOf(desk.list("anthropic", keyId), query, "after_id", view) };
}

function view({ id, createdMs, canceledMs, ends, rows, rule }: DeskBatch) {
  const at = (ms: number): string => new Date(ms).toISOString();
  const count = (kind: RowEnd["kind"]): number => ends?.filter((end) => end.kind === kind).length ?? 0;
  return {
    id,
    type: "message_batch",
    processing_status: ends === null ? "in_progress" : "ended",
    request_counts: {
      processing: ends === null ? rows.length : 0,
      succeeded: count("answered") + count("missing"),
      errored: count("errored"),
      canceled: count("canceled"),
      expired: count("expired"),
    },
    created_at: at(createdMs),
    expires_at: at(createdMs + dayMs),
    ended_at: ends === null ? null : at(createdMs + (rule?.afterMs ?? 0)),
    cancel_initiated_at: canceledMs === null ? null : at(canceledMs),
    archived_at: rule?.resultsGone === true ? at(createdMs) : null,
    results_url: ends === null ? null : `/v1/messages/batches/${id}/results`,
  };
}

function results(desk: BatchDesk, batch: DeskBatch, call: BatchCall): string {
  const lines = desk.shuffled(batch).map(([row, end]) => ({ custom_id: row.customId, result: result(row, end, call) }));
  const others = Array.from({ length: batch.rule?.unknownRows ?? 0 }, (_, index) => ({
    custom_id: `somebody-elses-${index}`,
    result: { type: "expired" },
  }));
  return [...others, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("");
}

function result(row: DeskRow, end: RowEnd, { requestId }: BatchCall): unknown {
  const { question } = row;
  if (end.kind === "answered" && typeof question !== "string") {
    return { type: "succeeded", message: anthropicMessages.body(end.reply, question) };
  }
  if (end.kind !== "errored") return { type: end.kind };
  return { type: "errored", error: writeAnthropicFailure(failureOf(row, end, requestId)).body };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return null;
  }
}
