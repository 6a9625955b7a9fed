/** How a page is lit. */
export type Theme = "light" | "dark";

/**
 * Fills of the heat map by a trial's state. No two are told apart by their hue alone: their lightness differs, and the
 * states that ask for something carry a sign as well (see `stateSigns`).
 *
 * SOURCE: Okabe & Ito, Color Universal Design (2008), lightened or darkened for each theme.
 */
export const stateColours: Readonly<Record<Theme, Readonly<Record<string, string>>>> = {
  light: {
    planned: "#f1f1ee",
    queued: "#dcdcd6",
    running: "#f0c53c",
    done: "#0072b2",
    failed: "#b23c00",
    cancelled: "#8d8d88",
    blocked: "#cc79a7",
  },
  dark: {
    planned: "#26282b",
    queued: "#3b3e43",
    running: "#f0e442",
    done: "#3f9fd6",
    failed: "#f07d3f",
    cancelled: "#74777c",
    blocked: "#d9a0c0",
  },
};

/** A sign drawn over a cell whose state asks for attention; none for the others. */
export const stateSigns: Readonly<Record<string, string>> = {
  failed: "×",
  blocked: "‖",
  cancelled: "–",
  running: "·",
};

/** Fill of a cell without a known value, and of one of a state that this page does not know. */
export const unknownColours: Readonly<Record<Theme, string>> = { light: "#ffffff", dark: "#17191c" };

// Even steps of lightness, from low to high: readable in grey, and under every common colour blindness (cividis).
const steps = ["#00224e", "#2a3f6d", "#575d6d", "#7d7c78", "#a59c74", "#d2c060", "#fee838"] as const;

/**
 * The colour of a value between two bounds, dark for low and light for high; `unknownColours` where it is null.
 *
 * SOURCE: cividis, Nuñez, Anderton & Renslow (2018).
 */
export function valueColour(
  value: number | null,
  bounds: { readonly min: number; readonly max: number },
  theme: Theme,
): string {
  if (value === null || !Number.isFinite(value)) return unknownColours[theme];
  const width = bounds.max - bounds.min;
  const share = width > 0 ? Math.min(1, Math.max(0, (value - bounds.min) / width)) : 0.5;
  const at = share * (steps.length - 1);
  const low = steps[Math.floor(at)] ?? steps[0];
  const high = steps[Math.ceil(at)] ?? low;
  return mix(low, high, at - Math.floor(at));
}

/** The scale's own colours, low to high, for a legend. */
export const valueColours: readonly string[] = steps;

/** Relative luminance of `#rrggbb`, 0 … 1. SOURCE: WCAG 2.2, relative luminance. */
export function luminance(colour: string): number {
  const [red, green, blue] = channels(colour).map((value) => {
    const share = value / 255;
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
}

/** Contrast of two colours, 1 … 21. SOURCE: WCAG 2.2, contrast ratio. */
export function contrast(one: string, other: string): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

/** Black or white, whichever reads better on a fill. */
export function inkOn(colour: string): "#000000" | "#ffffff" {
  return contrast(colour, "#000000") >= contrast(colour, "#ffffff") ? "#000000" : "#ffffff";
}

function mix(one: string, other: string, share: number): string {
  const from = channels(one);
  const to = channels(other);
  const parts = from.map((value, at) => Math.round(value + ((to[at] ?? value) - value) * share));
  return `#${parts.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

function channels(colour: string): readonly number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}
