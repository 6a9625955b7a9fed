import type { ResultTable } from "@hallumaze/experiments";

import { printTable, unknownCell } from "./result-table.ts";
import { singleLine } from "./text-table.ts";

/** Signs that LaTeX reads as commands, and letters that its usual fonts lack, as it writes them. */
const written: Readonly<Record<string, string>> = {
  "\\": "\\textbackslash{}",
  "{": "\\{",
  "}": "\\}",
  $: "\\$",
  "&": "\\&",
  "#": "\\#",
  "%": "\\%",
  _: "\\_",
  "^": "\\textasciicircum{}",
  "~": "\\textasciitilde{}",
  "<": "$<$",
  ">": "$>$",
  "|": "$|$",
  '"': "\\textquotedbl{}",
  "`": "\\textasciigrave{}",
  "'": "\\textquotesingle{}",
  "–": "--",
  "—": "---",
  "−": "$-$",
  "…": "\\ldots{}",
  "±": "$\\pm$",
  "×": "$\\times$",
  "·": "$\\cdot$",
  "²": "$^2$",
  "≤": "$\\leq$",
  "≥": "$\\geq$",
  "≠": "$\\neq$",
  "≈": "$\\approx$",
  "→": "$\\rightarrow$",
  Δ: "$\\Delta$",
  α: "$\\alpha$",
  δ: "$\\delta$",
  κ: "$\\kappa$",
  μ: "$\\mu$",
  ρ: "$\\rho$",
  σ: "$\\sigma$",
  τ: "$\\tau$",
};

/** Writes any text so that LaTeX prints it: no command, comment or line of it is read. Letters of other scripts stay. */
export function escapeLatex(text: string): string {
  return Array.from(singleLine(text), (character) => written[character] ?? character).join("");
}

/** Letters of a line in footnote size: of one column (85 mm) and of the whole width (174 mm). */
const lettersOfColumn = 52;
const lettersOfPage = 112;
/** Blank between two columns of a table, in letters. */
const gap = 2;

/**
 * A table for a paper: a float with caption, label `tab:NAME` and the rules of booktabs; over both columns of the page
 * (`table*`) where one does not hold it, and shrunk where both do not.
 *
 * The document needs `\usepackage{booktabs}`, `\usepackage{graphicx}` (to shrink) and `\usepackage{textcomp}`; names in
 * other scripts, such as Korean, need XeLaTeX or LuaLaTeX with a font that has them.
 */
export function latexTable(table: ResultTable): string {
  const { heads, numeric, rows } = printTable(table);
  const widths = heads.map((head, at) => Math.max(head.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const letters = widths.reduce((sum, width) => sum + width + gap, 0);
  const float = letters > lettersOfColumn ? "table*" : "table";
  const isShrunk = letters > lettersOfPage;
  // Behind the line before, LaTeX would read a bracket or a star as that line's own.
  const line = (cells: readonly string[]): string =>
    `${/^[[*]/.test(cells[0] ?? "") ? "{}" : ""}${cells.join(" & ")} \\\\`;
  return [
    `% needs booktabs${isShrunk ? ", graphicx" : ""}, textcomp`,
    `\\begin{${float}}[t]`,
    "\\centering",
    `\\caption{${escapeLatex(table.caption)}}`,
    `\\label{tab:${table.name.replaceAll(/[^a-zA-Z0-9-]/g, "-")}}`,
    "\\footnotesize",
    "\\setlength{\\tabcolsep}{3pt}",
    ...(isShrunk ? ["\\resizebox{\\linewidth}{!}{%"] : []),
    `\\begin{tabular}{@{}${numeric.map((isNumber) => (isNumber ? "r" : "l")).join("")}@{}}`,
    "\\toprule",
    line(heads.map(escapeLatex)),
    "\\midrule",
    ...rows.map((row) => line(row.map((cell, at) => (numeric[at] ? latexNumber(cell) : escapeLatex(cell))))),
    "\\bottomrule",
    isShrunk ? "\\end{tabular}}" : "\\end{tabular}",
    `\\end{${float}}`,
    "",
  ].join("\n");
}

/** A printed number with true minus signs; a first bracket in a row is not taken for an option of the line before. */
function latexNumber(cell: string): string {
  return cell === unknownCell ? "--" : escapeLatex(cell).replaceAll(/-(?=\d)/g, "$-$");
}
