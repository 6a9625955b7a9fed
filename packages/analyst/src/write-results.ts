import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { writeWhole } from "@hallumaze/console";
import type { ExperimentResult, FigureData, ResultTable } from "@hallumaze/experiments";
import { csvTable, latexTable, markdownTable, resultChart, showsNothing } from "@hallumaze/reports";

/** A figure as a page shows it. */
export interface DrawnFigure {
  readonly name: string;
  readonly title: string;
  readonly svg: string;
}

/** An experiment with its figures drawn. */
export interface WrittenExperiment {
  readonly result: ExperimentResult;
  readonly figures: readonly DrawnFigure[];
}

/**
 * Writes an experiment below `folder`: the result as JSON, each table as Markdown, CSV and LaTeX, each figure as its
 * specification and, for one and for two columns, as SVG and PDF. Gives the figures of the wide kind.
 */
export async function writeExperiment(folder: string, result: ExperimentResult): Promise<WrittenExperiment> {
  for (const part of ["tables", "figures", "experiments"]) await mkdir(join(folder, part), { recursive: true });
  const own = (name: string): string => (name === result.experiment ? name : `${result.experiment}-${name}`);
  await writeWhole(join(folder, "experiments", `${result.experiment}.json`), [`${JSON.stringify(result, null, 2)}\n`]);
  for (const table of result.tables) await writeTable(join(folder, "tables", own(table.name)), table);
  const figures: DrawnFigure[] = [];
  for (const figure of result.figures) {
    if (showsNothing(figure)) continue;
    const drawn = await writeFigure(join(folder, "figures", own(figure.name)), figure);
    if (drawn !== null) figures.push({ name: own(figure.name), title: figure.title, svg: drawn });
  }
  return { result, figures };
}

async function writeTable(path: string, table: ResultTable): Promise<void> {
  await writeWhole(`${path}.md`, [markdownTable(table)]);
  await writeWhole(`${path}.csv`, [csvTable(table)]);
  await writeWhole(`${path}.tex`, [latexTable(table)]);
}

/** The SVG over two columns; null where not even they hold it: then only the specification is written. */
async function writeFigure(path: string, figure: FigureData): Promise<string | null> {
  const spec = resultChart(figure);
  await writeWhole(`${path}.vl.json`, [`${JSON.stringify(spec, null, 2)}\n`]);
  // Loaded with the first figure: by then the trials are read, and what reading took has been let go.
  const drawing = await import("@hallumaze/figures");
  let wide: string | null = null;
  for (const columns of [1, 2] as const) {
    try {
      const { svg, pdf } = await (columns === 1
        ? drawing.renderFigure(spec, { columns, title: figure.title })
        : drawing.renderWide(spec, figure.title));
      const name = columns === 1 ? path : `${path}-wide`;
      await writeWhole(`${name}.svg`, [svg]);
      await writeWhole(`${name}.pdf`, [pdf]);
      if (columns === 2) wide = svg;
    } catch (error) {
      // Many long names fit no narrow column; the wide one remains.
      if (!(error instanceof drawing.FigureError) || error.code !== "figure-too-wide") throw error;
    }
  }
  return wide;
}

/** Warnings as lines: those that differ only in the name before the colon are one. */
export function warningLines(warnings: readonly { readonly message: string }[]): readonly string[] {
  const names = new Map<string, string[]>();
  for (const { message } of warnings) {
    const [name, rest] = splitName(message);
    names.set(rest, [...(names.get(rest) ?? []), ...(name === null ? [] : [name])]);
  }
  return Array.from(names, ([rest, own]) => {
    const distinct = [...new Set(own)];
    return distinct.length === 0 ? rest : `${distinct.join(", ")}: ${rest}`;
  });
}

function splitName(message: string): readonly [name: string | null, rest: string] {
  const at = message.indexOf(": ");
  return at < 0 ? [null, message] : [message.slice(0, at), message.slice(at + 2)];
}
