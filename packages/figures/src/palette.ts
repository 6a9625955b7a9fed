/**
 * Colours of series, in order: those of Okabe and Ito but yellow, which white paper swallows. The first four also stand
 * apart as greys; a series is never told by its colour alone (see `seriesShapes`, `seriesDashes`).
 *
 * SOURCE: Okabe & Ito, Color Universal Design (2008).
 */
export const seriesColors = ["#0072B2", "#E69F00", "#009E73", "#000000", "#56B4E9", "#D55E00", "#CC79A7"] as const;

/** Shapes of points, in the order of the colours. There is one more, so that 56 pairs of shape and colour differ. */
export const seriesShapes = [
  "circle",
  "square",
  "triangle-up",
  "diamond",
  "cross",
  "triangle-down",
  "triangle-right",
  "triangle-left",
] as const;

/** Dashes of lines, in points, in the order of the colours. */
export const seriesDashes: readonly (readonly number[])[] = [
  [1, 0],
  [4, 1.5],
  [1, 1.5],
  [6, 1.5, 1, 1.5],
  [2.5, 1],
  [8, 2],
  [6, 1.5, 1, 1.5, 1, 1.5],
  [3, 3],
];

/** From light to dark, even in greyscale: for heat maps. The darkest still carries dark letters. */
export const sequentialColors = ["#f7fbff", "#d3e5f4", "#a6cde5", "#72b2d8", "#4497c9"] as const;

/** Letters and axes. */
export const ink = "#222222";
