import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, normalize, sep } from "node:path";

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
