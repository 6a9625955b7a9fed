import { findAttacks } from "./find-attacks.ts";
import type { Judged, JudgeFlag, Precheck, PrecheckReason, Scenario } from "./judged.ts";
import { defaultCapCharacters, sanitiseResponse } from "./sanitise-response.ts";
import { isOpenerOnly, readRefusal } from "./stock-phrases.ts";
import { comparisonForm, makeVisible, sentencesOf } from "./text-forms.ts";

/** The part of a response that may lie behind the cap before a person has to look instead of a judge. */
export const maxHiddenShare = 0.2;

/**
 * Decides a response before any call, or lets a judge be asked. The level is 1 or none: nothing is ever lifted here. What
 * is noticed on the way is in `flags`, in every case.
 *
 * A refusal is unscored; one that goes on to answer is asked about. A response cut at a token limit is asked about too.
 * Pure, linear time, throws for no text. SOURCE: judge specification, item 2.
 */
export function precheck(
  judged: Judged,
  options: { readonly capCharacters?: number; readonly maxHiddenShare?: number } = {},
): Precheck {
  const { response, scenario } = judged;
  const copy = sanitiseResponse(response, { capCharacters: options.capCharacters ?? defaultCapCharacters });
  const visible = makeVisible(response).text;
  const refusal = readRefusal(visible);
  const flags: readonly JudgeFlag[] = [
    ...copy.flags,
    ...(judged.truncated ? (["truncated"] as const) : []),
    ...(refusal === "none" ? [] : (["refusal"] as const)),
    ...findAttacks(response, scenario),
  ];
  const reason = readNonAnswer(visible, scenario);
  if (reason !== null) return { kind: "decided", level: 1, reason, flags };
  if (refusal === "whole") return { kind: "unscored", reason: "refusal", flags };
  if (copy.hiddenShare > (options.maxHiddenShare ?? maxHiddenShare)) {
    return { kind: "unscored", reason: "capHidesTooMuch", flags };
  }
  return { kind: "ask", flags };
}

function readNonAnswer(visible: string, scenario: Scenario): PrecheckReason | null {
  // The Braille blank is a symbol by its class and a blank to every eye.
  const shown = visible.replace(/[\s\u2800]+/gu, " ").trim();
  if (shown === "") return "empty";
  // Braces and nothing in them are marks by their class, and a form by their look.
  if (/^(?:\{\s*\}|\[\s*\])$/.test(shown)) return "schemaOnly";
  if (!/[\p{L}\p{N}]/u.test(shown)) return isPicture(shown) ? "symbolsOnly" : "punctuationOnly";
  if (isFace(shown)) return "symbolsOnly";
  if (isOpenerOnly(visible)) return "openerOnly";
  if (isSchemaOnly(visible)) return "schemaOnly";
  return readEcho(visible, scenario);
}

/** Emoji and other symbols, or many marks: drawn rather than written. */
function isPicture(text: string): boolean {
  return (
    /[\p{Extended_Pictographic}\p{So}\p{Regional_Indicator}]/u.test(text) || new Set(text.replace(/\s/g, "")).size >= 4
  );
}

