import type { ReportPages } from "@hallumaze/reports";
import { type BasicType, fileWriter, ParquetWriter, schemaFromColumnData } from "hyparquet-writer";

import { type Cell, type ColumnType, trialColumns } from "./trial-columns.ts";

/** Rows of a group unless told: what is held in memory at once, some tens of megabytes. */
const usualGroupRows = 20_000;

const parquetTypes: Readonly<Record<ColumnType, BasicType>> = {
  bool: "BOOLEAN",
  int32: "INT32",
  int64: "INT64",
  float64: "DOUBLE",
  string: "STRING",
  timestamp: "TIMESTAMP",
};

/** What was written. */
export interface ParquetReport {
  readonly rows: number;
}

/**
 * Writes trials as a Parquet file (Snappy), a group of rows at a time: memory is that of one group, however many there
 * are. The columns are `trialColumns`. The same rows give the same bytes; no date is in them.
 *
 * `path` is written over. Without a trial the file has its columns and no row.
 */
export async function writeTrialParquet(
  pages: ReportPages,
  path: string,
  groupRows: number = usualGroupRows,
): Promise<ParquetReport> {
  const writer = new ParquetWriter({
    writer: fileWriter(path),
    schema: schemaFromColumnData({ columnData: columnData(trialColumns.map(() => [])) }),
    createdBy: "hallumaze",
  });
  let rows = 0;
  let group: Cell[][] = trialColumns.map(() => []);
  const flush = async (): Promise<void> => {
    if ((group[0]?.length ?? 0) === 0) return;
    await writer.write({ columnData: columnData(group), rowGroupSize: groupRows });
    group = trialColumns.map(() => []);
  };
  for await (const page of pages) {
    for (const row of page) {
      for (const [at, { read }] of trialColumns.entries()) group[at]?.push(read(row));
      rows++;
      if ((group[0]?.length ?? 0) >= groupRows) await flush();
    }
  }
  await flush();
  await writer.finish();
  return { rows };
}

function columnData(cells: readonly Cell[][]) {
  return trialColumns.map(({ name, type, nullable }, at) => ({
    name,
    type: parquetTypes[type],
    nullable,
    data: cells[at] ?? [],
  }));
}
