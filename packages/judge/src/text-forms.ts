/** What the judge's copy and the checks see of a text once nothing invisible is left in it. */
export interface VisibleText {
  readonly text: string;
  /** How many characters without a visible form were taken out; a byte order mark at the start is not counted. */
  readonly hiddenCount: number;
}

/**
 * An emoji sequence keeps its joiners and selectors; everything else without a visible form goes: tag characters, bidi
 * controls, zero-width signs, fillers, variation selectors (bytes can be smuggled in them), control characters.
 * `\p{Default_Ignorable_Code_Point}` names the whole kind, so that a sign that Unicode adds later is covered too.
 */
const emojiOrHidden =
  /(\p{Extended_Pictographic}[\uFE0E\uFE0F]?[\u{1F3FB}-\u{1F3FF}]?(?:\u200D\p{Extended_Pictographic}[\uFE0E\uFE0F]?[\u{1F3FB}-\u{1F3FF}]?)*|[0-9#*]\uFE0F?\u20E3)|[\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]|(?![\t\n])\p{Cc}/gu;

/**
 * Takes out what cannot be seen, replaces lone surrogates by U+FFFD, unifies line ends and composes (NFC).
 * Applying it twice changes nothing more. Linear time; no text throws.
 */
export function makeVisible(text: string): VisibleText {
  let hiddenCount = 0;
  const visible = text
    .replace(/^\uFEFF/, "")
    .replace(/\r\n?/g, "\n")
    .replace(/\p{Cs}/gu, "\uFFFD")
    .replace(emojiOrHidden, (_match, emoji: string | undefined) => {
      if (emoji !== undefined) return emoji;
      hiddenCount += 1;
      return "";
    });
  return { text: visible.normalize("NFC"), hiddenCount };
}

/** Letters that look like Latin ones, in two strings of equal length: each sign and what it passes for. */
const lookAlikes: readonly (readonly [signs: string, latin: string])[] = [
  ["АВСЕНІЈКМОРЅТХУҮԌԚԜЗЬҺӀ", "ABCEHIJKMOPSTXYYGQW3bhI"],
  ["аԁеһіјӏорԛѕсхуԝґгпитвкмнвьүѵѡƍ", "adehijlopqscxywrrnutBKMHBbyvwd"],
  ["ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ", "ABEZHIKMNOPTYXC"],
  ["αικνορτυχγηωϲϳεβ", "aiknoptuxynwcjeB"],
  ["ՕՍՏԼԱԻհոսօցքզյ", "OUSLUhhnuogfqj"],
  ["ᎪᏴᏟᎠᎬᏀᎻᏆᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ", "ABCDEGHIJKLMPRSTVWZ"],
  ["ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ", "ABCDEFGHIJKLMNOPRSTUVWXYZ"],
  ["ᴀʙᴄᴅᴇғɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢɑɡıℓ", "ABCDEFGHIJKLMNOPRSTUVWYZagil"],
];

const latinOf = new Map(
  lookAlikes.flatMap(([signs, latin]) => Array.from(signs, (sign, at) => [sign, latin[at] ?? sign] as const)),
);

/** A text with look-alike letters turned into the Latin ones, and where each sign of it began. */
export interface FoldedText {
  readonly text: string;
  /** For each UTF-16 unit of `text` and for its end: the index in the text that was folded. */
  readonly starts: Uint32Array;
}

/**
 * Folds compatibility forms (full-width, mathematical letters) and look-alikes of other scripts to plain letters. Case
 * stays. It mangles honest Cyrillic and Greek, so it serves comparison only and is never shown.
 */
export function foldLookAlikes(text: string): FoldedText {
  const parts: string[] = [];
  const starts: number[] = [];
  let at = 0;
  for (const sign of text) {
    const folded = sign < "\u0080" ? sign : foldSign(sign);
    parts.push(folded);
    for (let unit = 0; unit < folded.length; unit++) starts.push(at);
    at += sign.length;
  }
  starts.push(at);
  return { text: parts.join(""), starts: Uint32Array.from(starts) };
}

function foldSign(sign: string): string {
  const known = latinOf.get(sign);
  if (known !== undefined) return known;
  const compatible = sign.normalize("NFKC");
  return compatible === sign ? sign : Array.from(compatible, (each) => latinOf.get(each) ?? each).join("");
}

/**
 * Only the letters and digits of a text, folded and in lower case: what two texts share when one copies the other with
 * other spaces, marks, letter shapes or hidden signs.
 */
export function comparisonForm(text: string): string {
  return foldLookAlikes(makeVisible(text).text)
    .text.toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "");
}

/** True where a word mixes Latin with Cyrillic or Greek letters, or Cyrillic is used only where it passes for Latin. */
export function usesLookAlikes(text: string): boolean {
  const visible = makeVisible(text).text;
  if (
    /(?:\p{Script=Latin}[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Cherokee}\p{Script=Lisu}\p{Script=Armenian}]|[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Cherokee}\p{Script=Lisu}\p{Script=Armenian}]\p{Script=Latin})/u.test(
      visible,
    )
  ) {
    return true;
  }
  const words = visible.match(/\p{Script=Cyrillic}{2,}/gu) ?? [];
  return (
    words.length > 0 && words.every((word) => Array.from(word).every((sign) => /[A-Z]/i.test(latinOf.get(sign) ?? "")))
  );
}

/**
 * The form in which a quotation is looked up: visible, white space collapsed, typographic quotes made plain. Case, words
 * and marks stay.
 */
export function quotationForm(text: string): string {
  return makeVisible(text)
    .text.replace(/[“”„‟«»「」『』＂]/g, '"')
    .replace(/[‘’‚‛′＇`´]/g, "'")
    .replace(/\s+/g, " ")
    .trim();
}

/** The sentences and lines of a text, in order, without blank ones. Linear time. */
export function sentencesOf(text: string): readonly string[] {
  return text
    .split(/\n+|(?<=[.!?])\s+|(?<=[。！？])/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}
