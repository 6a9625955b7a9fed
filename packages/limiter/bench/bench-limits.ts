// Runs the benchmark of limits and says of each figure whether it keeps its promise: npm run bench:limits [-- --quick]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpus } from "node:os";
import { parseArgs } from "node:util";

import type { Figure } from "./limit-figures.ts";

const { values: options } = parseArgs({ options: { quick: { type: "boolean", default: false } } });

const child = spawn(
  process.execPath,
  [...process.execArgv, "packages/testkit/scripts/bench.ts", "--only", "limits.bench", "--json"],
  {
    env: { ...process.env, HALLUMAZE_BENCH_QUICK: options.quick ? "1" : "" },
    stdio: ["ignore", "pipe", "inherit"],
  },
);
let said = "";
child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
const [code] = (await once(child, "close")) as [number | null];
if (code !== 0) process.exit(code ?? 1);

const figures = JSON.parse(said) as readonly Figure[];
process.stdout.write(`${tableOf(figures)}\n`);
const ours = figures.filter(({ name, holds }) => name.startsWith("limits/ours") && holds !== undefined);
const broken = ours.filter(({ holds }) => holds === false);
process.stdout.write(
  `${ours.length - broken.length} of ${ours.length} promises hold; the others' figures stand beside them. ` +
    `${cpus().length} cores; load is the number of processes that wanted one.\n`,
);
process.exit(broken.length === 0 ? 0 : 1);

function tableOf(rows: readonly Figure[]): string {
  const cells = [
    ["figure", "value", "unit", "bound", "holds", "load"],
    ...rows.map(({ name, value, unit, bound, holds, load }) => [
      name,
      value.toLocaleString("en-US", { maximumSignificantDigits: 4 }),
      unit,
      boundText(bound),
      holds === undefined ? "" : holds ? "yes" : "NO",
      load.toFixed(1),
    ]),
  ];
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const pad = (text: string, column: number): string =>
    column === 1 || column === 5 ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0);
  return cells.map((row) => row.map(pad).join("  ").trimEnd()).join("\n");
}

function boundText(bound: Figure["bound"]): string {
  if (bound === undefined) return "";
  const { least, most } = bound;
  if (least !== undefined && least === most) return `= ${least}`;
  return [least === undefined ? "" : `≥ ${least}`, most === undefined ? "" : `≤ ${most}`].filter(Boolean).join(", ");
}
