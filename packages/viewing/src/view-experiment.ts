import type { ExperimentView } from "@hallumaze/contract";
import type { ExperimentResult, TableCell } from "@hallumaze/experiments";

type Cell = ExperimentView["tables"][number]["rows"][number][string];

/** What an experiment found; a figure without a point is left out, as in the report. */
export function viewExperiment(result: ExperimentResult): ExperimentView {
  const { seed, resamples, permutations, level, interval, unit } = result.provenance;
  return {
    experiment: result.experiment,
    title: result.title,
    reading: [...result.reading],
    warnings: result.warnings.map(({ code, message }) => ({ code, message })),
    tables: result.tables.map(({ name, caption, columns, rows }) => ({
      name,
      caption,
      columns: columns.map((column) => ({ ...column })),
      rows: rows.map((row) => Object.fromEntries(Object.entries(row).map(([key, cell]) => [key, cellOf(cell)]))),
    })),
    figures: result.figures.filter(({ points }) => points.length > 0).map(({ name, title }) => ({ name, title })),
    provenance: { seed, resamples, permutations, level, interval, unit },
  };
}

function cellOf(cell: TableCell): Cell {
  if (cell === null || typeof cell !== "object") return cell;
  if ("value" in cell) return { value: cell.value, lo: cell.lo, hi: cell.hi };
  return [cell[0], cell[1]];
}

/** A part's name in a file: the experiment's, and its own where it has another. */
export function partFileName(experiment: string, name: string): string {
  return name === experiment ? name : `${experiment}-${name}`;
}
