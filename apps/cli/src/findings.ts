import {
  type AggregateBounds,
  type DetectorStorePort,
  type Finding,
  findFindings,
  findingLine,
  scopeLine,
} from "@hallumaze/detectors";
import { prepareTrial } from "@hallumaze/engine";
import { quoted, singleLine } from "@hallumaze/reports";

/** What the detectors say of a sweep, and how much of it they have looked at. */
export interface SweepFindings {
  readonly findings: readonly Finding[];
  /** Null where they looked at all of it. */
  readonly scope: string | null;
}

/** A look takes under a second with these, however large the sweep; a fault that tells in 20,000 replies is no rare one. */
const bounds: AggregateBounds = { trials: 100_000, replies: 20_000 };

/** Runs the detectors over a sweep whose grid has so many trials. They look while the trials are still being counted. */
export async function findInSweep(
  store: DetectorStorePort,
  sweepId: string,
  counted: number | Promise<number>,
): Promise<SweepFindings> {
  const [aggregates, trials] = await Promise.all([store.aggregates(sweepId, bounds), counted]);
  return {
    findings: findFindings(aggregates, (plan) => prepareTrial(plan).promptTokens),
    scope: scopeLine(aggregates, trials),
  };
}

/** Lines for a terminal, the warnings first, at most `most` of them and where the rest stands. */
export function findingLines({ findings, scope }: SweepFindings, most: number, restIn: string): readonly string[] {
  const shown = findings.slice(0, most).map((finding) => singleLine(findingLine(finding)));
  const rest = findings.length - shown.length;
  return [
    ...shown,
    ...(rest > 0 ? [`… and ${rest} more: ${restIn}`] : []),
    ...(scope !== null && shown.length > 0 ? [`(${scope})`] : []),
  ];
}

/** The command that prints all findings of a sweep. */
export function allFindings(sweep: string): string {
  return `hallumaze status ${quoted(sweep)} --json`;
}

/** `warnings.md`: every finding with what to do, and how much was looked at. */
export function findingsMarkdown(name: string, { findings, scope }: SweepFindings): string {
  const lines = findings.map((finding) => `- ${singleLine(findingLine(finding)).replaceAll(/[\\`*_[\]<>|]/g, "\\$&")}`);
  return [
    `# Warnings: ${singleLine(name)}`,
    "",
    ...(lines.length > 0 ? lines : ["Nothing that makes the figures mean less than they seem to was found."]),
    ...(scope === null ? [] : ["", `Scope: ${scope}.`]),
    "",
  ].join("\n");
}
