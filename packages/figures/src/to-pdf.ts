import he from "he";
import Document from "pdfkit";
import drawSvg from "svg-to-pdfkit";

import type { Scene } from "./draw-scene.ts";
import { eachText, type FigurePage, tidyMarkup } from "./finish-svg.ts";
import { type FontFace, textRuns } from "./fonts.ts";
import { pointsPerMm } from "./theme.ts";

/** Every figure is of this time: a date of its own would make two equal figures differ. */
const noTime = new Date(0);

/** Draws vega's SVG as a PDF of one page of its size: vectors, and text in embedded fonts. The same bytes each time. */
export async function toPdf(scene: Scene, page: FigurePage): Promise<Uint8Array> {
  const [width, height] = [page.widthMm * pointsPerMm, page.heightMm * pointsPerMm];
  const faces = new Map<string, FontFace>();
  // The drawing library takes one font a piece of text, so a text of several scripts is cut by their fonts.
  const svg = eachText(tidyMarkup(scene.svg), (text, weight) =>
    textRuns(text, weight)
      .map((run) => {
        faces.set(run.face.id, run.face);
        return `<tspan font-family="${run.face.id}" font-weight="normal">${he.escape(run.text)}</tspan>`;
      })
      .join(""),
  );
  const document = new Document({
    size: [width, height],
    margin: 0,
    pdfVersion: "1.7",
    displayTitle: true,
    info: { Title: page.title, Producer: "HalluMaze", Creator: "HalluMaze", CreationDate: noTime, ModDate: noTime },
  });
  const chunks: Buffer[] = [];
  const written = new Promise<Buffer>((resolve, reject) => {
    document.on("data", (chunk: Buffer) => chunks.push(chunk));
    document.on("end", () => resolve(Buffer.concat(chunks)));
    document.on("error", reject);
  });
  for (const face of faces.values()) document.registerFont(face.id, face.woff());
  drawSvg(document, svg, 0, 0, {
    width,
    height,
    assumePt: true,
    fontCallback: (family: string) => (faces.has(family) ? family : "Helvetica"),
  });
  document.end();
  return new Uint8Array(await written);
}
