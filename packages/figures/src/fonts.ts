import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

import { create, type Font } from "fontkit";

/** One file of a font: a family in one weight, for one part of Unicode. */
export interface FontFace {
  /** Unique, and safe as a name in SVG and PDF: `roboto-latin-400`. */
  readonly id: string;
  readonly family: string;
  readonly weight: 400 | 700;
  /** As CSS writes it. */
  readonly unicodeRange: string;
  /** The files' bytes; woff2 for browsers, woff for PDF. */
  readonly woff2: () => Buffer;
  readonly woff: () => Buffer;
}

/** A stretch of text that one face draws. */
export interface TextRun {
  readonly text: string;
  readonly face: FontFace;
}

/** The families in order of preference: the second has what the first lacks (Korean). Both are under the OFL 1.1. */
export const fontStack = "Roboto, Gowun Dodum, sans-serif";

const folders = findFolders();

function findFolders() {
  const require = createRequire(import.meta.url);
  return {
    roboto: path.dirname(require.resolve("@fontsource/roboto/package.json")),
    "gowun-dodum": path.dirname(require.resolve("@fontsource/gowun-dodum/package.json")),
  };
}

/** Latin first: parts of Unicode overlap, and fewer faces make smaller files. */
const robotoParts = [
  "latin",
  "latin-ext",
  "greek",
  "math",
  "symbols",
  "cyrillic",
  "vietnamese",
  "greek-ext",
  "cyrillic-ext",
];

let known: Readonly<Record<400 | 700, readonly FontFace[]>> | null = null;

function facesOf(weight: 400 | 700): readonly FontFace[] {
  known ??= { 400: listFaces(400), 700: listFaces(700) };
  return known[weight];
}

function listFaces(weight: 400 | 700): readonly FontFace[] {
  const roboto = rangesOf("roboto");
  const korean = rangesOf("gowun-dodum");
  return [
    ...robotoParts.map((part) => toFace("roboto", "Roboto", part, weight, roboto[part] ?? "")),
    // It has one weight.
    ...Object.entries(korean).map(([part, range]) =>
      toFace("gowun-dodum", "Gowun Dodum", part.replace(/^\[(\d+)\]$/, "$1"), 400, range),
    ),
  ];
}

function rangesOf(name: keyof typeof folders): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(path.join(folders[name], "unicode.json"), "utf8")) as Readonly<Record<string, string>>;
}

function toFace(
  name: keyof typeof folders,
  family: string,
  part: string,
  weight: 400 | 700,
  unicodeRange: string,
): FontFace {
  const read = (ending: string): Buffer =>
    readFileSync(path.join(folders[name], "files", `${name}-${part}-${weight}-normal.${ending}`));
  return {
    id: `${name}-${part}-${weight}`,
    family,
    weight,
    unicodeRange,
    woff2: () => read("woff2"),
    woff: () => read("woff"),
  };
}

/**
 * Cuts a text into stretches by the face that has their characters. What no face has stays with the Latin one, which
 * draws its empty box for it.
 */
export function textRuns(text: string, weight: 400 | 700): readonly TextRun[] {
  const faces = facesOf(weight);
  const [latin] = faces;
  if (latin === undefined) throw new RangeError("there is no font");
  const runs: { text: string; face: FontFace }[] = [];
  for (const character of text) {
    const face = faces.find((each) => hasCharacter(each, character.codePointAt(0) ?? 0)) ?? latin;
    const last = runs.at(-1);
    if (last !== undefined && last.face === face) last.text += character;
    else runs.push({ text: character, face });
  }
  return runs;
}

const widths = new Map<string, number>();
/** Widths that are remembered: a figure's labels are measured many times over while it is fitted. */
const widthsMax = 5000;

/** The width of a text at a size, in the unit of the size. */
export function textWidth(text: string, fontSize: number, weight: 400 | 700): number {
  const key = `${weight} ${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    width = textRuns(text, weight).reduce((sum, run) => {
      const font = openFont(run.face);
      return sum + font.layout(run.text).advanceWidth / font.unitsPerEm;
    }, 0);
    if (widths.size >= widthsMax) widths.clear();
    widths.set(key, width);
  }
  return width * fontSize;
}

const opened = new Map<string, Font>();

function openFont(face: FontFace): Font {
  let font = opened.get(face.id);
  if (font === undefined) {
    const made = create(face.woff());
    if (made.type !== "TTF" && made.type !== "WOFF") throw new RangeError(`${face.id} is a collection of fonts`);
    font = made;
    opened.set(face.id, font);
  }
  return font;
}

const spans = new Map<string, readonly (readonly [first: number, last: number])[]>();

function hasCharacter(face: FontFace, point: number): boolean {
  let ranges = spans.get(face.id);
  if (ranges === undefined) {
    ranges = face.unicodeRange.split(",").map((range) => {
      const [first = "", last = first] = range.trim().slice(2).split("-");
      return [Number.parseInt(first, 16), Number.parseInt(last, 16)] as const;
    });
    spans.set(face.id, ranges);
  }
  return ranges.some(([first, last]) => point >= first && point <= last) && openFont(face).hasGlyphForCodePoint(point);
}
