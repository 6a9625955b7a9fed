import { drawScene, type Scene } from "./draw-scene.ts";
import { FigureError } from "./errors.ts";
import { type ChartSpec, isSpec, withSecondChannel } from "./second-channel.ts";
import { finishSvg } from "./finish-svg.ts";
import { toPdf } from "./to-pdf.ts";
import { columnWidthsMm, type FigureColumns, paperTheme, pointsPerMm } from "./theme.ts";

/** How a figure is made. */
export interface FigureOptions {
  /** 1: 85 mm wide; 2: 174 mm. */
  readonly columns: FigureColumns;
  /** Stands in the PDF's properties and as the SVG's title, for readers that cannot see it. */
  readonly title: string;
}

/** A figure for paper. The same specification and options give the same bytes. */
export interface Figure {
  /** Vector, with its text as text and the letters' font inside. */
  readonly svg: string;
  /** The same picture as a page of its size, the font embedded. */
  readonly pdf: Uint8Array;
  readonly widthMm: number;
  readonly heightMm: number;
}

/**
 * Draws a vega-lite specification for a paper: exactly as wide as its columns, in the theme of this package (what the
 * specification's own `config` says stands), series told apart without colour as well.
 *
 * Throws a FigureError where it loads anything, cannot be drawn, or is too wide for its columns.
 */
export async function renderFigure(spec: ChartSpec, options: FigureOptions): Promise<Figure> {
  const { columns, title } = options;
  const widthMm = columnWidthsMm[columns];
  const scene = await fitted(themed(spec), widthMm * pointsPerMm);
  const heightMm = (scene.height * widthMm) / scene.width;
  const page = { title, widthMm, heightMm };
  return { svg: finishSvg(scene, page), pdf: await toPdf(scene, page), widthMm, heightMm };
}

function themed(spec: ChartSpec): ChartSpec {
  const own = isSpec(spec["config"]) ? spec["config"] : {};
  return { ...withSecondChannel(spec), config: merged(paperTheme, own) };
}

function merged(base: ChartSpec, over: ChartSpec): ChartSpec {
  const inner = Object.entries(over).map(([key, value]) => {
    const below = base[key];
    return [key, isSpec(value) && isSpec(below) ? merged(below, value) : value] as const;
  });
  return { ...base, ...Object.fromEntries(inner) };
}

/** Narrowest drawing area of a view that is still one, in points. */
const narrowest = 24;
/** What the last step may miss, in points, and what is still taken: the scale of the page takes it up. */
const slack = 0.5;
const tolerance = 0.015;
/** How a legend gives way, step by step: all entries in one row, fewer in a row, then shorter words. */
const legendSteps: readonly ChartSpec[] = [
  {},
  ...[4, 3, 2, 1].map((columns) => ({ columns })),
  ...[100, 60].map((labelLimit) => ({ columns: 1, labelLimit })),
];

/**
 * Draws it as wide as wanted. Where the legend, not the chart, makes the width, the legend gets more rows: the chart is
 * what is to be seen.
 */
async function fitted(spec: ChartSpec, target: number): Promise<Scene> {
  let best: Scene | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const legend of legendSteps) {
    const trial = { ...spec, config: merged(spec["config"] as ChartSpec, { legend }) };
    const { scene, inner } = await fitWidth(trial, target);
    least = Math.min(least, scene.width);
    const fits = Math.abs(scene.width - target) <= tolerance * target;
    const hasLegend = scene.svg.includes("role-legend");
    if (fits && !hasLegend) return scene;
    if (!hasLegend) break;
    if (!fits) continue;
    best = scene;
    const wider = await drawScene(withWidth(trial, inner + 10));
    if (wider.width - scene.width > 5) return scene;
  }
  if (best !== null) return best;
  const [got, most] = [least, target].map((width) => (width / pointsPerMm).toFixed(0));
  throw new FigureError(
    "figure-too-wide",
    `The figure is ${got} mm wide at least, its columns ${most} mm: give it two columns, shorter labels or fewer facets.`,
  );
}

/**
 * Seeks the inner width that makes the whole as wide as wanted. Axes, legends and facets take their share in ways that
 * only drawing tells; the whole grows in a straight line with the inner width but where labels turn, so a few steps of
 * the secant suffice.
 */
async function fitWidth(spec: ChartSpec, target: number): Promise<{ readonly scene: Scene; readonly inner: number }> {
  let inner = target * 0.75;
  let scene = await drawScene(withWidth(spec, inner));
  let slope = 1;
  for (let step = 0; step < 6 && Math.abs(scene.width - target) > slack; step++) {
    const next = Math.max(narrowest, inner + (target - scene.width) / slope);
    if (next === inner) break;
    const drawn = await drawScene(withWidth(spec, next));
    const grown = (drawn.width - scene.width) / (next - inner);
    slope = grown > 0.25 ? grown : slope;
    [inner, scene] = [next, drawn];
  }
  return { scene, inner };
}

/** The specification with every view's inner width set; views side by side share it. */
function withWidth(spec: ChartSpec, width: number): ChartSpec {
  if (isSpec(spec["spec"])) return { ...spec, spec: withWidth(spec["spec"], width) };
  const beside = spec["hconcat"];
  if (Array.isArray(beside)) {
    const parts = beside.filter(isSpec);
    const shares = parts.map((part) => (typeof part["width"] === "number" ? part["width"] : 100));
    const sum = shares.reduce((total, share) => total + share, 0);
    return { ...spec, hconcat: parts.map((part, at) => withWidth(part, (width * (shares[at] ?? 0)) / sum)) };
  }
  for (const key of ["vconcat", "concat"]) {
    const parts = spec[key];
    if (Array.isArray(parts)) return { ...spec, [key]: parts.filter(isSpec).map((part) => withWidth(part, width)) };
  }
  return { ...spec, width };
}