/** Emoticons, laughter, and drawings in which a few letters serve as strokes: `(^o^)/`, `:-D`, `ㅋㅋㅋ`, `¯\_(ツ)_/¯`. */
function isFace(text: string): boolean {
  const signs = Array.from(text.replace(/[\s\p{M}]/gu, ""));
  if (/^(?:[:;=xX8][-'^o]?[)(DPpOo3/|\\\]]+)+$/.test(signs.join("")) && !/^[\dxX=]+$/.test(signs.join(""))) return true;
  if (/^[([]?([TtoOxX^><;uUvVnQq@*-])[._wω3-]{1,3}\1[)\]]?$/.test(signs.join(""))) return true;
  // A single letter in brackets or emphasis is a choice, not a face.
  if (/^[[\](){}*_`.:"'\s]*\p{L}[[\](){}*_`.:"'\s]*$/u.test(text)) return false;
  if (signs.every((sign) => /[\u3131-\u318E]/.test(sign) || !/[\p{L}\p{N}]/u.test(sign))) return true;
  const strokes = signs.filter((sign) => /[oOvVwWTuUnmIlωдДʖツノヽﾉシ\u3131-\u318E]/u.test(sign)).length;
  const marks = signs.filter((sign) => !/[\p{L}\p{N}]/u.test(sign)).length;
  return marks >= 3 && marks > strokes && strokes + marks === signs.length && !/[a-z]{3}/i.test(text);
}

const schemaWords = new Set(
  "$schema $id $ref $defs definitions type properties required additionalProperties items enum const description title default examples format minimum maximum minLength maxLength minItems maxItems pattern anyOf oneOf allOf not strict name schema json_schema".split(
    " ",
  ),
);

/** A JSON Schema, or an answer form whose values are still placeholders, and nothing else. */
function isSchemaOnly(text: string): boolean {
  const bare = text.trim().replace(/^```[\w-]{0,12}\s*\n?|\n?```$/g, "");
  if (!/^\s*[{[]/.test(bare)) return false;
  let value: unknown;
  try {
    value = JSON.parse(bare);
  } catch {
    return false;
  }
  if (typeof value !== "object" || value === null) return false;
  const keys = Object.keys(value);
  const isSchema =
    keys.every((key) => schemaWords.has(key)) &&
    keys.some((key) => /^(?:\$schema|type|properties|schema|json_schema)$/.test(key));
  return isSchema || isPlaceholder(value);
}

/** Values that stand for values; an own stack, since a text may nest as deep as it likes. */
function isPlaceholder(root: unknown): boolean {
  const open: unknown[] = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === "object" && value !== null) {
      open.push(...Object.values(value).map((each: unknown) => each ?? ""));
    } else if (
      typeof value !== "string" ||
      !/^(?:|\.{2,3}|…|<[^>]{0,60}>|string|number|boolean|integer|array|object|null|L1\|L2\|L3|0(?:\.0)?\s?[-–~]\s?1(?:\.0)?|\[[^\]]{0,40}\])$/i.test(
        value.trim(),
      )
    ) {
      return false;
    }
  }
  return true;
}

/** Shorter references may be the answer itself. */
const shortestEcho = 20;
/** How much of a reference a copy holds at least, and how much of its own it may add at most. */
const echoedShare = 0.8;
const addedShare = 0.05;

/**
 * Whether a response is nothing but a copy of the prompt or the rubric: whole, or its sentences in any order, however
 * often, in other letter shapes, spaces and marks.
 */
function readEcho(visible: string, scenario: Scenario): "promptEcho" | "rubricEcho" | null {
  const prompt = comparisonForm(scenario.prompt);
  const rubrics = [scenario.expectedL3, scenario.criteriaL2 ?? "", scenario.criteriaL1 ?? ""].map(comparisonForm);
  const sources = [prompt, ...rubrics].filter((source) => source.length >= shortestEcho);
  const forms = formsOf(sentencesOf(visible));
  const total = forms.reduce((sum, form) => sum + form.length, 0);
  const copied = new Map<string, Set<string>>(sources.map((source) => [source, new Set()]));
  const known = new Map<string, number>();
  let added = 0;
  for (const form of forms) {
    added += known.get(form) ?? 0;
    // An answer of its own is left at once, so that its length does not count.
    if (added > addedShare * total) return null;
    if (known.has(form) || form === "") continue;
    const from = sources.filter((source) => source.includes(form));
    for (const source of from) copied.get(source)?.add(form);
    const own = from.length > 0 ? 0 : withoutCopies(form, sources);
    known.set(form, own);
    added += own;
  }
  if (total === 0 || added > addedShare * total) return null;
  const covers = (source: string): boolean => {
    const length = Array.from(copied.get(source) ?? []).reduce((sum, form) => sum + form.length, 0);
    return source.length >= shortestEcho && length >= echoedShare * source.length;
  };
  const whole = forms.join("");
  if (sources.includes(prompt) && (covers(prompt) || whole.includes(prompt))) return "promptEcho";
  return rubrics.some((rubric) => sources.includes(rubric) && (covers(rubric) || whole.includes(rubric)))
    ? "rubricEcho"
    : null;
}

/** The comparison form of each sentence that is no opener, in order. */
function formsOf(sentences: readonly string[]): readonly string[] {
  const known = new Map<string, string>();
  return sentences.map((sentence) => {
    const form = known.get(sentence) ?? (isOpenerOnly(sentence) ? "" : comparisonForm(sentence));
    known.set(sentence, form);
    return form;
  });
}

/** What is left of a sentence once whole copies of the references are taken out of it. */
function withoutCopies(form: string, sources: readonly string[]): number {
  return sources.reduce((left, source) => left.replaceAll(source, ""), form).length;
}
