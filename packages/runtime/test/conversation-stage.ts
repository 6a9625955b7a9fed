import { type ScoredTrial, type StorePort, submitSweep, type SweepRecord, type TrialRow } from "@hallumaze/engine";
import type { LoggedRequest } from "@hallumaze/mock-providers";
import { parseSpec } from "@hallumaze/sweep";
import { vi } from "vitest";

import type { SolveWorker } from "../src/worker.ts";
import { everyone, type FieldStage, type ModelName, openFieldStage, wideLimits } from "./field-stage.ts";
import type { WorkerStage } from "./worker-stage.ts";

/** Of the mazes of size 5, one in which the model `hint-taker` is lost until it is told so, and one that it solves at once. */
export const seeds = { lost: 1, solved: 4 } as const;

/** What a sweep of conversations asks for; all else as everywhere. */
export interface Conversations {
  readonly models?: readonly ModelName[];
  /** Named instead of `models`, as a spec names them. */
  readonly specModels?: readonly (string | object)[];
  readonly groups?: readonly ("A" | "B" | "C")[];
  readonly seeds?: readonly number[];
  readonly languages?: readonly ("ko" | "en")[];
  readonly ariadne?: { readonly hints?: number; readonly shadow?: boolean };
  readonly retries?: { readonly tries?: number; readonly empty?: number };
  readonly maxTokens?: number;
  readonly params?: Readonly<Record<string, number | string | boolean>>;
  readonly budgetUsd?: number;
  readonly prices?: object;
  /** False: takes over what other sweeps have. */
  readonly fresh?: boolean;
  /** A lane of its own. */
  readonly lane?: string;
}

/** What became of one trial, as the ledger has it. */
export interface Talk {
  readonly alias: string;
  readonly group: "A" | "B" | "C";
  readonly seed: number;
  readonly lane: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly message: string | null;
  readonly tries: number;
  readonly waits: number;
  readonly empties: number;
  /** In the order in which they were recorded. */
  readonly exchanges: readonly TalkExchange[];
}

/** One request of a trial. */
export interface TalkExchange {
  readonly turn: number;
  /** Null for a reply. */
  readonly outcome: string | null;
  readonly late: boolean;
  readonly reasoning: string | null;
  /** As it was sent, and as it came; texts of the database, whatever they hold. */
  readonly request: string;
  readonly text: string | null;
  readonly rawBody: string | null;
  readonly costUsd: string | null;
}

/** The vendors' servers, a ledger and one worker for conversations. */
export interface ConversationStage extends Omit<FieldStage, "sweep" | "fates" | "fatesNow"> {
  readonly worker: () => SolveWorker;
  /** Replaces the worker. */
  readonly restart: () => void;
  /** What to do after each reply or failure of a provider and before the worker hears of it; null: nothing. */
  readonly between: (act: (() => Promise<void>) | null) => void;
  readonly converse: (name: string, asked?: Conversations) => Promise<SweepRecord>;
  /** Resolves once every trial of the sweep is in one of these states; by alias, group and seed. */
  readonly talks: (sweep: SweepRecord, states?: readonly string[]) => Promise<readonly Talk[]>;
  /** The server's log of a model, oldest first. */
  readonly bodies: (model: string) => readonly LoggedRequest[];
}

/** Opens the stage; it answers as `hint-taker` where nothing else is scripted. */
export async function openConversationStage(): Promise<ConversationStage> {
  const stage = await openFieldStage(
    { solver: "hint-taker" },
    { deadlines: { headerMs: 2000, idleMs: 2000, totalMs: 8000 } },
  );
  let act: (() => Promise<void>) | null = null;
  const start = (): SolveWorker =>
    stage.workPaced({
      provider: {
        complete: async (request, signal) => {
          const result = await stage.providers.complete(request, signal);
          await act?.();
          return result;
        },
      },
    });
  let worker = start();
  return {
    ...stage,
    worker: () => worker,
    restart: () => {
      worker = start();
    },
    between: (next) => {
      act = next;
    },
    converse: (name, asked = {}) => converse(stage, name, asked),
    talks: (sweep, states) => talksOf(stage, sweep, states),
    bodies: (model) => stage.mock.requests().filter((request) => request.model === model),
  };
}

/** Submits a sweep of size 5, group B and seed 1 unless told, to a stage with or without the vendors' servers. */
export async function converse(
  stage: WorkerStage & { readonly mock?: FieldStage["mock"] },
  name: string,
  asked: Conversations,
): Promise<SweepRecord> {
  const { models = ["compatible"], groups = ["B"], languages = ["en"], params = {}, fresh = true, lane } = asked;
  const { ariadne, maxTokens, budgetUsd, prices, retries = { tries: 4 } } = asked;
  const known = models.map((alias) => ({
    model: everyone[alias],
    as: alias,
    params,
    ...(lane === undefined ? {} : { lane }),
    ...(alias === "compatible" ? { baseUrl: stage.mock?.urls.compatibleBaseUrl } : {}),
  }));
  const text = JSON.stringify({
    name,
    models: asked.specModels ?? known,
    limits: asked.specModels ? {} : Object.fromEntries(models.map((alias) => [alias, wideLimits(alias)])),
    seeds: asked.seeds ?? [seeds.lost],
    sizes: [5],
    groups,
    languages,
    mirage: true,
    ariadne,
    maxTokens,
    budgetUsd,
    prices,
    retries,
  });
  const { spec } = parseSpec(text, { fileName: "conversations.json" });
  const provenance = { gitCommit: null, gitDirty: null, programVersion: "test", nodeVersion: process.version };
  const { signal } = new AbortController();
  return (await submitSweep(stage, spec, { provenance, fresh, rehearsal: false, signal })).sweep;
}

