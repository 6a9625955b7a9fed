import he from "he";

import type { Scene } from "./draw-scene.ts";
import { type FontFace, textRuns } from "./fonts.ts";

/** The page that a figure is alone on. */
export interface FigurePage {
  readonly title: string;
  readonly widthMm: number;
  readonly heightMm: number;
}

/**
 * Makes vega's SVG a file of its own: its size in millimetres, a title, numbered ids, and the faces that its text needs
 * as data. Text stays text.
 */
export function finishSvg(scene: Scene, page: FigurePage): string {
  const { widthMm, heightMm, title } = page;
  const opening = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" version="1.1" role="img" width="${rounded(widthMm)}mm" height="${rounded(heightMm)}mm" viewBox="0 0 ${scene.width} ${scene.height}">`;
  const body = tidyMarkup(scene.svg)
    .replace(/^<svg[^>]*>/, "")
    .trimEnd();
  return `${opening}<title>${he.escape(title)}</title><style>${fontRules(scene.svg)}</style>${body}\n`;
}

/**
 * vega counts clip paths and gradients over the life of the process; here they count from 0. A dash without gaps, vega's
 * word for a solid line, is none: PDF knows no dash of length 0.
 */
export function tidyMarkup(svg: string): string {
  const names = new Map<string, string>();
  return svg
    .replaceAll(/ stroke-dasharray="[\d.]+,0"/g, "")
    .replace(/\b(clip|gradient_)(\d+)\b/g, (id, kind: string) => {
      const name = names.get(id) ?? `${kind}${names.size}`;
      names.set(id, name);
      return name;
    });
}

function fontRules(svg: string): string {
  const faces = new Map<string, FontFace>();
  eachText(svg, (text, weight) => {
    for (const { face } of textRuns(text, weight)) faces.set(face.id, face);
    return "";
  });
  const sorted = [...faces.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return sorted
    .map(
      ({ family, weight, unicodeRange, woff2 }) =>
        `@font-face{font-family:"${family}";font-weight:${weight};src:url(data:font/woff2;base64,${woff2().toString("base64")}) format("woff2");unicode-range:${unicodeRange}}`,
    )
    .join("");
}

/** Calls `replace` for every piece of text of an SVG, with the weight that it is drawn in; gives the SVG with its answers. */
export function eachText(svg: string, replace: (text: string, weight: 400 | 700) => string): string {
  return svg.replace(/<text\b([^>]*)>([\s\S]*?)<\/text>/g, (_, attributes: string, content: string) => {
    const weight = /font-weight="(?:bold|[6-9]00)"/.test(attributes) ? 700 : 400;
    const pieces = content.split(/(<[^>]*>)/);
    const filled = pieces.map((piece) => {
      return piece === "" || piece.startsWith("<") ? piece : replace(he.decode(piece), weight);
    });
    return `<text${attributes}>${filled.join("")}</text>`;
  });
}

function rounded(value: number): number {
  return Number(value.toFixed(3));
}
