/** Matches what Postgres text cannot hold: U+0000, and surrogates that form no pair. */
const refused = /[\0\p{Surrogate}]/u;
const escapable = /[\0\\\p{Surrogate}]/gu;

/**
 * Makes any text storable, to be restored exactly by `decodeText`. Ordinary text stays as it is; one that holds U+0000
 * or a lone surrogate (or begins with the mark itself) gets a leading backslash, and those code units as `\uXXXX`.
 */
export function encodeText(text: string): string {
  if (!text.startsWith("\\") && !refused.test(text)) return text;
  return `\\${text.replaceAll(escapable, (unit) => (unit === "\\" ? "\\\\" : `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`))}`;
}

/** The inverse of `encodeText`. */
export function decodeText(stored: string): string {
  if (!stored.startsWith("\\")) return stored;
  return stored
    .slice(1)
    .replaceAll(/\\(?:\\|u([0-9a-f]{4}))/g, (_, unit?: string) =>
      unit === undefined ? "\\" : String.fromCharCode(Number.parseInt(unit, 16)),
    );
}

/** `encodeText` that keeps null. */
export function encodeNullable(text: string | null): string | null {
  return text === null ? null : encodeText(text);
}

/** `decodeText` that keeps null. */
export function decodeNullable(stored: string | null): string | null {
  return stored === null ? null : decodeText(stored);
}
