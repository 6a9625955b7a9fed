import type { Problem, SpecPath } from "./spec-error.ts";

/** A part of the benchmark that a spec may ask for before this version has it. */
interface MissingPart {
  readonly part: string;
  /** Where a spec asks for it. */
  readonly asked: (spec: Readonly<Record<string, unknown>>) => readonly SpecPath[];
  readonly reason: string;
}

/**
 * Parts that are not built yet. A spec that asks for one is refused with the reason, never silently ignored; whoever
 * builds a part removes its line here, and nothing else.
 */
const MISSING_PARTS: readonly MissingPart[] = [
  {
    part: "judge",
    asked: (spec) => givenAt(spec, "judge"),
    reason: "the judge is not in force yet; remove judge",
  },
];

/** The parts that this version lacks, by name. */
export const MISSING_PART_NAMES: readonly string[] = MISSING_PARTS.map(({ part }) => part);

/** Finds what a spec asks for that this version does not have. Takes any value: what is malformed asks for nothing. */
export function notBuiltYet(spec: unknown): readonly Problem[] {
  if (!isRecord(spec)) return [];
  return MISSING_PARTS.flatMap(({ asked, reason }) => asked(spec).map((path) => ({ path, message: reason })));
}

function givenAt(spec: Readonly<Record<string, unknown>>, key: string): SpecPath[] {
  return spec[key] === undefined || spec[key] === null ? [] : [[key]];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
