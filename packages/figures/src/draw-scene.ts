import * as vega from "vega";
import { compile, type TopLevelSpec } from "vega-lite";

import { FigureError } from "./errors.ts";
import { textWidth } from "./fonts.ts";
import { type ChartSpec, isSpec } from "./second-channel.ts";

/** A drawn figure: vega's SVG, and its size in points. */
export interface Scene {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

/** The part of a text mark that decides its width. */
interface TextItem {
  readonly fontSize?: number | null;
  readonly fontWeight?: string | number | null;
  /** Most width; 0 for any. */
  readonly limit?: number | null;
}

interface TextMetrics {
  width: (item: TextItem, text: string | number | boolean | null | undefined) => number;
}

// Without a canvas vega guesses widths from the number of letters. Its own way out, which its types do not show: a
// function that measures with the font that will be drawn.
const { textMetrics } = vega as unknown as { readonly textMetrics: TextMetrics };
textMetrics.width = (item, text) => {
  const said = text === null || text === undefined ? "" : text.toString().trim();
  const width = textWidth(said, item.fontSize ?? 11, weightOf(item));
  // A text beyond its limit is cut when it is drawn.
  return item.limit === undefined || item.limit === null || item.limit <= 0 ? width : Math.min(width, item.limit);
};

/** The weight that a mark's text is drawn in: 400 or 700. */
export function weightOf({ fontWeight }: TextItem): 400 | 700 {
  return fontWeight === "bold" || Number(fontWeight) >= 600 ? 700 : 400;
}

/** Draws a specification as it stands. Loads nothing: neither files nor the network. */
export async function drawScene(spec: ChartSpec): Promise<Scene> {
  const view = new vega.View(parsed(spec), { renderer: "none", loader: closedLoader, logLevel: vega.Error });
  try {
    await view.runAsync();
    const svg = await view.toSVG();
    const size = /<svg[^>]* width="([\d.]+)" height="([\d.]+)"/.exec(svg);
    if (size === null) throw new FigureError("figure-invalid", "The figure has no size.");
    return { svg, width: Number(size[1]), height: Number(size[2]) };
  } finally {
    view.finalize();
  }
}

function parsed(spec: ChartSpec): vega.Runtime {
  refuseExternal(spec);
  try {
    return vega.parse(compile(spec as unknown as TopLevelSpec, { logger: silent }).spec);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new FigureError("figure-invalid", `This is no chart that vega-lite can draw: ${reason}`, cause);
  }
}

/** A figure is made from what is in its specification: the same everywhere, and nothing is told to anybody. */
function refuseExternal(value: unknown): void {
  if (Array.isArray(value)) return value.forEach(refuseExternal);
  if (!isSpec(value)) return;
  const key = ["url", "href"].find((name) => value[name] !== undefined);
  if (key !== undefined && !("values" in value)) {
    throw new FigureError(
      "figure-external",
      `The figure refers to something outside itself (${key}): put the data in.`,
    );
  }
  for (const [name, inner] of Object.entries(value)) if (name !== "values") refuseExternal(inner);
}

const refuse = (): never => {
  throw new FigureError("figure-external", "The figure loads something from outside itself: put the data in.");
};
const closedLoader = { load: refuse, sanitize: refuse, http: refuse, file: refuse } as unknown as vega.Loader;

/** Warnings of the library are for whoever writes a specification; they are seen in its tests. */
const silent = {
  level: () => silent,
  error: () => silent,
  warn: () => silent,
  info: () => silent,
  debug: () => silent,
} as unknown as NonNullable<NonNullable<Parameters<typeof compile>[1]>["logger"]>;
