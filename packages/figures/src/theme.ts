import { fontStack } from "./fonts.ts";
import { ink, sequentialColors, seriesColors, seriesShapes } from "./palette.ts";

/** Widths of a figure in a paper, in millimetres: one column, or the whole width of two. */
export const columnWidthsMm = { 1: 85, 2: 174 } as const;

/** How many columns a figure spans. */
export type FigureColumns = keyof typeof columnWidthsMm;

/** Points of a millimetre: one unit of a specification is one point on paper. */
export const pointsPerMm = 72 / 25.4;

const faint = "#dddddd";

/** The look of every figure, as a vega-lite `config`: a light ground, sizes in points, told apart without colour. */
export const paperTheme = {
  background: "#ffffff",
  font: fontStack,
  padding: 2,
  view: { stroke: null, continuousHeight: 140 },
  title: {
    fontSize: 8,
    fontWeight: "bold",
    color: ink,
    anchor: "start",
    offset: 6,
    subtitleFontSize: 7,
    subtitleColor: ink,
  },
  axis: {
    labelFontSize: 7,
    titleFontSize: 7.5,
    titleFontWeight: "normal",
    labelColor: ink,
    titleColor: ink,
    domainColor: ink,
    domainWidth: 0.5,
    tickColor: ink,
    tickWidth: 0.5,
    tickSize: 3,
    gridColor: faint,
    gridWidth: 0.4,
    labelPadding: 2,
    titlePadding: 4,
    labelLimit: 120,
  },
  axisX: { grid: false },
  // Upright: long names belong on the other axis.
  axisXDiscrete: { labelAngle: 0 },
  mark: { color: seriesColors[0] },
  facet: { spacing: 10 },
  header: {
    labelFontSize: 7.5,
    titleFontSize: 7.5,
    labelColor: ink,
    titleColor: ink,
    titleFontWeight: "normal",
    labelPadding: 3,
    titlePadding: 2,
  },
  legend: {
    orient: "top",
    direction: "horizontal",
    labelFontSize: 7,
    titleFontSize: 7.5,
    titleFontWeight: "normal",
    labelColor: ink,
    titleColor: ink,
    symbolSize: 40,
    symbolStrokeWidth: 1.2,
    symbolFillColor: null,
    rowPadding: 2,
    columnPadding: 8,
    padding: 0,
    offset: 4,
    labelLimit: 150,
    gradientLength: 100,
    gradientThickness: 6,
  },
  range: {
    category: [...seriesColors],
    symbol: [...seriesShapes],
    heatmap: [...sequentialColors],
    ramp: [...sequentialColors],
    ordinal: [...sequentialColors],
  },
  line: { strokeWidth: 1.2 },
  point: { size: 28, filled: true, opacity: 1 },
  circle: { size: 28, opacity: 1 },
  square: { size: 28, opacity: 1 },
  rule: { strokeWidth: 0.8, color: ink },
  tick: { thickness: 1 },
  errorbar: { ticks: true, thickness: 0.8 },
  bar: { continuousBandSize: 8 },
  text: { fontSize: 7, color: ink },
} as const;
