import type { PageLanguage } from "./format.ts";
import { englishNames } from "./names-en.ts";
import { koreanNames } from "./names-ko.ts";
import { english } from "./words-en.ts";
import { korean } from "./words-ko.ts";

/** A key of the page's words. */
export type WordKey = keyof typeof english | keyof typeof englishNames;

/** All words of the page, by language: both have the same keys, by their type. */
export const words: Readonly<Record<PageLanguage, Readonly<Record<WordKey, string>>>> = {
  en: { ...english, ...englishNames },
  ko: { ...korean, ...koreanNames },
};

/** Puts values into a sentence's `{name}` places. A place without a value stays as it is. */
export function fill(sentence: string, values: Readonly<Record<string, string | number>>): string {
  return sentence.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));
}

/** The name of a member of one of the service's closed sets, such as `done` of `state`; the service's own word where none is known. */
export function wordOr(language: PageLanguage, set: string, name: string): string {
  const found: unknown = Object.getOwnPropertyDescriptor(words[language], `${set}.${name}`)?.value;
  return typeof found === "string" ? found : name;
}