const talksQuery = `SELECT t.alias, t."group", t.seed::int, t.lane, t.state::text, t.outcome, t.message, t.tries, t.waits,
    t.empty_retries AS empties,
    coalesce((SELECT json_agg(json_build_object('turn', e.turn, 'outcome', e.outcome, 'late', e.late_duplicate,
      'reasoning', e.reasoning, 'request', e.request_json, 'text', e.text, 'rawBody', e.raw_body,
      'costUsd', trim_scale(e.cost_usd)::text) ORDER BY e.sequence)
    FROM exchanges e WHERE e.trial_id = t.id), '[]') AS exchanges
  FROM trials t WHERE t.sweep_id = $1 ORDER BY t.alias, t."group", t.seed`;

/** Resolves once every trial of the sweep is in one of these states. */
export async function talksOf(
  stage: Pick<WorkerStage, "sql">,
  sweep: SweepRecord,
  states: readonly string[] = ["done", "failed", "blocked"],
): Promise<readonly Talk[]> {
  return vi.waitFor(
    async () => {
      const talks = await stage.sql<Talk>(talksQuery, [sweep.sweepId]);
      const open = talks.filter(({ state }) => !states.includes(state));
      if (open.length > 0 || talks.length === 0) throw new Error(`${states.join()} wanted: ${JSON.stringify(open)}`);
      return talks;
    },
    { timeout: 40_000, interval: 20 },
  );
}

/** A trial as tables and exports have it. */
export interface Row {
  readonly alias: string;
  readonly group: string;
  readonly seed: number;
  readonly outcome: string | null;
  readonly scores: TrialRow["scores"];
  readonly readingJson: string | null;
  readonly reused: boolean;
}

/** The rows of a sweep; with {@link ariadneOf} what became of their hints. */
export async function rowsOf(store: Pick<StorePort, "streamTrials">, sweep: SweepRecord): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for await (const page of store.streamTrials(sweep.sweepId, 100)) {
    for (const { alias, plan, outcome, scores, readingJson, reused } of page) {
      rows.push({ alias, group: plan.group, seed: plan.seed, outcome, scores, readingJson, reused });
    }
  }
  return rows.toSorted((one, other) => keyOf(one).localeCompare(keyOf(other)));
}

function keyOf({ alias, group, seed }: Row): string {
  return `${alias} ${group} ${seed}`;
}

/** What a reading says of its trial's hints; undefined where it says nothing. */
export function ariadneOf(row: Pick<ScoredTrial, "readingJson"> | Row | undefined): unknown {
  return (JSON.parse(row?.readingJson ?? "{}") as { readonly ariadne?: unknown }).ariadne;
}

/** How often each turn was asked for: `[0, 1, 1]` is one first request and two second ones. */
export function turnsAsked(requests: readonly LoggedRequest[]): readonly number[] {
  return requests.map((request) => (saidIn(request).turns.length - 1) / 2);
}

/** One part of a conversation as its vendor has it. */
export interface SaidTurn {
  readonly role: string;
  readonly text: string;
}

/** What a request says, read from its body as each vendor words it; the system prompt apart. */
export function saidIn({ bodyText }: LoggedRequest): {
  readonly system: string;
  readonly turns: readonly SaidTurn[];
} {
  const body = JSON.parse(bodyText) as Body;
  if (body.contents !== undefined) {
    const turns = body.contents.map(({ role, parts }) => ({ role, text: wordsOf(parts) }));
    return { system: wordsOf(body.systemInstruction?.parts ?? ""), turns };
  }
  const all = (body.input ?? body.messages ?? []).map(({ role, content }) => ({ role, text: wordsOf(content) }));
  const turns = all.filter(({ role }) => role !== "system");
  const told = all.filter(({ role }) => role === "system").map(({ text }) => text);
  return { system: body.instructions ?? (told.join("") || wordsOf(body.system ?? "")), turns };
}

type Words = string | readonly { readonly text: string }[];

interface Body {
  readonly system?: Words;
  readonly instructions?: string;
  readonly systemInstruction?: { readonly parts: Words };
  readonly messages?: readonly { readonly role: string; readonly content: Words }[];
  readonly input?: readonly { readonly role: string; readonly content: Words }[];
  readonly contents?: readonly { readonly role: string; readonly parts: Words }[];
}

function wordsOf(words: Words): string {
  return typeof words === "string" ? words : words.map(({ text }) => text).join("");
}
