import type { ResultTable } from "@hallumaze/experiments";
import { describe, expect, it } from "vitest";

import { escapeLatex, latexTable } from "./latex-table.ts";
import { csvTable, markdownTable, printTable } from "./result-table.ts";

const hostile = '=HYPERLINK("http://x") \\input{/etc/passwd} % & # $ _ ^ ~ | `code` <b>*\n\\end{tabular}';
const table: ResultTable = {
  name: "models",
  caption: "Models by robust MEI, Δ ≥ 0 & more.",
  columns: [
    { key: "model", label: "Model", kind: "text" },
    { key: "trials", label: "Trials", kind: "count" },
    { key: "mei", label: "MEI", kind: "interval", better: "high" },
    { key: "bounds", label: "its bounds", kind: "bounds" },
    { key: "p", label: "p", kind: "p" },
  ],
  rows: [
    {
      model: "oracle",
      trials: 1200,
      mei: { value: 0.9, lo: 0.85, hi: 0.95 },
      bounds: [0.8, 1],
      p: 0.00001,
    },
    { model: hostile, trials: 0, mei: { value: -0.25, lo: null, hi: null }, bounds: null, p: 0.0314 },
    { model: "gone", trials: 0, mei: { value: null, lo: null, hi: null }, bounds: null, p: null },
  ],
};

it("cells are printed by their kind; what is not known is a dash, not 0", () => {
  expect(printTable(table).rows.map((row) => row.slice(1))).toEqual([
    ["1,200", "0.900 [0.850, 0.950]", "0.800 to 1.000", "<0.001"],
    ["0", "-0.250", "–", "0.031"],
    ["0", "–", "–", "–"],
  ]);
});

describe("LaTeX", () => {
  it("is a float with caption, label and the rules of booktabs, numbers to the right", () => {
    const two: ResultTable = { ...table, columns: table.columns.slice(0, 2), rows: table.rows.slice(0, 1) };
    expect(latexTable(two)).toBe(String.raw`% needs booktabs, textcomp
\begin{table}[t]
\centering
\caption{Models by robust MEI, $\Delta$ $\geq$ 0 \& more.}
\label{tab:models}
\footnotesize
\setlength{\tabcolsep}{3pt}
\begin{tabular}{@{}lr@{}}
\toprule
Model & Trials \\
\midrule
oracle & 1,200 \\
\bottomrule
\end{tabular}
\end{table}
`);
  });

  it("every sign that is a command is printed instead, on one line", () => {
    expect(escapeLatex("a\\b{c}$d&e#f%g_h^i~j<k>l|m\"n`o'p\nq")).toBe(
      String.raw`a\textbackslash{}b\{c\}\$d\&e\#f\%g\_h\textasciicircum{}i\textasciitilde{}j$<$k$>$l$|$m\textquotedbl{}n\textasciigrave{}o\textquotesingle{}p q`,
    );
    expect(escapeLatex("가\u202e나\u0000")).toBe("가 나 ");
  });

  it("a hostile name ends no table and begins no comment", () => {
    const text = latexTable(table);
    expect(text.match(/\\end\{tabular\}/g)).toHaveLength(1);
    expect(text).not.toMatch(/[^\\]% &/);
    expect(text).not.toContain("\\input");
    expect(text).toContain("$-$0.250");
  });

  it("a table too wide for a column takes the page, and one too wide for the page is shrunk", () => {
    expect(latexTable(table)).toContain("\\begin{table*}[t]");
    expect(latexTable(table)).toContain("\\resizebox{\\linewidth}{!}{%");
    expect(latexTable({ ...table, rows: table.rows.slice(0, 1) })).not.toContain("resizebox");
  });
});

it("Markdown: a hostile name stays a name in one cell", () => {
  const lines = markdownTable(table).trimEnd().split("\n");
  expect(lines[0]).toBe("**Models by robust MEI, Δ ≥ 0 &amp; more.**");
  expect(lines.slice(2, 4)).toEqual([
    "| Model | Trials | MEI | its bounds | p |",
    "| --- | ---: | ---: | ---: | ---: |",
  ]);
  expect(lines).toHaveLength(7);
  expect(lines[5]?.split(/(?<!\\)\|/)).toHaveLength(7);
  expect(lines[5]).toContain("\\`code\\` &lt;b&gt;\\*");
  expect(lines[5]).not.toContain("http:");
});

it("CSV: every digit, intervals and bounds as columns of their own, no formula, an empty cell for what is not known", () => {
  const lines = csvTable(table).trimEnd().split("\n");
  expect(lines[0]).toBe("model,trials,mei,mei_lo,mei_hi,bounds_low,bounds_high,p");
  expect(lines[1]).toBe("oracle,1200,0.9,0.85,0.95,0.8,1,0.00001");
  expect(lines[2]).toMatch(/^"'=HYPERLINK/);
  expect(lines[3]).toBe("gone,0,,,,,,");
});
