import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, normalize, sep } from "node:path";

import type { ExperimentList, ExperimentView, GridView, LeaderboardView } from "@hallumaze/contract";
import {
  comparePath,
  experimentPath,
  experimentsPath,
  figurePath,
  gridPath,
  leaderboardPath,
  pairsPath,
  sweepPath,
  sweepsPath,
  tablePath,
  trialPath,
  wholeBoard,
} from "@hallumaze/display";

import { findPage } from "./find-page.ts";

/** What a page without a service shows: the service's replies as they were at one moment. */
export interface Snapshot {
  /** The sweep that it opens with. */
  readonly sweep: string;
  /** When it was made, as an ISO time. */
  readonly madeAt: string;
  /** JSON replies by their path and query, such as `/api/sweeps/overnight/grid?metric=state`. */
  readonly replies: Readonly<Record<string, unknown>>;
  /** Figures and tables to download, by their path: their contents. */
  readonly files: Readonly<Record<string, string | Uint8Array>>;
}

/**
 * Writes a page of one sweep into a folder, for a project's site: the built page, `snapshot.json` that it reads in the
 * service's place, and the files to download. It asks no other server, and cannot change anything.
 */
export async function exportPage(snapshot: Snapshot, folder: string): Promise<void> {
  const page = await findPage();
  await mkdir(folder, { recursive: true });
  await cp(page, folder, { recursive: true });
  const { files, ...told } = snapshot;
  const places = Object.entries(files).map(([path, content]) => ({ path, place: placeOf(path), content }));
  for (const { place, content } of places) {
    await mkdir(dirname(join(folder, place)), { recursive: true });
    await writeFile(join(folder, place), content);
  }
  const named = Object.fromEntries(places.map(({ path, place }) => [path, place.split(sep).join("/")]));
  await writeFile(join(folder, "snapshot.json"), JSON.stringify({ ...told, files: named }));
  const index = join(folder, "index.html");
  const html = await readFile(index, "utf8");
  // A site sends no headers of ours: the policy stands in the page, but for what only a header can say.
  const policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'";
  const metas = `<meta http-equiv="content-security-policy" content="${policy}"><meta name="hallumaze-snapshot" content="snapshot.json">`;
  await writeFile(index, html.replace("<head>", `<head>${metas}`));
}

/** A path as a file below the folder: what would lead out of it is refused. */
function placeOf(path: string): string {
  const place = normalize(join("files", path.replace(/[^\w./-]/g, "_")));
  if (place.startsWith("..") || !place.startsWith(`files${sep}`)) throw new Error(`${path} leads out of the folder.`);
  return place;
}

/** How the service's answers are read: JSON, or the bytes of a file; null where it has none. */
export interface ServiceReader {
  readonly json: (path: string) => Promise<unknown>;
  readonly bytes: (path: string) => Promise<Uint8Array | null>;
}

const metrics = ["state", "robust.mei", "robust.sr", "seed.mei", "seed.sr"];
const profiles = ["robust", "seed", "published"];
/** All pairs of so many models at the top of the board are compared. */
const comparedMax = 6;

/**
 * Reads all that a page of one sweep shows without a service: its grid, leaderboards (whole, and by each filter alone), pairs
 * of its best models, experiments with figures and tables, and the first so many trials. One request at a time.
 *
 * Rejects where the sweep itself cannot be read; what else the service does not have is left out.
 */
export async function collectSnapshot(
  name: string,
  reader: ServiceReader,
  options: { readonly madeAt: string; readonly trials: number },
): Promise<Snapshot> {
  const replies: Record<string, unknown> = {};
  const files: Record<string, Uint8Array> = {};
  // The service's answers are held to the contract where they are made.
  const keep = async <T>(path: string): Promise<T | null> => {
    const reply = await reader.json(path);
    if (reply !== null) replies[path] = reply;
    return reply as T | null;
  };
  const keepFile = async (path: string) => {
    const bytes = await reader.bytes(path);
    if (bytes !== null) files[path] = bytes;
  };

  if ((await keep(sweepPath(name))) === null) throw new Error(`There is no sweep ${name}.`);
  replies[sweepsPath] = { sweeps: [] };
  const grid = await keep<GridView>(gridPath(name, "state"));
  for (const metric of metrics.slice(1)) await keep(gridPath(name, metric));
  await keepBoards(name, keep);
  const list = await keep<ExperimentList>(experimentsPath(name));
  for (const { experiment, whyNot } of list?.experiments ?? []) {
    if (whyNot !== null) continue;
    const view = await keep<ExperimentView>(experimentPath(name, experiment));
    for (const figure of view?.figures ?? []) {
      const path = figurePath(name, experiment, figure.name);
      await keep(`${path}.json`);
      await keepFile(`${path}.svg`);
      await keepFile(`${path}.pdf`);
    }
    for (const table of view?.tables ?? []) await keepFile(`${tablePath(name, experiment, table.name)}.csv`);
  }
  for (const id of shownFirst(grid, options.trials)) {
    await keep(trialPath(id));
    await keep(pairsPath(name, id));
  }
  return { sweep: name, madeAt: options.madeAt, replies, files };
}

async function keepBoards(name: string, keep: <T>(path: string) => Promise<T | null>): Promise<void> {
  const whole = await keep<LeaderboardView>(leaderboardPath(name, wholeBoard));
  if (whole === null) return;
  const { sizes, groups, mirages, languages } = whole.choices;
  for (const profile of profiles) {
    const board = { ...wholeBoard, profile };
    await keep(leaderboardPath(name, board));
    for (const size of sizes) await keep(leaderboardPath(name, { ...board, size: String(size) }));
    for (const group of groups) await keep(leaderboardPath(name, { ...board, group }));
    for (const mirage of mirages) await keep(leaderboardPath(name, { ...board, mirage: mirage ? "on" : "off" }));
    for (const language of languages) await keep(leaderboardPath(name, { ...board, language }));
  }
  const models = whole.rows.slice(0, comparedMax).map(({ model }) => model);
  for (const a of models) {
    for (const b of models) {
      if (a !== b) await keep(comparePath(name, { a, b, metric: "mei" }, wholeBoard));
    }
  }
}

/** Ids of finished trials, the same number of each row of the grid, so that each model and condition can be looked at. */
function shownFirst(grid: GridView | null, count: number): readonly string[] {
  if (grid === null || count === 0) return [];
  const done = grid.states.indexOf("done");
  const rows = new Map<string, string[]>();
  grid.cells.trialId.forEach((id, at) => {
    if (grid.cells.state[at] !== done) return;
    const row = `${grid.cells.model[at]} ${grid.cells.condition[at]}`;
    const ids = rows.get(row);
    if (ids === undefined) rows.set(row, [id]);
    else ids.push(id);
  });
  const chosen: string[] = [];
  for (let turn = 0; chosen.length < count; turn++) {
    const next = [...rows.values()].flatMap((ids) => ids[turn] ?? []);
    if (next.length === 0) break;
    chosen.push(...next.slice(0, count - chosen.length));
  }
  return chosen;
}
