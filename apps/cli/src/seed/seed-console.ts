import { drawTable, meiSign, singleLine, type SeedShapeRecord, type SeedShapeResult } from "@hallumaze/reports";
import Table from "cli-table3";

/** The box of one maze: size, solution in cells, dead ends, traps. */
export function mazeBox({ maze, config }: SeedShapeRecord): string {
  const table = new Table({ style: { head: [], border: [] } });
  const traps = config.use_mirage ? maze.mirage_traps : 0;
  table.push([
    `미로 생성됨\n크기: ${maze.size}×${maze.size} | 정답 길이: ${maze.solution_length} | 막다른 길: ${maze.dead_ends} | Mirage: ${traps} | Seed: ${maze.seed}`,
  ]);
  return table.toString();
}

/** The lines of one model on one maze: result, and the signals of metacognition that its walk bears out. */
export function resultLines(result: SeedShapeResult): string {
  const name = singleLine(`${result.provider}/${result.model}`);
  if (result.sr === null) return `\n  ▶ ${name}\n  – no answer (${result.outcome ?? "not run"}): missing, not scored`;
  const parts = [
    `${result.sr === 1 ? "✓" : "✗"} SR=${result.sr.toFixed(2)}`,
    `MEI=${fixed(result.mei)}${meiSign(result.mei)}`,
    `CE=${fixed(result.ce)}`,
    `BRS=${fixed(result.brs)}`,
    `Hall=${result.hallucination_count} BT=${result.backtrack_count}`,
    `Score=${fixed(result.hallumaze_score)}`,
    `${result.latency_s === null ? "-" : result.latency_s.toFixed(1)}s`,
  ];
  const signals = result.metacog_signals.length > 0 ? result.metacog_signals.join(", ") : "없음";
  return `\n  ▶ ${name}\n  ${parts.join(" | ")}\n  ↳ 메타인지 신호: ${signals}`;
}

/** The ranked table over all mazes, best mean Score first, and the best model's line; empty where nothing was answered. */
export function comparison(records: readonly SeedShapeRecord[], columns: number): string {
  const ranked = meansByModel(records);
  const [best] = ranked;
  if (best === undefined) return "no model answered";
  const rows = ranked.map((row, place) => [
    medals[place] ?? String(place + 1),
    singleLine(row.name),
    ...[row.sr, row.mei, row.ce, row.brs].map(fixed),
    row.hallucinations === null ? "-" : row.hallucinations.toFixed(1),
    fixed(row.score),
  ]);
  const head = ["순위", "모델", "SR", "MEI★", "CE", "BRS", "환각", "Score"];
  return [
    "HalluMaze 종합 비교",
    drawTable(head, rows, Math.max(columns, 100)),
    "",
    `  ★ 최고 점수: ${singleLine(best.name)} — HalluScore ${fixed(best.score)} | MEI ${fixed(best.mei)}`,
  ].join("\n");
}

const medals = ["🥇", "🥈", "🥉"] as const;

interface ModelMeans {
  readonly name: string;
  readonly sr: number | null;
  readonly mei: number | null;
  readonly ce: number | null;
  readonly brs: number | null;
  readonly hallucinations: number | null;
  readonly score: number | null;
}

function meansByModel(records: readonly SeedShapeRecord[]): readonly ModelMeans[] {
  const models = new Map<string, SeedShapeResult[]>();
  for (const result of records.flatMap((record) => record.results)) {
    const name = `${result.provider}/${result.model}`;
    models.set(name, [...(models.get(name) ?? []), result]);
  }
  return [...models]
    .map(([name, results]) => ({
      name,
      sr: mean(results.map((result) => result.sr)),
      mei: mean(results.map((result) => result.mei)),
      ce: mean(results.map((result) => result.ce)),
      brs: mean(results.map((result) => result.brs)),
      hallucinations: mean(results.map((result) => result.hallucination_count)),
      score: mean(results.map((result) => result.hallumaze_score)),
    }))
    .filter((model) => model.score !== null)
    .sort((a, b) => (b.score ?? 0) - (a.score ?? 0) || a.name.localeCompare(b.name));
}

/** Mean of the known values; null where none is known. */
function mean(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

function fixed(value: number | null): string {
  return value === null ? "None" : value.toFixed(3);
}
