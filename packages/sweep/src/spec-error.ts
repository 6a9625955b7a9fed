import { HalluMazeError } from "@hallumaze/foundation";

import { redact } from "./secrets.ts";

/** One problem of a spec. Holds no key-like text: messages are redacted. */
export interface SpecIssue {
  /** Where it is in the spec, such as `models[1].temperature`; empty for the file as a whole. */
  readonly path: string;
  /** 1-based; null where the text has no such place (a spec that was not read from a file). */
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
  /** What to do, such as `did you mean "temperature"?`; null where the message says it all. */
  readonly suggestion: string | null;
}

/** Keys and indices from the root of a spec to a value. */
export type SpecPath = readonly (string | number)[];

/** A problem before its place in the text is looked up. */
export interface Problem {
  readonly path: SpecPath;
  readonly message: string;
  readonly suggestion?: string;
  /** Points at the key, not at its value. */
  readonly atKey?: boolean;
}

/** Thrown where a spec cannot be used: `code` is `spec-invalid`, `issues` holds every problem found, in the text's order. */
export class SpecError extends HalluMazeError {
  readonly issues: readonly SpecIssue[];
  readonly fileName: string;

  constructor(fileName: string, issues: readonly SpecIssue[]) {
    super("spec-invalid", issues.map((issue) => formatIssue(fileName, issue)).join("\n"), {
      context: { fileName, issues: issues.length },
    });
    this.fileName = fileName;
    this.issues = issues;
  }
}

/** Writes a problem as one line: `sweep.yaml:7:3 models[1].temprature: unknown key; did you mean "temperature"?`. */
export function formatIssue(fileName: string, issue: SpecIssue): string {
  const place = issue.line === null ? fileName : `${fileName}:${issue.line}:${issue.column ?? 1}`;
  const path = issue.path === "" ? "" : `${issue.path}: `;
  const mend = issue.suggestion === null ? "" : `; ${issue.suggestion}`;
  return `${place}${path === "" ? ":" : ""} ${path}${issue.message}${mend}`;
}

/** Writes a path as in code: `models[1].temperature`. A key that is no plain word stands in quotes, cut to 60 characters. */
export function formatPath(path: SpecPath): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (/^[A-Za-z_$][\w$]{0,59}$/.test(part)) text += text === "" ? redact(part) : `.${redact(part)}`;
    else text += `[${quote(part)}]`;
  }
  return text;
}

/** Quotes a text for a message: control characters escaped, key-like text redacted, cut to 60 characters. */
export function quote(text: string): string {
  const shown = redact(text.slice(0, 500));
  return JSON.stringify(shown.length > 60 ? `${shown.slice(0, 59)}…` : shown);
}
