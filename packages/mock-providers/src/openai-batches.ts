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
import type { Question } from "./dialect.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import { asObject, asText } from "./read-json.ts";
import { writeOpenaiFailure } from "./vendor-failures.ts";

const daySeconds = 86_400;
const places = /^\/openai\/v1\/(?:(files)(?:\/([^/]+)\/content)?|batches(?:\/([^/]+)(?:\/(cancel))?)?)$/;

/** Whether a path belongs to OpenAI's batches or their files. */
export function isOpenaiBatch(path: string): boolean {
  return places.test(path);
}

/** OpenAI's Batch interface with its files. SOURCE: types of openai 6.49.0 `resources/batches`, `resources/files`. */
export async function answerOpenaiBatch(desk: BatchDesk, call: BatchCall): Promise<BatchAnswer> {
  const [, files, fileId, id, part] = places.exec(call.path) ?? [];
  if (files !== undefined) return fileId === undefined ? upload(desk, call) : content(desk, call, fileId);
  if (id === undefined) return call.method === "POST" ? create(desk, call) : list(desk, call);
  const batch = desk.find("openai", call.keyId, decodeURIComponent(id));
  if (batch === null)
    return { kind: "failure", failure: "model_not_found", message: `No batch found with id '${id}'.` };
  if (part === "cancel") desk.cancel(batch);
  return { kind: "json", body: view(batch) };
}

async function upload(desk: BatchDesk, { body, contentType, keyId }: BatchCall): Promise<BatchAnswer> {
  const form = await new Response(body, { headers: { "content-type": contentType } }).formData();
  const file = form.get("file");
  if (!(file instanceof File) || form.get("purpose") !== "batch") {
    return { kind: "failure", failure: "bad_request", message: "a file with purpose batch is expected" };
  }
  const text = await file.text();
  const id = desk.keepFile(keyId, text);
  return { kind: "json", body: { id, object: "file", purpose: "batch", bytes: text.length, filename: file.name } };
}

function create(desk: BatchDesk, call: BatchCall): BatchAnswer {
  const { number, rule } = desk.arrive("openai");
  if (rule?.refuse !== undefined) return { kind: "failure", failure: rule.refuse };
  const asked = asObject(JSON.parse(call.body));
  const fileId = asText(asked["input_file_id"]) ?? "";
  const text = desk.file(call.keyId, fileId);
  if (text === null) return { kind: "failure", failure: "bad_request", message: `No such File object: ${fileId}` };
  const lines = text.split("\n").filter((line) => line !== "");
  const rows = lines.map((line) => {
    const row = asObject(JSON.parse(line));
    const path = asText(row["url"]) ?? "";
    const question: Question | string =
      path === asked["endpoint"]
        ? dialectOf(path).read(row["body"], "openai", path)
        : "the url of a line differs from the batch's endpoint";
    return { customId: asText(row["custom_id"]) ?? "", question };
  });
  const id = `batch_rehearsal_${number}_${call.requestId}`;
  const meta = { fileId, endpoint: asked["endpoint"], metadata: asked["metadata"] ?? null };
  const batch = desk.make({ number, id, vendor: "openai", keyId: call.keyId, rows, rule, meta });
  return { kind: "json", body: view(batch), isLost: rule?.loseAnswer === true };
}

function list(desk: BatchDesk, { keyId, query }: BatchCall): BatchAnswer {
  return { kind: "json", body: { object: "list", ...pageOf(desk.list("openai", keyId), query, "after", view) } };
}

function view(batch: DeskBatch) {
  const { id, createdMs, canceledMs, ends, rows, rule, meta } = batch;
  const seconds = Math.floor(createdMs / 1000);
  const status = statusOf(batch);
  const isOver = ends !== null && status !== "failed";
  const count = (isAnswer: boolean): number => ends?.filter((end) => isOutput(end) === isAnswer).length ?? 0;
  return {
    id,
    object: "batch",
    endpoint: meta["endpoint"],
    input_file_id: meta["fileId"],
    completion_window: "24h",
    status,
    created_at: seconds,
    expires_at: seconds + daySeconds,
    cancelled_at: canceledMs === null ? null : Math.floor(canceledMs / 1000),
    // A file without lines is not made.
    output_file_id: isOver && count(true) > 0 ? `file-output-${id}` : null,
    error_file_id: isOver && ends.some((end) => !isOutput(end) && end.kind !== "missing") ? `file-error-${id}` : null,
    errors:
      status === "failed"
        ? { object: "list", data: (rule?.failed ?? []).map((line) => ({ message: "refused", line: null, ...line })) }
        : null,
    request_counts: { total: rows.length, completed: count(true), failed: count(false) },
    metadata: meta["metadata"],
  };
}

function statusOf({ ends, canceledMs, rule }: DeskBatch): string {
  if (ends === null) return "in_progress";
  if (rule?.failed !== undefined) return "failed";
  if (canceledMs !== null || ends.some(({ kind }) => kind === "canceled")) return "cancelled";
  return ends.some(({ kind }) => kind === "expired") ? "expired" : "completed";
}

/** What stands in the file of answers: those that came, whatever they say. */
function isOutput(end: RowEnd): boolean {
  return end.kind === "answered";
}

function content(desk: BatchDesk, call: BatchCall, fileId: string): BatchAnswer {
  const [, kind, id = ""] = /^file-(output|error)-(.*)$/.exec(decodeURIComponent(fileId)) ?? [];
  const batch = desk.find("openai", call.keyId, id);
  if (batch === null || batch.rule?.resultsGone === true) {
    return { kind: "failure", failure: "model_not_found", message: `No such File object: ${fileId}` };
  }
  const pairs = desk.shuffled(batch).filter(([, end]) => isOutput(end) === (kind === "output"));
  const lines = pairs.map(([row, end]) => ({
    id: `batch_req_${row.customId}`,
    custom_id: row.customId,
    ...part(row, end, call),
  }));
  const others = Array.from({ length: kind === "output" ? (batch.rule?.unknownRows ?? 0) : 0 }, (_, index) => ({
    custom_id: `somebody-elses-${index}`,
    response: null,
    error: { code: "batch_expired", message: "expired" },
  }));
  const body = [...others, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("");
  return { kind: "text", body, type: "application/jsonl" };
}

function part(row: DeskRow, end: RowEnd, { requestId }: BatchCall): object {
  const { question } = row;
  if (end.kind === "answered" && typeof question !== "string") {
    const dialect = question.parameters.has("max_output_tokens") ? openaiResponses : openaiChat;
    return {
      response: { status_code: 200, request_id: requestId, body: dialect.body(end.reply, question) },
      error: null,
    };
  }
  if (end.kind !== "errored") {
    const code = end.kind === "canceled" ? "batch_cancelled" : "batch_expired";
    return { response: null, error: { code, message: "This request could not be executed before the batch ended." } };
  }
  const { status, body } = writeOpenaiFailure(failureOf(row, end, requestId));
  return { response: { status_code: status, request_id: requestId, body }, error: null };
}

function dialectOf(path: string) {
  return path.endsWith("/responses") ? openaiResponses : openaiChat;
}
