/** What the judge's copy and the checks see of a text once nothing invisible is left in it. */
export interface VisibleText {
  readonly text: string;
  /** Length (UTF-16) of what has no visible form and was taken out; a byte order mark at the start is not counted. */
  readonly hiddenCount: number;
}

/**
 * An emoji sequence keeps its joiners and selectors; everything else without a visible form goes: tag characters, bidi
 * controls, zero-width signs, fillers, variation selectors (bytes can be smuggled in them), control characters.
 * `\p{Default_Ignorable_Code_Point}` names the whole kind, so that a sign that Unicode adds later is covered too.
 */
const emojiOrHidden =
  /(\p{Extended_Pictographic}[\uFE0E\uFE0F]?[\u{1F3FB}-\u{1F3FF}]?(?:\u200D\p{Extended_Pictographic}[\uFE0E\uFE0F]?[\u{1F3FB}-\u{1F3FF}]?)*|[0-9#*]\uFE0F?\u20E3)|(?:[\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]|(?![\t\n])\p{Cc})+/gu;

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
    .replace(emojiOrHidden, (run: string, emoji: string | undefined) => {
      if (emoji !== undefined) return emoji;
      hiddenCount += run.length;
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

/** A text with look-alike letters turned into the Latin ones. */
export interface FoldedText {
  readonly text: string;
  /** The index in the text that was folded, of an index (UTF-16) in `text`. */
  readonly startOf: (index: number) => number;
}

/** What can be folded at all; the large scripts that hold no look-alike are passed over for speed. */
const foldable = /[^\u0000-\u007F\u3040-\u9FFF\uAC00-\uD7AF]/gu;

/**
 * Folds compatibility forms (full-width, mathematical letters) and look-alikes of other scripts to plain letters. Case
 * stays. It mangles honest Cyrillic and Greek, so it serves comparison only and is never shown.
 */
export function foldLookAlikes(text: string): FoldedText {
  // Where a folded sign is longer or shorter than what it stands for, and how far the two texts are apart behind it.
  const shifts: { readonly from: number; readonly by: number }[] = [];
  let by = 0;
  const known = new Map<string, string>();
  const folded = text.replace(foldable, (sign, at: number) => {
    const plain = known.get(sign) ?? foldSign(sign);
    known.set(sign, plain);
    if (plain.length !== sign.length) {
      by += sign.length - plain.length;
      shifts.push({ from: at + sign.length - by, by });
    }
    return plain;
  });
  return { text: folded, startOf: (index) => index + shiftAt(shifts, index) };
}

function shiftAt(shifts: readonly { readonly from: number; readonly by: number }[], index: number): number {
  let [low, high] = [0, shifts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((shifts[middle]?.from ?? 0) <= index) low = middle + 1;
    else high = middle;
  }
  return shifts[low - 1]?.by ?? 0;
}

function foldSign(sign: string): string {
  let folded = latinOf.get(sign);
  if (folded === undefined) {
    const compatible = sign.normalize("NFKC");
    folded = compatible === sign ? sign : Array.from(compatible, (each) => latinOf.get(each) ?? each).join("");
  }
  return folded;
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
