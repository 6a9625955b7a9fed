export { FigureError } from "./errors.ts";
export { seriesColors, seriesDashes, seriesShapes } from "./palette.ts";
export { type Figure, type FigureOptions, renderFigure } from "./render-figure.ts";
export { renderWide } from "./render-wide.ts";
export type { ChartSpec } from "./second-channel.ts";
export { columnWidthsMm, type FigureColumns } from "./theme.ts";
