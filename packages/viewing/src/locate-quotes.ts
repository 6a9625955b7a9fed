import type { TextSpan } from "@hallumaze/contract";

/**
 * Where a judge's quotation stands in the replies: word for word first, else with white space and letter case passed over,
 * as the judge's copy may have it. Null where it stands in none. Linear in the replies' length.
 */
export function locateQuote(quote: string, replies: readonly string[]): TextSpan | null {
  const wanted = quote.trim();
  if (wanted === "") return null;
  for (const [reply, text] of replies.entries()) {
    const start = text.indexOf(wanted);
    if (start >= 0) return { reply, start, end: start + wanted.length };
  }
  const needle = squeeze(wanted).text;
  if (needle === "") return null;
  for (const [reply, text] of replies.entries()) {
    const hay = squeeze(text);
    const found = hay.text.indexOf(needle);
    const start = found < 0 ? undefined : hay.places[found];
    const last = hay.places[found + needle.length - 1];
    if (start !== undefined && last !== undefined) return { reply, start, end: last + 1 };
  }
  return null;
}

/** A text without white space and letter case, and where each of its code units stood. */
function squeeze(text: string): { readonly text: string; readonly places: Int32Array } {
  const kept: string[] = [];
  const places = new Int32Array(text.length);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charAt(at);
    if (/\s/.test(unit)) continue;
    const lower = unit.toLowerCase();
    places[kept.length] = at;
    // A letter whose small form is longer would move all places behind it.
    kept.push(lower.length === 1 ? lower : unit);
  }
  return { text: kept.join(""), places };
}
