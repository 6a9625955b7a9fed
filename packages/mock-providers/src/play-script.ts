import { createRandom, type Random, sha256Hex } from "@hallumaze/foundation";

import type { Dialect, Question } from "./dialect.ts";
import { type ParsedRule, type Rule, scriptSchema } from "./script-schema.ts";

/** What a rule looks at. */
export interface Incoming {
  readonly question: Question;
  readonly dialect: Dialect;
  readonly key: string | null;
  /** Number of the TCP connection. */
  readonly connection: number;
}

/** A script that is being played: each call to `next` moves its counters. */
export interface Player {
  readonly next: (incoming: Incoming) => ParsedRule | null;
}

/**
 * Plays a script: the first rule that applies decides, and every rule before it has counted the request where its `when`
 * fits. Draws come from the seed and the rule's place, in the order of arrival. Throws a ZodError on a malformed rule.
 */
export function playScript(rules: readonly Rule[], seed: number): Player {
  const played = scriptSchema.parse(rules).map((rule, index) => ({
    rule,
    random: createRandom(`${seed} rule ${index}`),
    counts: new Map<string, number>(),
    applied: 0,
  }));
  return {
    next: (incoming) => {
      for (const one of played) {
        if (!fits(one.rule, incoming)) continue;
        const scope = scopeOf(one.rule, incoming);
        const number = (one.counts.get(scope) ?? 0) + 1;
        one.counts.set(scope, number);
        if (one.rule.times !== undefined && one.applied >= one.rule.times) continue;
        if (!isNth(one.rule.nth, number) || !isDrawn(one.rule.probability, one.random)) continue;
        one.applied += 1;
        return one.rule;
      }
      return null;
    },
  };
}

function fits({ when }: ParsedRule, { question, dialect, key }: Incoming): boolean {
  if (when === undefined) return true;
  const said = question.messages.filter(({ role }) => role === "user");
  return (
    (when.vendor === undefined || when.vendor === question.vendor) &&
    (when.format === undefined || when.format === dialect.name) &&
    (when.model === undefined || matchesPattern(when.model, question.model)) &&
    (when.key === undefined || when.key === key) &&
    (when.stream === undefined || when.stream === question.stream) &&
    (when.turns === undefined || when.turns === said.length) &&
    (when.contains === undefined || (said.at(-1)?.content ?? "").includes(when.contains)) &&
    (when.parameter === undefined || question.parameters.has(when.parameter))
  );
}

function scopeOf({ countBy }: ParsedRule, { question, key, connection }: Incoming): string {
  switch (countBy) {
    case "prompt":
      return sha256Hex(JSON.stringify([question.vendor, question.model, question.system, question.messages]));
    case "model":
      return `${question.vendor}/${question.model}`;
    case "key":
      return key ?? "";
    case "connection":
      return String(connection);
    default:
      return "";
  }
}

function isNth(nth: ParsedRule["nth"], number: number): boolean {
  if (nth === undefined) return true;
  if (typeof nth === "number") return nth === number;
  if ("length" in nth) return nth.includes(number);
  const from = nth.from ?? nth.every ?? 1;
  return number >= from && number <= (nth.to ?? Infinity) && (number - from) % (nth.every ?? 1) === 0;
}

function isDrawn(probability: number | undefined, random: Random): boolean {
  return probability === undefined || random.fraction() < probability;
}

/** Tells whether a name fits a pattern, in which `*` stands for any text; case counts. */
export function matchesPattern(pattern: string, name: string): boolean {
  const parts = pattern.split("*");
  const [first = "", ...rest] = parts;
  if (rest.length === 0) return pattern === name;
  if (!name.startsWith(first)) return false;
  let position = first.length;
  for (const part of rest.slice(0, -1)) {
    const found = name.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  const last = rest.at(-1) ?? "";
  return name.length - position >= last.length && name.endsWith(last);
}
