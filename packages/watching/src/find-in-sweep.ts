import {
  type AggregateBounds,
  type DetectorStorePort,
  type Finding,
  findFindings,
  scopeLine,
} from "@hallumaze/detectors";
import { prepareTrial } from "@hallumaze/engine";

/** What the detectors say of a sweep, and how much of it they have looked at. */
export interface SweepFindings {
  readonly findings: readonly Finding[];
  /** Null where they looked at all of it. */
  readonly scope: string | null;
}

/** A look takes under a second with these, however large the sweep; a fault that tells in 20,000 replies is no rare one. */
const wholeLook: AggregateBounds = { trials: 100_000, replies: 20_000 };
/** A tenth of a second, for who only asks how a sweep stands. */
export const quickLook: AggregateBounds = { trials: 10_000, replies: 2500 };

/** Runs the detectors over a sweep whose grid has so many trials. They look while the trials are still being counted. */
export async function findInSweep(
  store: DetectorStorePort,
  sweepId: string,
  counted: number | Promise<number>,
  bounds = wholeLook,
): Promise<SweepFindings> {
  const [aggregates, trials] = await Promise.all([store.aggregates(sweepId, bounds), counted]);
  return {
    findings: findFindings(aggregates, (plan) => prepareTrial(plan).promptTokens),
    scope: scopeLine(aggregates, trials),
  };
}
