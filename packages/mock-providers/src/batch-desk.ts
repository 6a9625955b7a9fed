import { type Clock, createRandom } from "@hallumaze/foundation";

import type { Failure, FailureKind, Question, Reply, Vendor } from "./dialect.ts";
import type { JsonObject } from "./read-json.ts";
import { type BatchRule, batchScriptSchema, type ParsedBatchRule } from "./script-schema.ts";

/** One request of a batch as its vendor's format reads it. */
export interface DeskRow {
  readonly customId: string;
  /** A text says what is wrong with the request. */
  readonly question: Question | string;
}

/** How a row ended. */
export type RowEnd =
  | { readonly kind: "answered"; readonly reply: Reply }
  | { readonly kind: "errored"; readonly error: FailureKind; readonly message: string | null }
  | { readonly kind: "expired" | "canceled" | "missing" };

/** A batch at the server. */
export interface DeskBatch {
  readonly number: number;
  readonly id: string;
  readonly vendor: Vendor;
  /** Whose it is: another key sees nothing of it. */
  readonly keyId: string;
  readonly createdMs: number;
  readonly rows: readonly DeskRow[];
  readonly rule: ParsedBatchRule | null;
  /** What the vendor's format keeps with it. */
  readonly meta: JsonObject;
  canceledMs: number | null;
  /** Null while it runs. */
  ends: readonly RowEnd[] | null;
}

/** What a test may ask of a batch. */
export interface BatchCounts {
  readonly id: string;
  readonly vendor: Vendor;
  readonly rows: number;
  readonly hasEnded: boolean;
  /** Rows by their end; empty before. */
  readonly ends: Readonly<Record<string, number>>;
  /** Tokens on the bill. */
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What the desk needs of its server. */
export interface DeskOptions {
  readonly clock: Clock;
  readonly seed: number;
  /** Answers one request as a single call would be, and charges it. */
  readonly answer: (
    row: Question,
    number: number,
  ) => Reply | { readonly error: FailureKind; readonly message: string | null };
}

/** The batches of a server, of all vendors. */
export type BatchDesk = ReturnType<typeof openBatchDesk>;

/** Opens the desk: it takes batches, lets them end by the clock as its script says, and keeps what became of each row. */
export function openBatchDesk({ clock, seed, answer }: DeskOptions) {
  let rules: readonly ParsedBatchRule[] = [];
  const batches: DeskBatch[] = [];
  const files = new Map<string, string>();
  let asked = 0;
  let answered = 0;

  const ruleFor = (vendor: Vendor, number: number): ParsedBatchRule | null =>
    rules.find(
      (rule) =>
        (rule.vendor === undefined || rule.vendor === vendor) &&
        (rule.nth === undefined || [rule.nth].flat().includes(number)),
    ) ?? null;

  const settle = (batch: DeskBatch): void => {
    const isDue = batch.canceledMs !== null || clock() >= batch.createdMs + (batch.rule?.afterMs ?? 0);
    if (batch.ends === null && isDue) batch.ends = batch.rows.map((row, index) => endOf(batch, row, index));
  };
  const endOf = (batch: DeskBatch, { question }: DeskRow, index: number): RowEnd => {
    if (batch.canceledMs !== null) return { kind: "canceled" };
    if (batch.rule?.failed !== undefined) return { kind: "missing" };
    if (typeof question === "string") return { kind: "errored", error: "bad_request", message: question };
    const random = createRandom(`${seed} batch ${batch.number} row ${index}`);
    for (const { nth, share, end, error } of batch.rule?.rows ?? []) {
      // Each rule draws, whether it applies or not: one more rule changes no other's rows.
      const isDrawn = random.fraction() < (share ?? 1);
      if (!isDrawn || (nth !== undefined && ![nth].flat().includes(index + 1))) continue;
      return end === "errored" ? { kind: "errored", error, message: null } : { kind: end };
    }
    answered += 1;
    const reply = answer(question, answered);
    return "error" in reply ? { kind: "errored", ...reply } : { kind: "answered", reply };
  };

  return {
    /** Counts a submission and gives the rule for it. */
    arrive: (vendor: Vendor): { readonly number: number; readonly rule: ParsedBatchRule | null } => {
      asked += 1;
      return { number: asked, rule: ruleFor(vendor, asked) };
    },
    /** Makes a batch. */
    make: (batch: Omit<DeskBatch, "createdMs" | "canceledMs" | "ends">): DeskBatch => {
      const made = { ...batch, createdMs: clock(), canceledMs: null, ends: null };
      batches.push(made);
      return made;
    },
    /** Finds a key's batch; null where there is none. */
    find: (vendor: Vendor, keyId: string, id: string): DeskBatch | null => {
      const found = batches.find((one) => one.vendor === vendor && one.keyId === keyId && one.id === id) ?? null;
      if (found !== null) settle(found);
      return found;
    },
    /** A key's batches, newest first; those that the list has not caught up with are missing. */
    list: (vendor: Vendor, keyId: string): readonly DeskBatch[] => {
      const isListed = ({ createdMs, rule }: DeskBatch): boolean => clock() >= createdMs + (rule?.listAfterMs ?? 0);
      const own = batches.filter((one) => one.vendor === vendor && one.keyId === keyId && isListed(one));
      own.forEach(settle);
      return own.toReversed();
    },
    cancel: (batch: DeskBatch): void => {
      batch.canceledMs ??= clock();
      settle(batch);
    },
    /** Rows in the order of their results: no vendor keeps that of the requests. */
    shuffled: ({ number, rows, ends }: DeskBatch): readonly (readonly [row: DeskRow, end: RowEnd])[] => {
      const random = createRandom(`${seed} order ${number}`);
      const pairs = rows.map((row, index) => [row, ends?.[index] ?? { kind: "missing" as const }] as const);
      return pairs
        .filter(([, end]) => end.kind !== "missing")
        .map((pair) => ({ pair, at: random.fraction() }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ pair }) => pair);
    },
    /** Replaces the script of batches; they are numbered from 1 again. Throws a ZodError on a malformed rule. */
    script: (next: readonly BatchRule[]): void => {
      rules = batchScriptSchema.parse(next);
      asked = 0;
    },
    /** Keeps a file that a key has uploaded; gives its id. */
    keepFile: (keyId: string, text: string): string => {
      const id = `file-rehearsal-${files.size + 1}`;
      files.set(`${keyId} ${id}`, text);
      return id;
    },
    file: (keyId: string, id: string): string | null => files.get(`${keyId} ${id}`) ?? null,
    counts: (): readonly BatchCounts[] => batches.map(countsOf),
  };
}

