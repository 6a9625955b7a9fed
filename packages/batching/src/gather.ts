import {
  boundOf,
  type Claim,
  type ModelSettings,
  refusalOf,
  runTrial,
  type StorePort,
  type TrialPorts,
  tryNumberOf,
  type TurnRequest,
  type TurnResult,
} from "@hallumaze/engine";

import { type BatchSize, emptySize, fits, grown } from "./batch-size.ts";
import type { BatchStorePort, BatchVendorPort } from "./ports.ts";

/** What gathering needs from outside. */
export interface GatherPorts {
  /** What `runTrial` runs with; requests are taken over, so its provider and its limiter are never asked. */
  readonly trial: Omit<TrialPorts, "defer" | "provider" | "limiterOf">;
  readonly store: Pick<StorePort, "listOpen"> &
    Pick<BatchStorePort, "openBatch" | "addToBatch" | "sealBatch" | "dropBatch">;
  readonly vendor: Pick<BatchVendorPort, "draft" | "limitsOf">;
  readonly newId: () => string;
  readonly observe: {
    readonly sealed: (batchId: string, lane: string, rows: number) => void;
    /** A trial could not be gathered; it comes again. */
    readonly trouble: (trialId: string, error: unknown) => void;
  };
  /** How long a batch waits for more, in ms, after its last request and in all. */
  readonly quietMs: number;
  readonly longestMs: number;
}

/** Gathers the open trials of batch lanes into batches. */
export interface Gatherer {
  /**
   * Takes each open trial of a lane a step further: scores what has landed, puts what has to be asked into a batch, and
   * closes the batches that are full or have waited.
   */
  readonly gather: (lane: string, signal: AbortSignal) => Promise<void>;
  /** Gives back all that stands in open batches: nothing of it was sent. */
  readonly drop: () => Promise<void>;
  /** Whether trials stand in a batch that is not closed. */
  readonly isGathering: () => boolean;
}

interface OpenBatch {
  readonly batchId: string;
  readonly lane: string;
  readonly opened: Promise<void>;
  readonly openedMs: number;
  size: BatchSize;
  nextPosition: number;
  lastAddedMs: number;
  isFull: boolean;
}

const pageSize = 200;

/** Opens a gatherer of one worker. */
export function openGatherer(ports: GatherPorts): Gatherer {
  const { store, vendor, trial } = ports;
  /** By what the requests of one batch have in common; the last of each takes more. */
  const groups = new Map<string, OpenBatch[]>();

  const batchFor = (claim: Claim, settings: ModelSettings, turn: TurnRequest): OpenBatch => {
    const { provider, model, baseUrl: _baseUrl } = turn.request;
    const body = vendor.draft(turn.request);
    const headers = body.headers;
    const liveLane = settings.liveLane ?? null;
    // A batch that may be cancelled for a model's deadline holds no request of another sweep or model.
    const whose = liveLane === null ? null : [claim.sweepId, claim.alias];
    const key = JSON.stringify([whose, claim.lane, provider, model, settings.keyEnv, headers, body.variant]);
    const list = groups.get(key) ?? [];
    groups.set(key, list);
    const bytes = Buffer.byteLength(body.text);
    const last = list.at(-1);
    const size = grown(last?.size ?? emptySize, bytes, turn.request.maxTokens);
    if (last !== undefined && !last.isFull && fits(size, vendor.limitsOf(provider))) {
      last.size = size;
      return last;
    }
    if (last !== undefined) last.isFull = true;
    const batchId = ports.newId();
    const next: OpenBatch = {
      batchId,
      lane: claim.lane,
      opened: store.openBatch({
        batchId,
        lane: claim.lane,
        liveLane,
        provider,
        model,
        keyEnv: settings.keyEnv,
        headers,
        workerId: trial.workerId,
        leaseMs: trial.leaseMs,
      }),
      openedMs: trial.now(),
      size: grown(emptySize, bytes, turn.request.maxTokens),
      nextPosition: 0,
      lastAddedMs: trial.now(),
      isFull: false,
    };
    list.push(next);
    return next;
  };

  /** Sweeps whose budget does not reach now: asked once a page, not once a trial. */
  let held = new Set<string>();
  let added = 0;
  const defer = async (claim: Claim, settings: ModelSettings, turn: TurnRequest): Promise<TurnResult> => {
    if (trial.isDraining?.() === true || held.has(claim.sweepId)) return { kind: "again", afterMs: 0 };
    const boundUsd = boundOf(claim, settings, turn.inputTokens);
    const batch = batchFor(claim, settings, turn);
    const position = batch.nextPosition;
    batch.nextPosition += 1;
    await batch.opened;
    const { provider: _provider, ...sent } = turn.request;
    const admission = await store.addToBatch({
      batchId: batch.batchId,
      position,
      trialId: claim.trialId,
      fence: claim.fence,
      turn: turn.turn,
      tryNumber: tryNumberOf(claim),
      requestJson: JSON.stringify(sent),
      queueMs: claim.queueMs,
      boundUsd,
    });
    const refusal = refusalOf(admission, boundUsd, trial.fraction());
    if (refusal !== null) {
      if (refusal.kind === "again") held.add(claim.sweepId);
      return refusal;
    }
    batch.lastAddedMs = trial.now();
    added += 1;
    return { kind: "deferred" };
  };
  const trialPorts: TrialPorts = {
    ...trial,
    limiterOf: () => null,
    provider: {
      complete: async () => {
        throw new Error("a request of a batch lane must not be sent by itself");
      },
    },
    defer,
  };

  const close = async (isDue: (batch: OpenBatch) => boolean): Promise<void> => {
    for (const [key, list] of groups) {
      for (const batch of list.filter(isDue)) {
        await batch.opened.catch(() => undefined);
        const rows = await store.sealBatch(batch.batchId, trial.workerId);
        list.splice(list.indexOf(batch), 1);
        if (rows > 0) ports.observe.sealed(batch.batchId, batch.lane, rows);
      }
      if (list.length === 0) groups.delete(key);
    }
  };

  return {
    gather: async (lane, signal) => {
      held = new Set();
      for await (const page of store.listOpen(lane, pageSize)) {
        const before = added;
        const ready = page.filter(({ delayMs }) => delayMs === 0);
        await Promise.all(
          ready.map((open) =>
            runTrial(trialPorts, { trialId: open.trialId, generation: open.generation }, signal).catch(
              (error: unknown) => ports.observe.trouble(open.trialId, error),
            ),
          ),
        );
        await close((batch) => batch.isFull);
        if (signal.aborted || trial.isDraining?.() === true) return;
        // The rest would be claimed and given back for nothing.
        if (held.size > 0 && added === before) break;
      }
      const now = trial.now();
      await close(
        (batch) =>
          batch.lane === lane &&
          (held.size > 0 || now - batch.lastAddedMs >= ports.quietMs || now - batch.openedMs >= ports.longestMs),
      );
    },
    drop: async () => {
      for (const list of groups.values()) {
        for (const { batchId, opened } of list.splice(0)) {
          await opened.catch(() => undefined);
          await store.dropBatch({ batchId });
        }
      }
      groups.clear();
    },
    isGathering: () => groups.size > 0,
  };
}
