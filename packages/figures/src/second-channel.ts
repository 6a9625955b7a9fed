import { seriesDashes, seriesShapes } from "./palette.ts";

/** A vega-lite specification, or a part of one: plain JSON. */
export type ChartSpec = Readonly<Record<string, unknown>>;

/**
 * Gives every mark that tells series by colour a second sign of the same field: lines a dash, points a shape. What the
 * specification says itself stands. Bars and areas are left alone: their order and labels tell them.
 */
export function withSecondChannel(spec: ChartSpec): ChartSpec {
  return signed(spec, {}, false);
}

function signed(spec: ChartSpec, inherited: ChartSpec, inLayer: boolean): ChartSpec {
  const own = isSpec(spec["encoding"]) ? spec["encoding"] : {};
  const encoding = { ...inherited, ...own };
  const parts = Object.fromEntries(
    Object.entries(spec).map(([key, value]) => {
      if (partLists.has(key) && Array.isArray(value)) {
        const layered = inLayer || key === "layer";
        return [key, value.map((part: unknown) => (isSpec(part) ? signed(part, encoding, layered) : part))];
      }
      return key === "spec" && isSpec(value) ? [key, signed(value, encoding, inLayer)] : [key, value];
    }),
  );
  const sign = signOf(spec["mark"]);
  const color = encoding["color"] ?? encoding["stroke"] ?? encoding["fill"];
  if (sign === null || encoding[sign.channel] !== undefined || !isSeries(color)) return parts;
  const { scale, condition: _, value: __, ...field } = color;
  const domain = isSpec(scale) && scale["domain"] !== undefined ? { domain: scale["domain"] } : {};
  const added = { ...field, scale: { ...domain, range: sign.range } };
  // In a layer the legend also shows the points of other marks, which would grow with it.
  const longer = sign.channel === "strokeDash" && !inLayer && own["color"] === color && field["legend"] === undefined;
  return {
    ...parts,
    encoding: longer
      ? { ...own, color: { ...color, legend: dashLegend }, strokeDash: { ...added, legend: dashLegend } }
      : { ...own, [sign.channel]: added },
  };
}

/** Long enough to show a dash. */
const dashLegend = { symbolSize: 400 };

const partLists = new Set(["layer", "hconcat", "vconcat", "concat"]);

function signOf(mark: unknown): { readonly channel: string; readonly range: readonly unknown[] } | null {
  const type = isSpec(mark) ? mark["type"] : mark;
  // A line that also draws its points tells them by their dash's colour; the dash is enough.
  if (type === "line" || type === "trail") return { channel: "strokeDash", range: seriesDashes };
  return type === "point" ? { channel: "shape", range: seriesShapes } : null;
}

/** A colour by a category; one by a number is a scale, not a series. */
function isSeries(color: unknown): color is ChartSpec {
  if (!isSpec(color) || typeof color["field"] !== "string" || "aggregate" in color || "bin" in color) return false;
  return color["type"] === undefined || color["type"] === "nominal" || color["type"] === "ordinal";
}

/** Tells a part of a specification from other JSON. */
export function isSpec(value: unknown): value is ChartSpec {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
