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
  if (odd.test(text)) text = foldCharacters(text);
  if (text.includes("\\")) text = foldLatex(text);
  if (text.includes("<")) text = foldTags(text);
  return emphasised.test(text) ? foldEmphasis(text) : text;
}

/** Nothing to fold: the usual characters of a log. */
const plain = /^[A-Za-z0-9 ,.:;()[\]|%/+\-\uac00-\ud7a3→↓↑←—]*$/;
const odd = /[^\x20-\x7e\uac00-\ud7a3→↓↑←—]/;
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

/** Zero-width characters, joiners, direction marks, variation selectors, soft hyphens, controls, skin tones. */
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Emoji_Modifier}]/gu;
const spaces = /[\t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g;
/** Forms that NFKC folds one to one, or composes: no character of these ranges grows. */
const compatible =
  /[\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\ud7b0-\ud7fb\ufe30-\ufe6b\uff01-\uffee\u{1d400}-\u{1d7ff}]+/gu;

function foldCharacters(text: string): string {
  return text
    .replace(spaces, " ")
    .replace(invisible, "")
    .replace(compatible, (run) => (/^[\u3131-\u318e]+$/.test(run) ? run : run.normalize("NFKC")))
    .replace(/[−‐‑‒﹣]/g, "-")
    .replace(/[【〖⟦〚]/g, "[")
    .replace(/[】〗⟧〛]/g, "]")
    .replace(/[〔❨❪⁽]/g, "(")
    .replace(/[〕❩❫⁾]/g, ")")
    .replace(/[〈⟨❮‹]/g, "<")
    .replace(/[〉⟩❯›]/g, ">")
    .replace(/[¦│┃∣❘‖]/g, "|")
    .replace(/[∶꞉ː]/g, ":")
    .replace(/、/g, ",")
    .replace(/。/g, ".")
    .replace(/[⟹⇾➝➞➙➛➤⭢⮕🡒🠖⇢⟾]/gu, "⇒");
}

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
