import type { SweepFindings } from "@hallumaze/watching";
import { findingLine } from "@hallumaze/detectors";
import { quoted, singleLine } from "@hallumaze/reports";

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
