import type { CalibrationReport, Proportion } from "./calibration.ts";
import type { Baseline } from "./calibration-baselines.ts";
import type { CoefficientEstimate } from "./confusion.ts";
import type { GateDecision } from "./gate.ts";

/** One row of a report's summary: what is measured, and its value with interval and n in words. */
type Line = readonly [name: string, value: string];

const levels = [1, 2, 3] as const;
const listedInTerminal = 10;

/** Writes a calibration as Markdown: the gate's decision first, then figures, baselines and every disagreement. */
export function calibrationMarkdown(report: CalibrationReport, gate: GateDecision): string {
  const { judge } = report;
  return [
    `# Calibration of ${code(judge.judgeModel)}`,
    "",
    `Prompt ${code(judge.promptVersion)} (${code(judge.promptHash.slice(0, 12))}), rubric ${code(judge.rubricVersion)}.`,
    "",
    gate.open ? "**The gate is open.**" : "**The gate stays closed:**",
    ...(gate.open ? [] : ["", ...gate.refusals.map((refusal) => `- ${cell(refusal)}`)]),
    "",
    "## Figures",
    "",
    ...table(["figure", "value"], summaryOf(report)),
    "",
    "## Confusion matrix",
    "",
    ...table(["people \\ judge", "L1", "L2", "L3", "unscored", "recall", "precision"], confusionRows(report)),
    "",
    "## Rules without understanding, on the same items",
    "",
    ...table(
      ["rule", "agreement", "only the judge is right", "only the rule is right", "p (McNemar, exact)"],
      baselineRows(report),
    ),
    "",
    "## Disagreements",
    "",
    ...disagreementSection(report),
    "",
  ].join("\n");
}

/** Writes a calibration for a terminal: the same figures in columns, the first disagreements, the decision last. */
export function calibrationText(report: CalibrationReport, gate: GateDecision): string {
  const { judge, disagreements } = report;
  const shown = disagreements.slice(0, listedInTerminal);
  const more = disagreements.length - shown.length;
  return [
    `Calibration of ${judge.judgeModel}, prompt ${judge.promptVersion}, rubric ${judge.rubricVersion}`,
    "",
    ...columns(summaryOf(report)),
    "",
    ...columns([["people \\ judge", "L1", "L2", "L3", "unscored", "recall", "precision"], ...confusionRows(report)]),
    "",
    ...columns([["rule", "agreement", "only judge", "only rule", "p"], ...baselineRows(report)]),
    ...(shown.length === 0 ? [] : ["", "Disagreements:"]),
    ...shown.map(
      ({ line, human, judge: level, unscoredReason, excerpt }) =>
        `  line ${line}: people L${human}, judge ${levelName(level, unscoredReason)}${excerpt === null ? "" : `: ${excerpt}`}`,
    ),
    ...(more > 0 ? [`  and ${more} more`] : []),
    "",
    gate.open ? "The gate is open." : "The gate stays closed:",
    ...gate.refusals.map((refusal) => `  ${refusal}`),
    "",
  ].join("\n");
}

/**
 * The confusion matrix as a Vega-Lite specification (v6, plain JSON, data inline): a row for each level of people's, a
 * column for each of the judge's and one for unscored; colour is the share of the row, the number the count of items.
 */
export function confusionChart({ confusion, judge, n }: CalibrationReport): Readonly<Record<string, unknown>> {
  const values = confusion.counts.flatMap((row, at) => {
    const given = [...row, confusion.unscored[at] ?? 0];
    const all = given.reduce((sum, count) => sum + count, 0);
    return given.map((count, column) => ({
      human: `L${at + 1}`,
      judge: column < 3 ? `L${column + 1}` : "unscored",
      count,
      // A level that is absent has no shares: null is drawn as no colour, not as 0.
      share: all === 0 ? null : count / all,
    }));
  });
  const axes = {
    x: {
      field: "judge",
      type: "nominal",
      title: "judge",
      sort: ["L1", "L2", "L3", "unscored"],
      axis: { labelAngle: 0 },
    },
    y: { field: "human", type: "nominal", title: "people", sort: ["L1", "L2", "L3"] },
  };
  const colour = {
    field: "share",
    type: "quantitative",
    title: "share of the row",
    scale: { domain: [0, 1], scheme: "blues" },
  };
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    title: `${judge.judgeModel} against people, ${n} items`,
    data: { values },
    width: { step: 60 },
    height: { step: 40 },
    layer: [
      { mark: "rect", encoding: { ...axes, color: colour } },
      {
        mark: { type: "text", fontSize: 13 },
        encoding: {
          ...axes,
          text: { field: "count", type: "quantitative" },
          color: { condition: { test: "datum.share > 0.55", value: "white" }, value: "black" },
        },
      },
    ],
  };
}

