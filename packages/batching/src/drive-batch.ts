import { insist } from "@hallumaze/engine";

import { customIdOf, positionOf } from "./custom-ids.ts";
import type { DrivePorts } from "./drive-ports.ts";
import { goLive, land, landRest, landRows, pageSize, park, requestOf, turnaroundOf } from "./land-batch.ts";
import type { Batch, BatchLook, BatchRefusal } from "./ports.ts";
import { openReckoning } from "./reckoning.ts";
import { rowFailure } from "./row-failures.ts";

/** A batch that is refused so often is refused for what is in it. */
const mostHalvings = 4;
/** Looks in a row in vain after which the results are given up: about a quarter of an hour. */
const mostMisses = 20;

/**
 * Takes a batch that this worker holds one step further, and gives it back. Safe to interrupt anywhere: each step is
 * committed before the next depends on it.
 */
export async function driveBatch(ports: DrivePorts, batch: Batch, signal: AbortSignal): Promise<void> {
  switch (batch.state) {
    case "gathering":
      // Its gatherer is gone: nothing of it was sent.
      return drop(ports, batch);
    case "sealed":
      return batch.isLate ? drop(ports, batch, "live") : submit(ports, batch, signal);
    case "submitting":
      // A request under way when its worker died may still arrive.
      if (batch.isOrphan) return ports.store.releaseBatch(batch, { afterMs: ports.times.settleMs });
      return findLost(ports, batch, signal);
    case "running":
      return look(ports, batch, signal);
    case "done":
      return;
  }
}

async function drop(ports: DrivePorts, batch: Batch, to?: "live"): Promise<void> {
  const { rows, live } = await ports.store.dropBatch(batch, to);
  await goLive(ports, batch, live);
  ports.observe.dropped(batch, rows);
}

async function submit(ports: DrivePorts, batch: Batch, signal: AbortSignal): Promise<void> {
  const { store, vendor } = ports;
  const rows: { readonly customId: string; readonly body: string }[] = [];
  for (let after = -1; ; ) {
    const page = await store.listRows(batch.batchId, after, pageSize);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.position;
    for (const row of page) {
      const body = vendor.draft(requestOf(batch, row)).text;
      rows.push({ customId: customIdOf(batch.batchId, row.position), body });
    }
  }
  if (!(await store.beginSubmission(batch))) return;
  const answer = await vendor.submit(batch, rows, signal);
  switch (answer.kind) {
    case "accepted":
      return bind(ports, batch, answer.vendorId, signal);
    case "unknown":
      return store.releaseBatch(batch, { afterMs: ports.times.settleMs, message: answer.message });
    case "refused":
      ports.observe.refused(batch, answer);
      return refuse(ports, batch, answer, answer.isTooLarge, signal);
  }
}

async function bind(ports: DrivePorts, batch: Batch, vendorId: string, signal: AbortSignal): Promise<void> {
  // Held in memory until the ledger has it: everything else depends on it.
  const of = { trialId: batch.batchId, onTrouble: (error: unknown) => ports.observe.trouble(batch, error) };
  const fate = await insist(ports, of, () => ports.store.bindBatch(batch, vendorId), signal);
  if (fate === "bound") ports.observe.submitted(batch, vendorId, "answered");
  await ports.store.releaseBatch(batch, { afterMs: lookAfterMs(ports, 0) });
}

/** Nothing was made of a submission: what comes next follows from why. */
async function refuse(
  ports: DrivePorts,
  batch: Batch,
  refusal: BatchRefusal,
  isTooLarge: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { store } = ports;
  if (refusal.park !== null) {
    return park(ports, batch, refusal, refusal.park, () => store.dropBatch(batch));
  }
  const isOfContent = isTooLarge || ["bad_request", "context_too_long", "filtered"].includes(refusal.outcome);
  if (!isOfContent) {
    return store.releaseBatch(batch, { ...later(ports, batch, refusal), state: "sealed", looked: "in-vain" });
  }
  // Live, each request is judged by itself.
  if (batch.liveLane !== null && !isTooLarge) return drop(ports, batch, "live");
  if (batch.rows > 1 && (isTooLarge || batch.halvings < mostHalvings)) return store.halveBatch(batch);
  await landRest(ports, batch, openReckoning(), rowFailure("bad_request", refusal.message, 0), signal);
}

