import he from "he";

import { latinDirection } from "./directions.ts";

/**
 * Normalises the structure of one raw line, never its words: entities, full-width forms, decomposed Hangul, odd spaces,
 * invisible characters, LaTeX, HTML tags, emphasis and quotes. Linear time: every quantifier is bounded or over one class.
 */
export function normaliseLine(raw: string): string {
  if (plain.test(raw)) return raw;
  let text = raw;
  if (text.includes("&")) text = decodeEntities(text);
  if (beyondAscii.test(text)) text = foldCharacters(text);
  if (text.includes("\\")) text = foldLatex(text);
  if (text.includes("<")) text = foldTags(text);
  return emphasised.test(text) ? foldEmphasis(text) : text;
}

/** Nothing to fold: the usual characters of a log. */
const plain = /^[A-Za-z0-9 ,.:;()[\]|%/+\-\uac00-\ud7a3→↓↑←—]*$/;
const beyondAscii = /[^\x20-\x7e\uac00-\ud7a3→↓↑←—…]/;
const emphasised = /[*`"$'_~“”„‟‘’‚‛「」『』«»﹁﹂]/;

const entities = /&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,24}\d{0,2});/gi;

function decodeEntities(text: string): string {
  const known = new Map<string, string>();
  const decode = (entity: string): string => {
    let decoded = known.get(entity);
    if (decoded === undefined) {
      decoded = he.decode(entity).replace(/[\n\r]/g, " ");
      if (known.size < 1000) known.set(entity, decoded);
    }
    return decoded;
  };
  // Twice, as some servers escape what is escaped already.
  return text.replace(entities, decode).replace(entities, decode);
}

/**
 * What is folded: odd spaces; forms that NFKC folds one to one, or composes, so that no text grows; zero-width and other
 * invisible characters, controls and skin tones; look-alikes of brackets, dashes, pipes, colons, stops and arrows.
 */
const foldable =
  /[\t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]|[\u1100-\u115e\u1161-\u11ff\ua960-\ua97c\ud7b0-\ud7fb\ufe30-\ufe6b\uff01-\uff9f\uffa1-\uffee\u{1d400}-\u{1d7ff}]+|[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Emoji_Modifier}]|[−‐‑‒【〖⟦〚】〗⟧〛〔❨❪⁽〕❩❫⁾〈⟨❮‹〉⟩❯›¦│┃∣❘‖∶꞉ː、。⟹⇾➝➞➙➛⭢⮕🡒🠖⇢⟾]/gu;

const lookalikes: readonly (readonly [string, string])[] = [
  ["-", "−‐‑‒"],
  ["[", "【〖⟦〚"],
  ["]", "】〗⟧〛"],
  ["(", "〔❨❪⁽"],
  [")", "〕❩❫⁾"],
  ["<", "〈⟨❮‹"],
  [">", "〉⟩❯›"],
  ["|", "¦│┃∣❘‖"],
  [":", "∶꞉ː"],
  [",", "、"],
  [".", "。"],
  ["⇒", "⟹⇾➝➞➙➛⭢⮕🡒🠖⇢⟾"],
  [" ", "\t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"],
];
const plainForms = new Map(lookalikes.flatMap(([plain, odd]) => Array.from(odd, (sign) => [sign, plain] as const)));

function foldCharacters(text: string): string {
  return text.replace(foldable, (run) => {
    const known = plainForms.get(run);
    if (known !== undefined) return known;
    const folded = compatible.test(run) ? run.normalize("NFKC") : "";
    // Full-width forms of a stop or a dash fold to look-alikes of their own.
    return plainForms.get(folded) ?? folded;
  });
}

const compatible = /^[\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb\ufe30-\ufe6b\uff01-\uffee\u{1d400}-\u{1d7ff}]/u;

const latexSymbols: Readonly<Record<string, string>> = {
  to: "→",
  rightarrow: "→",
  longrightarrow: "→",
  Rightarrow: "⇒",
  Longrightarrow: "⇒",
  implies: "⇒",
  mapsto: "↦",
  longmapsto: "↦",
  hookrightarrow: "→",
  rightharpoonup: "→",
  xrightarrow: "→",
  leadsto: "⇒",
  leftarrow: "←",
  longleftarrow: "←",
  gets: "←",
  uparrow: "↑",
  Uparrow: "↑",
  downarrow: "↓",
  Downarrow: "↓",
  ldots: "…",
  cdots: "…",
  dots: "…",
  dotsb: "…",
  mid: "|",
  vert: "|",
  times: "×",
  quad: " ",
  qquad: " ",
  left: "",
  right: "",
  langle: "<",
  rangle: ">",
  lbrace: "{",
  rbrace: "}",
  lbrack: "[",
  rbrack: "]",
  text: "",
  textbf: "",
  textit: "",
  texttt: "",
  textrm: "",
  mathrm: "",
  mathbf: "",
  mathtt: "",
  mathsf: "",
  mathit: "",
  operatorname: "",
  boxed: "",
  displaystyle: "",
};

function foldLatex(text: string): string {
  return text
    .replace(/\\(?:text(?:bf|it|tt|rm)?|math(?:rm|bf|tt|sf|it)|operatorname|boxed)\{([^{}]{0,400})\}/g, "$1")
    .replace(/\\([A-Za-z]{1,24})/g, (whole, name: string) => {
      const symbol = Object.hasOwn(latexSymbols, name) ? latexSymbols[name] : undefined;
      return symbol ?? whole.slice(1);
    })
    .replace(/\\[,;:! ]/g, " ")
    .replace(/\\/g, "");
}

const tags = /<\/?([A-Za-z][A-Za-z0-9_-]{0,30})(?:\s[^<>]{0,200})?\/?>|<\|[^|<>]{0,60}\|>|<!--|-->(?=\s*$)/g;

function foldTags(text: string): string {
  return text.replace(tags, (whole, name: string | undefined) => {
    if (name === undefined) return "";
    const lower = name.toLowerCase();
    if (/^final[_-]?path$/.test(lower)) return whole.startsWith("</") ? "" : "FINAL_PATH: ";
    if (/^<step\s{0,2}\d/i.test(whole)) return whole;
    if (lower === "td" || lower === "th") return whole.startsWith("</") ? "|" : "";
    // A direction or a cell in angle brackets is content; so is a one-letter placeholder.
    if (latinDirection(lower) !== null || /^r\d{1,9}c\d/.test(lower)) return whole;
    return lower.length === 1 && !"biuaqps".includes(lower) ? whole : "";
  });
}

function foldEmphasis(text: string): string {
  // A bullet keeps its sign: it is structure. So does a dagger's lone asterisk between spaces.
  const indent = /^[ >]*[*+] /.exec(text)?.[0].length ?? 0;
  return (
    text.slice(0, indent) +
    text
      .slice(indent)
      .replace(/[*`"$“”„‟‘’‚‛「」『』«»﹁﹂]|~~|(?<![A-Za-z])'|'(?![A-Za-z])/g, "")
      .replace(/(?<![A-Za-z0-9_])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![A-Za-z0-9_])/g, "")
  );
}