function summaryOf(report: CalibrationReport): Line[] {
  const { goldSet, humanAgreement, unscored, length } = report;
  const looks = `${report.lookCount} ${report.lookCount === 1 ? "look" : "looks"} at the test split`;
  return [
    ["gold set", `${goldSet.id}, ${goldSet.items} items, ${goldSet.ties} ties left out`],
    ["measured", `${report.n} items (${report.split} split); ${looks}`],
    ["people's levels", levels.map((level) => `L${level} ${report.levels.human[level]}`).join(", ")],
    ["judge's levels", levels.map((level) => `L${level} ${report.levels.judge[level]}`).join(", ")],
    [
      "people among themselves",
      humanAgreement.n === 0
        ? `unknown: ${humanAgreement.raters === 1 ? "one rater" : "no item with two labels"}`
        : `unanimous on ${percent(humanAgreement.unanimous)} of ${humanAgreement.n}; ordinal alpha ${coefficient(humanAgreement.ordinalAlpha)}`,
    ],
    ["exact agreement", proportion(report.agreement)],
    ["adjacent agreement", proportion(report.adjacent)],
    ["signed bias", report.signedBias === null ? "unknown" : signed(report.signedBias)],
    ["kappa", coefficient(report.kappa)],
    ["kappa, quadratic weights", coefficient(report.quadraticKappa)],
    ["Krippendorff's alpha, ordinal", coefficient(report.ordinalAlpha)],
    ["false L3", proportion(report.falseL3)],
    ["flips over repeats", report.flips.n === 0 ? "unknown: judged once" : proportion(report.flips)],
    ["unscored", `${proportion(unscored)}${reasonsOf(unscored.reasons)}`],
    ["level with length (Spearman)", `judge ${plain(length.judge)}, people ${plain(length.human)}`],
  ];
}

function confusionRows({ confusion, perLevel }: CalibrationReport): string[][] {
  return perLevel.map(({ level, recall, precision }, at) => [
    `L${level}`,
    ...(confusion.counts[at] ?? []).map(String),
    String(confusion.unscored[at] ?? 0),
    percent(recall),
    percent(precision),
  ]);
}

function baselineRows({ baselines, agreement }: CalibrationReport): string[][] {
  const row = ({ rule, agreed, share, onlyJudge, onlyBaseline, p }: Baseline, note = ""): string[] => [
    `${rule}${note}`,
    `${agreed} of ${agreement.n} (${percent(share)})`,
    String(onlyJudge),
    String(onlyBaseline),
    p < 0.001 ? p.toExponential(1) : p.toFixed(3),
  ];
  return [
    row(baselines.majority),
    baselines.heuristic === null ? ["the keyword heuristic", "not run", "", "", ""] : row(baselines.heuristic),
    row(baselines.length, baselines.length.fittedOn === "dev" ? "; fitted on dev" : "; fitted on these items"),
  ];
}

function disagreementSection({ disagreements, n }: CalibrationReport): string[] {
  if (disagreements.length === 0) return [n === 0 ? "No item was measured." : "None."];
  return table(
    ["line", "item", "people", "judge", "confidence", "the judge's reasoning"],
    disagreements.map(({ line, id, human, judge, confidence, unscoredReason, excerpt }) => [
      String(line),
      code(id.slice(0, 12)),
      `L${human}`,
      levelName(judge, unscoredReason),
      confidence === null ? "none" : confidence.toFixed(2),
      excerpt ?? "",
    ]),
  );
}

function levelName(level: number | null, unscoredReason: string | null): string {
  return level === null ? `unscored (${unscoredReason ?? "unknown"})` : `L${level}`;
}

function proportion({ count, n, share, lo, hi }: Proportion): string {
  if (share === null || lo === null || hi === null) return "unknown: no items";
  return `${percent(share)} (${count} of ${n}; 95 % ${lo.toFixed(4)} … ${hi.toFixed(4)})`;
}

function coefficient({ value, lo, hi, n, undefinedBecause }: CoefficientEstimate): string {
  if (value === null) return undefinedBecause === "singleClass" ? "undefined (single class)" : "unknown: no items";
  const interval = lo === null || hi === null ? "no interval" : `95 % ${lo.toFixed(3)} … ${hi.toFixed(3)}`;
  return `${value.toFixed(3)} (${interval}; n ${n})`;
}

function plain({ value, undefinedBecause }: CalibrationReport["length"]["judge"]): string {
  if (value !== null) return signed(value);
  return undefinedBecause === "singleClass" ? "undefined (single class)" : "unknown";
}

function reasonsOf(reasons: Readonly<Record<string, number>>): string {
  const named = Object.entries(reasons).map(([reason, count]) => `${reason} ${count}`);
  return named.length === 0 ? "" : `: ${named.join(", ")}`;
}

function signed(value: number): string {
  return `${value < 0 ? "-" : "+"}${Math.abs(value).toFixed(3)}`;
}

function percent(share: number | null): string {
  return share === null ? "unknown" : `${(share * 100).toFixed(1)} %`;
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) => `  ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd());
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)];
}

/** A judge's words come from a model that read untrusted text: they must not break the table or become markup. */
function cell(text: string): string {
  return text.replace(/[\\|<>[\]*_]/g, (mark) => `\\${mark}`).replace(/\s+/g, " ");
}

function code(text: string): string {
  return `\`${text.replace(/[`|\s]+/g, " ")}\``;
}
