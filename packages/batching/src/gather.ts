import {
  boundOf,
  type Claim,
  type Delivery,
  type ModelSettings,
  type OpenTrial,
  refusalOf,
  type RequestAdmission,
  runTrial,
  type StorePort,
  type TrialPorts,
  type TurnRequest,
  type TurnResult,
  tryNumberOf,
} from "@hallumaze/engine";

import { type BatchSize, emptySize, fits, grown } from "./batch-size.ts";
import type { BatchDraft, BatchStorePort, BatchVendorPort } from "./ports.ts";

/** What gathering needs from outside. */
export interface GatherPorts {
  readonly store: Pick<BatchStorePort, "openBatch" | "addToBatch" | "sealBatch" | "dropBatch">;
  readonly vendor: Pick<BatchVendorPort, "draft" | "limitsOf">;
  readonly newId: () => string;
  readonly now: () => number;
  readonly workerId: string;
  readonly leaseMs: number;
  /** True once nothing further may be gathered. */
  readonly isDraining: () => boolean;
  readonly observe: {
    readonly sealed: (batchId: string, lane: string, rows: number) => void;
    /** A trial, or a request to a judge, could not be gathered; it comes again. */
    readonly trouble: (subjectId: string, error: unknown) => void;
  };
  /** How long a batch waits for more, in ms, after its last request and in all. */
  readonly quietMs: number;
  readonly longestMs: number;
}

/** What is gathered: trials, or requests to judges. */
export interface GatherSource {
  readonly listOpen: (lane: string, pageSize: number) => AsyncIterable<readonly OpenTrial[]>;
  /** Takes one a step further; what has to be asked it hands to `take`. */
  readonly run: (delivery: Delivery, signal: AbortSignal) => Promise<unknown>;
}

/** A request that is handed over with its claim. */
export interface HandedOver extends Omit<BatchDraft, "batchId" | "position" | "requestJson"> {
  readonly lane: string;
  readonly sweepId: string;
  /** Where it is asked live if its batch is late or refused; null: nowhere. */
  readonly liveLane: string | null;
  /** A batch that may be cancelled for a deadline holds nothing of another group; null: it is none such. */
  readonly liveGroup: string | null;
  readonly keyEnv: string | null;
  readonly request: TurnRequest["request"];
}

/** Gathers the open trials, and requests to judges, of batch lanes into batches. */
export interface Gatherer {
  /**
   * Takes each open one of a lane a step further: goes on with what has landed, puts what has to be asked into a batch, and
   * closes the batches that are full or have waited.
   */
  readonly gather: (lane: string, source: GatherSource, signal: AbortSignal, isResting: boolean) => Promise<void>;
  /** Puts a request into a batch, reserves its money and takes its claim over; or says why not. */
  readonly take: (handed: HandedOver) => Promise<RequestAdmission>;
  /** Gives back all that stands in open batches: nothing of it was sent. */
  readonly drop: () => Promise<void>;
  /** Whether anything stands in a batch that is not closed. */
  readonly isGathering: () => boolean;
}

