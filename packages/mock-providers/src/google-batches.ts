import {
  type BatchAnswer,
  type BatchCall,
  type BatchDesk,
  type DeskBatch,
  type DeskRow,
  failureOf,
  type RowEnd,
} from "./batch-desk.ts";
import { googleContent } from "./google-content.ts";
import { asList, asObject, asText } from "./read-json.ts";
import { writeGoogleFailure } from "./vendor-failures.ts";

const creation = /^\/google\/v1beta\/models\/([^/]+):batchGenerateContent$/;
const places = /^\/google\/v1beta\/batches(?:\/([^/:]+)(:cancel)?)?$/;
/** google.rpc codes of what a row may say. */
const rpcOfHttp: Readonly<Record<number, number>> = { 400: 3, 401: 16, 403: 7, 404: 5, 429: 8, 503: 14 };

/** Whether a path belongs to Google's batches. */
export function isGoogleBatch(path: string): boolean {
  return creation.test(path) || places.test(path);
}

/** Google's batches, with the requests in the call. SOURCE: ai.google.dev/api/batch-api (read 2026-11-30). */
export function answerGoogleBatch(desk: BatchDesk, call: BatchCall): BatchAnswer {
  const [, model] = creation.exec(call.path) ?? [];
  if (model !== undefined) return create(desk, call, model);
  const [, id, cancels] = places.exec(call.path) ?? [];
  if (id === undefined) return list(desk, call);
  const batch = desk.find("google", call.keyId, `batches/${decodeURIComponent(id)}`);
  if (batch === null || batch.rule?.resultsGone === true) {
    return { kind: "failure", failure: "model_not_found", message: `Requested entity was not found: ${id}` };
  }
  if (cancels === undefined) return { kind: "json", body: view(desk, batch, call) };
  desk.cancel(batch);
  return { kind: "json", body: {} };
}

function create(desk: BatchDesk, call: BatchCall, model: string): BatchAnswer {
  const { number, rule } = desk.arrive("google");
  if (rule?.refuse !== undefined) return { kind: "failure", failure: rule.refuse };
  const asked = asObject(asObject(JSON.parse(call.body))["batch"]);
  const requests = asList(asObject(asObject(asked["inputConfig"])["requests"])["requests"]).map(asObject);
  if (requests.length === 0) return { kind: "failure", failure: "bad_request", message: "requests: must not be empty" };
  const rows = requests.map(({ request, metadata }) => ({
    customId: asText(asObject(metadata)["key"]) ?? "",
    question: googleContent.read(request, "google", `/v1beta/models/${model}:generateContent`),
  }));
  const id = `batches/rehearsal${number}x${call.requestId}`;
  const meta = { displayName: asked["displayName"], model: `models/${model}` };
  const batch = desk.make({ number, id, vendor: "google", keyId: call.keyId, rows, rule, meta });
  return { kind: "json", body: view(desk, batch, call), isLost: rule?.loseAnswer === true };
}

function list(desk: BatchDesk, call: BatchCall): BatchAnswer {
  const all = desk.list("google", call.keyId);
  const start = Number(call.query.get("pageToken") || 0);
  const size = Number(call.query.get("pageSize") ?? 10);
  const operations = all.slice(start, start + size).map((batch) => view(desk, batch, call));
  const isMore = all.length > start + size;
  return { kind: "json", body: { operations, ...(isMore ? { nextPageToken: String(start + size) } : {}) } };
}

function view(desk: BatchDesk, batch: DeskBatch, call: BatchCall) {
  const { id, createdMs, rows, ends, rule, meta } = batch;
  const state = stateOf(batch);
  const type = "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch";
  const metadata = {
    "@type": type,
    ...meta,
    name: id,
    state: `BATCH_STATE_${state}`,
    createTime: new Date(createdMs).toISOString(),
    batchStats: { requestCount: String(rows.length) },
  };
  if (ends === null) return { name: id, metadata };
  const [failed] = rule?.failed ?? [];
  if (failed !== undefined) {
    return {
      name: id,
      metadata,
      done: true,
      error: { code: Number(failed.code), message: failed.message ?? "failed" },
    };
  }
  if (state !== "SUCCEEDED") return { name: id, metadata, done: true };
  const others = Array.from({ length: rule?.unknownRows ?? 0 }, (_, index) => ({
    metadata: { key: `somebody-elses-${index}` },
    error: { code: 13, message: "not yours" },
  }));
  const answers = desk
    .shuffled(batch)
    .map(([row, end]) => ({ metadata: { key: row.customId }, ...part(row, end, call) }));
  const output = { "@type": `${type}Output`, inlinedResponses: { inlinedResponses: [...others, ...answers] } };
  return { name: id, metadata, done: true, response: output };
}

/** Google's batches expire and are cancelled whole, without answers. */
function stateOf({ ends, canceledMs, rule }: DeskBatch): string {
  if (ends === null) return "RUNNING";
  if (rule?.failed !== undefined) return "FAILED";
  if (canceledMs !== null || ends.some(({ kind }) => kind === "canceled")) return "CANCELLED";
  return ends.some(({ kind }) => kind === "expired") ? "EXPIRED" : "SUCCEEDED";
}

function part(row: DeskRow, end: RowEnd, { requestId }: BatchCall): object {
  const { question } = row;
  if (end.kind === "answered" && typeof question !== "string") {
    return { response: googleContent.body(end.reply, question) };
  }
  const failed = end.kind === "errored" ? end : ({ kind: "errored", error: "server_error", message: null } as const);
  const { status, body } = writeGoogleFailure(failureOf(row, failed, requestId));
  const { message } = asObject(asObject(body)["error"]);
  return { error: { code: rpcOfHttp[status] ?? 13, message } };
}