/**
 * A batch that was taken is refused as a whole: nothing of it was run. Where lines are to blame, their rows fail and the
 * others are gathered anew; else it is as if the submission had been refused.
 */
async function refuseLate(
  ports: DrivePorts,
  batch: Batch,
  refusal: Extract<BatchLook, { readonly kind: "refused" }>,
  signal: AbortSignal,
): Promise<void> {
  const { store } = ports;
  ports.observe.refused(batch, refusal);
  if (refusal.lines.length === 0) {
    await store.rejectBatch(batch);
    return refuse(ports, batch, refusal, refusal.isTooLarge, signal);
  }
  const positions: number[] = [];
  const blamed = new Set(refusal.lines);
  let line = 0;
  // The file's lines were the batch's rows in their order.
  for (let after = -1; ; ) {
    const page = await store.listRows(batch.batchId, after, pageSize);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.position;
    for (const { position } of page) {
      if (blamed.has(line)) positions.push(position);
      line += 1;
    }
  }
  for (let start = 0; start < positions.length; start += pageSize) {
    const rows = await store.findRows(batch.batchId, positions.slice(start, start + pageSize));
    const result = rowFailure("bad_request", refusal.message, turnaroundOf(batch));
    await landRows(ports, batch, openReckoning(), rows, () => result, signal);
  }
  await drop(ports, batch);
}

/**
 * Looks for a batch whose submission had no answer. Submits again only where the vendor has none that may be it: each one
 * of its time and size was seen by its custom ids to be another's, and the list has caught up with the submission, or has had
 * the longest that we grant it.
 */
async function findLost(ports: DrivePorts, batch: Batch, signal: AbortSignal): Promise<void> {
  const { store, vendor } = ports;
  const found = await vendor.find(batch, batch.submitted?.atMs ?? 0, signal);
  if (found.kind === "unreachable") {
    return store.releaseBatch(batch, { ...later(ports, batch, found), looked: "in-vain" });
  }
  const ids = [...found.named, ...found.alike.map(({ vendorId }) => vendorId)];
  const known = new Set([...(await store.knownVendorIds(batch.provider, ids)), ...batch.notOurs]);
  for (const vendorId of found.named) {
    if (!known.has(vendorId) && (await bindFound(ports, batch, vendorId))) return;
  }
  const alike = found.alike.filter(({ vendorId }) => !known.has(vendorId));
  let isOpen = false;
  for (const { vendorId, hasEnded } of alike) {
    const whose = hasEnded ? await whoseBatch(ports, batch, vendorId, signal) : "open";
    if (whose === "ours" && (await bindFound(ports, batch, vendorId))) return;
    if (whose === "others") await store.ruleOut(batch, vendorId);
    if (whose === "gone") {
      const message = "a batch of its time and size has lost its results: nobody can tell whose they were";
      return giveUp(ports, batch, message, signal);
    }
    isOpen ||= whose === "open";
  }
  const hasCaughtUp = found.isPast || (batch.submitted?.agoMs ?? Infinity) >= ports.times.lagMs;
  if (!isOpen && hasCaughtUp) return store.releaseBatch(batch, { afterMs: 0, state: "sealed" });
  const message = isOpen
    ? "the submission's answer was lost; a batch that may be it runs at the vendor, and shows whose it is when it has ended"
    : "the submission's answer was lost; the vendor's list may not show it yet";
  const afterMs = Math.max(ports.times.settleMs, lookAfterMs(ports, batch.looks));
  await store.releaseBatch(batch, { afterMs, looked: "well", message });
}

