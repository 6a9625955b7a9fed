import { drawTable, formatCount, singleLine } from "./text-table.ts";

/** A figure with its bounds: low <= expected <= high. */
export interface Bounds {
  readonly low: number;
  readonly expected: number;
  readonly high: number;
}

/** One model of a plan. */
export interface PlanRow {
  readonly alias: string;
  readonly cells: number;
  readonly toRun: number;
  readonly inputTokens: Bounds;
  readonly outputTokens: Bounds;
  /** US dollars; null: unknown. */
  readonly costUsd: Bounds | null;
  readonly hours: Bounds;
  /** What holds its lane up. */
  readonly limit: string;
}

/** A plan in all. */
export interface PlanTotals extends Omit<PlanRow, "alias" | "limit"> {
  readonly done: number;
  readonly reused: number;
  readonly requests: Bounds;
  /** Some cells have no price: `costUsd` is a part. */
  readonly hasUnpriced: boolean;
  readonly budget: {
    readonly usd: number;
    readonly spentUsd: number;
    readonly expectedExceeds: boolean;
    readonly highExceeds: boolean;
  } | null;
}

/** How a plan turned out, in one figure: money, or reply tokens where the money is unknown. */
export interface PlanOutcome {
  readonly judgedBy: "costUsd" | "outputTokens";
  readonly planned: Bounds;
  readonly actual: number;
  readonly within: boolean;
}

const head = ["cells", "to run", "tokens", "cost", "hours", "limit"];

/** Draws the models of a plan. Where a row would be wider than the terminal, the model's name gets a line of its own. */
export function planTable(rows: readonly PlanRow[], columns: number): string {
  const figures = rows.map((row) => [
    formatCount(row.cells),
    formatCount(row.toRun),
    formatShort(row.inputTokens.expected + row.outputTokens.expected),
    formatUsd(row.costUsd),
    formatHours(row.hours),
    row.limit,
  ]);
  const oneLine = drawTable(
    ["model", ...head],
    figures.map((cells, index) => [rows[index]?.alias ?? "", ...cells]),
    Number.POSITIVE_INFINITY,
  );
  if (Math.max(...oneLine.split("\n").map((line) => line.length)) <= columns) return oneLine;
  // The names are put between the lines of a table of figures alone.
  const [headLine = "", ...lines] = drawTable(head, figures, columns).split("\n");
  return [headLine, ...lines.flatMap((line, index) => [singleLine(rows[index]?.alias ?? ""), line])].join("\n");
}

/** Says what a plan comes to in all: a few lines of less than 80 columns. */
export function planSummary(totals: PlanTotals): string {
  const { cells, done, reused, toRun, requests, inputTokens, outputTokens, costUsd, hours } = totals;
  const known = [
    ...(done > 0 ? [`${formatCount(done)} done`] : []),
    ...(reused > 0 ? [`${formatCount(reused)} taken over from other sweeps`] : []),
  ];
  const cost = totals.hasUnpriced && costUsd !== null ? `${formatUsd(costUsd)} + unknown` : formatUsd(costUsd);
  return [
    `in all: ${[`${formatCount(cells)} cells`, ...known, `${formatCount(toRun)} to run`].join(", ")}`,
    `  requests       ${formatBounds(requests, formatShort)}`,
    `  tokens in      ${formatBounds(inputTokens, formatShort)}`,
    `  tokens out     ${formatBounds(outputTokens, formatShort)}`,
    `  cost           ${cost}`,
    `  hours          ${formatHours(hours)}`,
    ...(totals.budget === null ? [] : [`  budget         ${budgetWords(totals.budget)}`]),
  ].join("\n");
}

/** Says in one line how a plan turned out: `planned $3.10 (2.00–5.20), spent $3.40: +10 %, within the interval`. */
export function planOutcomeLine({ judgedBy, planned, actual, within }: PlanOutcome): string {
  const isMoney = judgedBy === "costUsd";
  const interval = isMoney ? formatUsd(planned) : `${formatBounds(planned, formatShort)} tokens out`;
  const figure = isMoney ? `spent $${money(actual)}` : `took ${formatShort(actual)}`;
  const [side, bound] = actual < planned.low ? ["below", planned.low] : ["above", planned.high];
  // Two figures that round to the same are told apart.
  const exactly = isMoney && money(bound) === money(actual) ? ` (by $${Math.abs(actual - bound).toPrecision(2)})` : "";
  const place = within ? "within the interval" : `${side} the interval${exactly}`;
  return `planned ${interval}, ${figure}: ${difference(planned.expected, actual)}${place}`;
}

/** Writes US dollars with their bounds, `$3.10 (2.00–5.20)`; `unknown` for null. */
export function formatUsd(costUsd: Bounds | null): string {
  return costUsd === null ? "unknown" : `$${formatBounds(costUsd, money)}`;
}

/** Writes hours with their bounds, `1.2 (0.9–2.0)`. */
export function formatHours(hours: Bounds): string {
  const text = (figure: number): string => {
    if (figure === 0) return "0";
    if (figure < 0.01) return "<0.01";
    if (hours.expected < 1) return figure.toFixed(2);
    if (hours.expected < 10) return figure.toFixed(1);
    return figure < 1000 ? formatCount(figure) : formatShort(figure);
  };
  return formatBounds(hours, text);
}

/** Writes a figure of a thousand or more to three digits: `950`, `34.2k`, `1.25M`. */
function formatShort(tokens: number): string {
  const scales = [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const;
  // From 999.5 on a unit would show as a thousand of it.
  const scale = scales.find(([size]) => tokens >= size * 0.9995);
  if (scale === undefined) return formatCount(tokens);
  const scaled = tokens / scale[0];
  return `${scaled.toFixed(scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0)}${scale[1]}`;
}

function formatBounds({ low, expected, high }: Bounds, text: (figure: number) => string): string {
  const isPoint = text(low) === text(high);
  return isPoint ? text(expected) : `${text(expected)} (${text(low)}–${text(high)})`;
}

function money(usd: number): string {
  if (usd === 0) return "0";
  if (usd < 0.01) return "<0.01";
  if (usd < 1000) return usd.toFixed(2);
  return usd < 10_000 ? formatCount(usd) : formatShort(usd);
}

function budgetWords({ usd, spentUsd, expectedExceeds, highExceeds }: NonNullable<PlanTotals["budget"]>): string {
  const spent = spentUsd > 0 ? `, $${money(spentUsd)} spent` : "";
  const words = expectedExceeds
    ? "less than what is expected: trials may be blocked"
    : highExceeds
      ? "enough for what is expected, not for the highest estimate"
      : "enough";
  return `$${money(usd)}${spent}: ${words}`;
}

/** In per cent of what was expected; empty where nothing was. */
function difference(expected: number, actual: number): string {
  if (expected === actual) return "as planned, ";
  if (expected === 0) return "";
  const percent = Math.round((actual / expected - 1) * 100);
  return `${percent < 0 ? "−" : "+"}${formatCount(Math.abs(percent))} %, `;
}