function countsOf({ id, vendor, rows, ends }: DeskBatch): BatchCounts {
  const byKind: Record<string, number> = {};
  let inputTokens = 0;
  let outputTokens = 0;
  for (const end of ends ?? []) {
    byKind[end.kind] = (byKind[end.kind] ?? 0) + 1;
    if (end.kind !== "answered") continue;
    inputTokens += end.reply.usage.inputTokens;
    outputTokens += end.reply.usage.outputTokens;
  }
  return { id, vendor, rows: rows.length, hasEnded: ends !== null, ends: byKind, inputTokens, outputTokens };
}

/** A page of a list behind the batch of that id, with the names that vendors give its ends. */
export function pageOf<View extends { readonly id: string }>(
  all: readonly DeskBatch[],
  query: URLSearchParams,
  afterName: string,
  view: (batch: DeskBatch) => View,
) {
  const after = query.get(afterName);
  const start = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
  const limit = Number(query.get("limit") ?? 20);
  const data = all.slice(start, start + limit).map(view);
  const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
  return { data, first_id, last_id, has_more: all.length > start + limit };
}

/** A row's failure, for a vendor's own words. */
export function failureOf(
  { question }: DeskRow,
  end: Extract<RowEnd, { readonly kind: "errored" }>,
  requestId: string,
): Failure {
  return {
    kind: end.error,
    message: end.message,
    suffix: "",
    param: null,
    model: typeof question === "string" ? "unknown" : question.model,
    retryAfterMs: null,
    retryAfterForm: "vendor",
    dimension: null,
    requestId,
    nowMs: 0,
  };
}

/** A call to a vendor's batch interface. */
export interface BatchCall {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  readonly contentType: string;
  readonly keyId: string;
  readonly requestId: string;
}

/** What goes back: JSON, a text as it stands, or a failure in the vendor's own words. */
export type BatchAnswer =
  | { readonly kind: "json"; readonly body: unknown; readonly isLost?: boolean }
  | { readonly kind: "text"; readonly body: string; readonly type: string }
  | { readonly kind: "failure"; readonly failure: FailureKind; readonly message?: string };