async function bindFound(ports: DrivePorts, batch: Batch, vendorId: string): Promise<boolean> {
  const fate = await ports.store.bindBatch(batch, vendorId);
  if (fate === "taken") return false;
  if (fate === "bound") ports.observe.submitted(batch, vendorId, "found");
  await ports.store.releaseBatch(batch, { afterMs: lookAfterMs(ports, 0) });
  return true;
}

/** Whose a batch is that has ended, by the custom ids of its results. */
async function whoseBatch(
  ports: DrivePorts,
  batch: Batch,
  vendorId: string,
  signal: AbortSignal,
): Promise<"ours" | "others" | "gone" | "open"> {
  const answer = await ports.vendor.results(batch, vendorId, signal);
  if (answer.kind === "unreachable") return "open";
  if (answer.kind === "gone") return "gone";
  let isAnybodys = false;
  for (const { customId } of answer.results) {
    if (positionOf(batch.batchId, customId) !== null) return "ours";
    isAnybodys ||= customId !== null;
  }
  return isAnybodys ? "others" : "gone";
}

async function look(ports: DrivePorts, batch: Batch, signal: AbortSignal): Promise<void> {
  const { store, vendor } = ports;
  const { vendorId } = batch;
  if (vendorId === null) throw new Error(`batch ${batch.batchId} runs without a vendor's id`);
  const seen = await vendor.look(batch, vendorId, signal);
  const afterMs = lookAfterMs(ports, batch.looks + 1);
  switch (seen.kind) {
    case "running":
      // Another's batch must not be cancelled.
      if (batch.isLate && !batch.isGuess) await vendor.cancel(batch, vendorId, signal);
      return store.releaseBatch(batch, { afterMs, looked: "well" });
    case "unreachable":
      return store.releaseBatch(batch, { ...later(ports, batch, seen), looked: "in-vain" });
    case "unknown":
      if (batch.isGuess) return store.unbindBatch(batch);
      if (batch.misses < mostMisses)
        return store.releaseBatch(batch, { afterMs, looked: "in-vain", message: seen.message });
      return giveUp(ports, batch, `the vendor does not know the batch any more: ${seen.message}`, signal);
    case "ended":
      return fetch(ports, batch, vendorId, signal);
    case "refused":
      return refuseLate(ports, batch, seen, signal);
  }
}

async function fetch(ports: DrivePorts, batch: Batch, vendorId: string, signal: AbortSignal): Promise<void> {
  const results = await ports.vendor.results(batch, vendorId, signal);
  switch (results.kind) {
    case "rows":
      return land(ports, batch, results, signal);
    case "gone":
      return giveUp(ports, batch, `the batch's results are gone: ${results.message}`, signal);
    case "unreachable":
      if (batch.misses >= mostMisses)
        return giveUp(ports, batch, `the batch's results cannot be fetched: ${results.message}`, signal);
      return ports.store.releaseBatch(batch, { ...later(ports, batch, results), looked: "in-vain" });
  }
}

/** Nobody knows whether its rows were answered, and paid: they are charged at their bounds. */
async function giveUp(ports: DrivePorts, batch: Batch, message: string, signal: AbortSignal): Promise<void> {
  await landRest(ports, batch, openReckoning(), rowFailure("transport", message, turnaroundOf(batch)), signal);
}

function lookAfterMs({ times, fraction }: DrivePorts, looks: number): number {
  const waitMs = Math.min(times.lookAtMostMs, times.lookMs * 1.5 ** Math.min(looks, 30));
  return Math.round(waitMs * (0.9 + 0.2 * fraction()));
}

function later(
  ports: DrivePorts,
  { misses }: Batch,
  { retryAfterMs, message }: BatchRefusal,
): { readonly afterMs: number; readonly message: string } {
  return { afterMs: Math.max(retryAfterMs ?? 0, lookAfterMs(ports, misses + 1)), message };
}
