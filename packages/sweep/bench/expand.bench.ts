import { sha256Hex } from "@hallumaze/foundation";

import { canonicalPlan, expandCells } from "../src/expand-cells.ts";
import { parseSpec } from "../src/parse-spec.ts";

const CELLS = 200_000;
const SPEC = `
name: bench
models: [sim/oracle, sim/dfs-honest, sim/mirage-prone, sim/random-walk]
seeds: ["1..12500"]
sizes: [5, 7]
mirage: [true, false]
`;

/**
 * Cells a second of `expandCells`, hashing included, on 200,000 cells; against SHA-256 alone over the same texts (a
 * plan's canonical text).
 */
export async function bench(): Promise<
  readonly {
    readonly name: string;
    readonly value: number;
    readonly unit: string;
    readonly ratio?: number;
    readonly against?: string;
  }[]
> {
  const { spec } = parseSpec(SPEC, { fileName: "bench.yaml" });
  const texts: string[] = [];
  const started = performance.now();
  let cells = 0;
  for (const cell of expandCells(spec, { rehearsal: false })) {
    if (cells % 200 === 0) texts.push(canonicalPlan(cell.plan));
    cells++;
  }
  const expandMs = performance.now() - started;
  if (cells !== CELLS) throw new Error(`expected ${CELLS} cells, got ${cells}`);
  const hashStarted = performance.now();
  for (let round = 0; round < 200; round++) for (const text of texts) sha256Hex(text);
  const hashMs = performance.now() - hashStarted;
  return [
    {
      name: "expand cells",
      value: Math.round((cells / expandMs) * 1000),
      unit: "cells/s",
      ratio: hashMs / expandMs,
      against: "SHA-256 alone over the same texts",
    },
  ];
}
