import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { ReportPages, ReportRow } from "@hallumaze/reports";

import { type DataCardFacts, dataCard, dataFile } from "./data-card.ts";
import { writeTrialParquet } from "./trial-parquet.ts";

/** What the folder's maker says; the rest of the card is counted from the rows. */
export type DataFolderFacts = Pick<DataCardFacts, "title" | "license" | "description" | "programVersion">;

/** What was written. */
export type DataFolderReport = Omit<DataCardFacts, keyof DataFolderFacts> & {
  /** Below the folder. */
  readonly files: readonly string[];
};

/**
 * Writes trials as a folder that the Hugging Face hub takes as it is: `data/trials.parquet` and a card, `README.md`.
 * Streams; memory grows with the names of models and sweeps only. The same rows and facts give the same bytes.
 */
export async function writeDataFolder(
  pages: ReportPages,
  folder: string,
  facts: DataFolderFacts,
): Promise<DataFolderReport> {
  await mkdir(join(folder, "data"), { recursive: true });
  const counts = { answered: 0, sweeps: new Set<string>(), models: new Set<string>(), languages: new Set<string>() };
  const { rows } = await writeTrialParquet(counted(pages, counts), join(folder, dataFile));
  const { size: byteCount } = await stat(join(folder, dataFile));
  const told = {
    sweeps: [...counts.sweeps].toSorted(byCodeUnit),
    models: [...counts.models].toSorted(byCodeUnit),
    languages: [...counts.languages].toSorted(byCodeUnit),
    rows,
    answered: counts.answered,
    byteCount,
  };
  await writeFile(join(folder, "README.md"), dataCard({ ...facts, ...told }));
  return { ...told, files: ["README.md", dataFile] };
}

interface Counts {
  answered: number;
  readonly sweeps: Set<string>;
  readonly models: Set<string>;
  readonly languages: Set<string>;
}

async function* counted(pages: ReportPages, counts: Counts): AsyncGenerator<readonly ReportRow[]> {
  for await (const page of pages) {
    for (const { state, sweep, alias, plan } of page) {
      if (state === "done") counts.answered++;
      counts.sweeps.add(sweep);
      counts.models.add(alias);
      counts.languages.add(plan.language);
    }
    yield page;
  }
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : 1;
}
