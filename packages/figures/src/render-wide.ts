import { FigureError } from "./errors.ts";
import { type Figure, renderFigure } from "./render-figure.ts";
import type { ChartSpec } from "./second-channel.ts";

/**
 * Draws a specification over two columns: panels that stand below each other stand side by side where they fit, so that a
 * page is not so high. Throws as `renderFigure` does.
 */
export async function renderWide(spec: ChartSpec, title: string): Promise<Figure> {
  const { facet } = spec;
  const options = { columns: 2, title } as const;
  if (!isRowFacet(facet)) return renderFigure(spec, options);
  const { row, ...rest } = facet;
  try {
    return await renderFigure({ ...spec, facet: { ...rest, column: row } }, options);
  } catch (error) {
    if (error instanceof FigureError && error.code === "figure-too-wide") return renderFigure(spec, options);
    throw error;
  }
}

function isRowFacet(facet: unknown): facet is { readonly row: unknown } {
  return typeof facet === "object" && facet !== null && "row" in facet && !("column" in facet);
}
