import type { StorePort, SweepRecord } from "@hallumaze/engine";
import { closest } from "fastest-levenshtein";

import { UsageError } from "./errors.ts";

/** Finds a sweep by name; an unknown name is a usage error that lists the nearest. */
export async function findSweep(
  store: Pick<StorePort, "findSweep" | "listSweeps">,
  name: string,
): Promise<SweepRecord> {
  const sweep = await store.findSweep(name);
  if (sweep) return sweep;
  const names = (await store.listSweeps()).map((known) => known.name);
  if (names.length === 0) throw new UsageError(`there is no sweep "${name}": this database holds none yet. Start one with: hallumaze run SPEC`);
  throw new UsageError(`there is no sweep "${name}"; the nearest is "${closest(name, names)}". hallumaze status lists all.`);
}
