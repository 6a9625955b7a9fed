import type { FigureData } from "@hallumaze/experiments";

/** A vega-lite specification: plain JSON that holds its data, without a width and without a look. */
export type ResultChart = Readonly<Record<string, unknown>>;

/**
 * What a figure shows, as a vega-lite specification: the same one for paper and page. Width, fonts and colours are the
 * drawer's. Values that are not known are left out, an interval that is not known has no line.
 */
export function resultChart(figure: FigureData): ResultChart {
  const head = {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    description: figure.title,
    data: { values: figure.points },
  };
  switch (figure.kind) {
    case "intervals":
      return { ...head, ...intervals(figure) };
    case "lines":
      return { ...head, ...lines(figure) };
    case "reliability":
      return { ...head, ...reliability() };
    case "stacked":
      return { ...head, ...stacked(figure) };
  }
}

/** Whether nothing of a figure is known, so that there is nothing to draw: of an empty picture no axis could be made. */
export function showsNothing(figure: FigureData): boolean {
  switch (figure.kind) {
    case "intervals":
    case "lines":
      return figure.points.every(({ value }) => value === null);
    case "reliability":
      return figure.points.length === 0;
    case "stacked":
      return figure.points.every(({ count }) => count === 0);
  }
}

type Kind<Name extends FigureData["kind"]> = Extract<FigureData, { readonly kind: Name }>;

const isKnown = { filter: "isValid(datum.value)" };
const hasInterval = { filter: "isValid(datum.lo) && isValid(datum.hi)" };
const quiet = "#666666";
const seriesLegend = { field: "series", type: "nominal", title: null, sort: null };

/** Points with intervals, one line a category: the values lie on the x axis, so that names stay level. */
function intervals(figure: Kind<"intervals">) {
  const series = new Set(figure.points.map((point) => point.series));
  const several = series.size > 1;
  const y = { field: "category", type: "nominal", title: null, sort: null };
  const offset = several ? { yOffset: { field: "series", sort: null } } : {};
  const color = several ? { color: seriesLegend } : {};
  const value = { field: "value", type: "quantitative", title: valueTitle(figure), scale: { zero: false, nice: true } };
  const view = {
    height: { step: several ? 6 : 10 },
    transform: [isKnown],
    layer: [
      ...figure.references.map(({ at }) => referenceLine(at)),
      {
        transform: [hasInterval],
        mark: "rule",
        encoding: { y, ...offset, ...color, x: { ...value, field: "lo" }, x2: { field: "hi" } },
      },
      { mark: "point", encoding: { y, ...offset, ...color, x: value } },
    ],
  };
  return inPanels(view, figure.points, "row");
}

function referenceLine(at: number) {
  return {
    data: { values: [{ at }] },
    mark: { type: "rule", color: quiet, strokeDash: [2, 2], strokeWidth: 0.6 },
    encoding: { x: { field: "at", type: "quantitative" } },
  };
}

/** Dashed lines are explained below the axis: beside them their words would meet values or the legend. */
function valueTitle({ valueLabel, references }: Kind<"intervals">): string | readonly string[] {
  if (references.length === 0) return valueLabel;
  return [valueLabel, `dashed: ${references.map(({ at, label }) => `${label} (${at})`).join(", ")}`];
}

/** Lines over numbers, with each point's interval. */
function lines(figure: Kind<"lines">) {
  const x = {
    field: "x",
    type: "quantitative",
    title: figure.xLabel,
    scale: { zero: false, padding: 8 },
    axis: { values: [...new Set(figure.points.map((point) => point.x))].toSorted((a, b) => a - b), format: "~g" },
  };
  const y = { field: "value", type: "quantitative", title: figure.yLabel };
  const color = { color: seriesLegend };
  const view = {
    height: 120,
    transform: [isKnown],
    layer: [
      {
        transform: [hasInterval],
        mark: "rule",
        encoding: { x, y: { ...y, field: "lo" }, y2: { field: "hi" }, ...color },
      },
      { mark: "line", encoding: { x, y, ...color } },
      { mark: "point", encoding: { x, y, ...color } },
    ],
  };
  return inPanels(view, figure.points, "column");
}

/** Accuracy against confidence, with the diagonal of a perfect judge. */
function reliability() {
  const axis = (field: string, title: string) => ({
    field,
    type: "quantitative",
    title,
    scale: { domain: [0, 1] },
    axis: { values: [0, 0.2, 0.4, 0.6, 0.8, 1], format: ".1f" },
  });
  const encoding = { x: axis("confidence", "stated confidence"), y: axis("accuracy", "accuracy"), color: seriesLegend };
  return {
    height: 150,
    layer: [
      {
        data: { values: [0, 1].map((at) => ({ confidence: at, accuracy: at })) },
        mark: { type: "line", color: quiet, strokeDash: [2, 2], strokeWidth: 0.6 },
        encoding: { x: encoding.x, y: encoding.y },
      },
      { mark: "line", encoding },
      { mark: "point", encoding },
    ],
  };
}

/** Shares of a whole; a white line parts neighbours whose greys are alike. */
function stacked(figure: Kind<"stacked">) {
  const parts = [...new Set(figure.points.map(({ part }) => part))];
  return {
    data: { values: figure.points.map((point) => ({ ...point, place: parts.indexOf(point.part) })) },
    height: { step: 13 },
    mark: { type: "bar", stroke: "#ffffff", strokeWidth: 0.7 },
    encoding: {
      y: { field: "category", type: "nominal", title: null, sort: null },
      x: {
        field: "count",
        type: "quantitative",
        aggregate: "sum",
        stack: "normalize",
        title: figure.valueLabel,
        axis: { format: "%" },
      },
      color: { field: "part", type: "nominal", title: null, sort: null },
      order: { field: "place", type: "quantitative" },
    },
  };
}

function inPanels(view: object, points: readonly { readonly panel?: string }[], along: "row" | "column") {
  const panels = [...new Set(points.flatMap(({ panel }) => (panel === undefined ? [] : [panel])))];
  if (panels.length < 2) return view;
  const facet = { field: "panel", type: "nominal", title: null, sort: panels, header: { labelOrient: "top" } };
  if (along === "row") return { facet: { row: facet }, spec: view };
  return { facet, columns: 2, spec: view };
}