/** The trials of a lane: `runTrial` with its requests handed over, so its provider and its limiter are never asked. */
export function trialSource(
  ports: Omit<TrialPorts, "defer" | "provider" | "limiterOf"> & { readonly store: Pick<StorePort, "listOpen"> },
  gatherer: Pick<Gatherer, "take">,
): GatherSource {
  const defer = async (claim: Claim, settings: ModelSettings, turn: TurnRequest): Promise<TurnResult> => {
    const boundUsd = boundOf(claim, settings, turn.inputTokens);
    const { lane, sweepId, trialId: subjectId, fence, queueMs } = claim;
    const liveLane = settings.liveLane ?? null;
    const admission = await gatherer.take({
      lane,
      sweepId,
      liveLane,
      // That of one model in one sweep.
      liveGroup: liveLane === null ? null : JSON.stringify([sweepId, claim.alias]),
      keyEnv: settings.keyEnv,
      request: turn.request,
      subjectId,
      fence,
      turn: turn.turn,
      tryNumber: tryNumberOf(claim),
      queueMs,
      boundUsd,
      readingJson: null,
    });
    return refusalOf(admission, boundUsd, ports.fraction()) ?? { kind: "deferred" };
  };
  const trialPorts: TrialPorts = {
    ...ports,
    limiterOf: () => null,
    provider: {
      complete: async () => {
        throw new Error("a request of a batch lane must not be sent by itself");
      },
    },
    defer,
  };
  return {
    listOpen: (lane, size) => ports.store.listOpen(lane, size),
    run: (delivery, signal) => runTrial(trialPorts, delivery, signal),
  };
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
  const { store, vendor, now } = ports;
  /** By what the requests of one batch have in common; the last of each takes more. */
  const groups = new Map<string, OpenBatch[]>();

  const batchFor = ({ request, lane, liveLane, liveGroup, keyEnv }: HandedOver): OpenBatch => {
    const { provider, model } = request;
    const { headers, text, variant } = vendor.draft(request);
    const key = JSON.stringify([liveGroup, lane, provider, model, keyEnv, headers, variant]);
    const list = groups.get(key) ?? [];
    groups.set(key, list);
    const bytes = Buffer.byteLength(text);
    const last = list.at(-1);
    const size = grown(last?.size ?? emptySize, bytes, request.maxTokens);
    if (last !== undefined && !last.isFull && fits(size, vendor.limitsOf(provider))) {
      last.size = size;
      return last;
    }
    if (last !== undefined) last.isFull = true;
    const batchId = ports.newId();
    const { workerId, leaseMs } = ports;
    const next: OpenBatch = {
      batchId,
      lane,
      opened: store.openBatch({ batchId, lane, liveLane, provider, model, keyEnv, headers, workerId, leaseMs }),
      openedMs: now(),
      size: grown(emptySize, bytes, request.maxTokens),
      nextPosition: 0,
      lastAddedMs: now(),
      isFull: false,
    };
    list.push(next);
    return next;
  };

  /** Sweeps whose budget does not reach now: asked once a page, not once a trial. */
  let held = new Set<string>();
  let added = 0;
  /** A lane that is parked: what has landed there is scored, and nothing more is asked. */
  let resting: string | null = null;
  const take = async (handed: HandedOver): Promise<RequestAdmission> => {
    if (ports.isDraining() || held.has(handed.sweepId) || handed.lane === resting) return { kind: "later" };
    const batch = batchFor(handed);
    const { batchId } = batch;
    const position = batch.nextPosition;
    batch.nextPosition += 1;
    await batch.opened;
    const { subjectId, fence, turn, tryNumber, queueMs, boundUsd, readingJson } = handed;
    const { provider: _provider, ...sent } = handed.request;
    const row = { subjectId, fence, turn, tryNumber, queueMs, boundUsd, readingJson };
    const admission = await store.addToBatch({ batchId, position, ...row, requestJson: JSON.stringify(sent) });
    if (admission.kind === "later") held.add(handed.sweepId);
    if (admission.kind === "open") {
      batch.lastAddedMs = now();
      added += 1;
    }
    return admission;
  };

  const close = async (isDue: (batch: OpenBatch) => boolean): Promise<void> => {
    for (const [key, list] of groups) {
      for (const batch of list.filter(isDue)) {
        await batch.opened.catch(() => undefined);
        const rows = await store.sealBatch(batch.batchId, ports.workerId);
        list.splice(list.indexOf(batch), 1);
        if (rows > 0) ports.observe.sealed(batch.batchId, batch.lane, rows);
      }
      if (list.length === 0) groups.delete(key);
    }
  };

  return {
    take,
    gather: async (lane, source, signal, isResting) => {
      held = new Set();
      resting = isResting ? lane : null;
      for await (const page of source.listOpen(lane, pageSize)) {
        const before = added;
        const ready = page.filter(({ delayMs }) => delayMs === 0);
        await Promise.all(
          ready.map((open) =>
            source
              .run({ trialId: open.trialId, generation: open.generation }, signal)
              .catch((error: unknown) => ports.observe.trouble(open.trialId, error)),
          ),
        );
        await close((batch) => batch.isFull);
        if (signal.aborted || ports.isDraining()) return;
        // The rest would be claimed and given back for nothing.
        if (held.size > 0 && added === before) break;
      }
      const atMs = now();
      await close(
        (batch) =>
          batch.lane === lane &&
          (held.size > 0 || atMs - batch.lastAddedMs >= ports.quietMs || atMs - batch.openedMs >= ports.longestMs),
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
