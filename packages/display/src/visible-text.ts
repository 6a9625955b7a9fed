/** A stretch of text that is shown as it stands, or a character that would be invisible or change the text around it. */
export interface TextPiece {
  readonly text: string;
  /** The code point, as `U+202E`, of what stands here unseen; null for plain text. */
  readonly hidden: string | null;
}

// Control characters but tab and line feed, soft hyphen, zero-width and bidi controls, line separators, variation
// selectors' supplement, tags, private noncharacters and lone surrogates.
const unseen =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]|\p{Surrogate}/gu;

/**
 * Cuts text that a model wrote into what can be read and what hides: bidi controls, tags, zero-width and control
 * characters. Each of the latter is shown by its code point, so that it can neither reorder nor hide anything.
 */
export function visiblePieces(text: string): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  let end = 0;
  for (const match of text.matchAll(unseen)) {
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), hidden: null });
    pieces.push({ text: match[0], hidden: codePointName(match[0]) });
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), hidden: null });
  return pieces;
}

/** The same as one string, for places that only hold text (titles, charts, labels): `⟨U+202E⟩` where something hides. */
export function visibleText(text: string): string {
  return visiblePieces(text)
    .map((piece) => (piece.hidden === null ? piece.text : `⟨${piece.hidden}⟩`))
    .join("");
}

function codePointName(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}
