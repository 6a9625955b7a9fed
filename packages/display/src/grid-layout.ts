/** A grid in columns, as it is served: places in the lists, one entry a trial. */
export interface GridCells {
  readonly model: readonly number[];
  readonly condition: readonly number[];
  readonly seed: readonly number[];
}

/** One row of the heat map: a model under a condition, by their places in the lists. */
export interface GridRow {
  readonly model: number;
  readonly condition: number;
  /** True where the row begins another model: drawn with a gap above. */
  readonly first: boolean;
}

/** Where each trial of a grid is drawn. */
export interface GridLayout {
  readonly rows: readonly GridRow[];
  readonly columns: number;
  /** Row-major: the trial at a row and column, -1 where the grid has none. */
  readonly trials: Int32Array;
}

/** Lays a grid out: a row for each model and condition that occur together, a column for each seed. Linear. */
export function layOutGrid(cells: GridCells, seeds: number): GridLayout {
  const places = new Map<string, number>();
  const pairs: { readonly model: number; readonly condition: number }[] = [];
  cells.model.forEach((model, at) => {
    const condition = cells.condition[at] ?? 0;
    const key = `${model} ${condition}`;
    if (places.has(key)) return;
    places.set(key, 0);
    pairs.push({ model, condition });
  });
  pairs.sort((one, other) => one.model - other.model || one.condition - other.condition);
  pairs.forEach(({ model, condition }, row) => places.set(`${model} ${condition}`, row));
  const trials = new Int32Array(pairs.length * seeds).fill(-1);
  cells.model.forEach((model, at) => {
    const row = places.get(`${model} ${cells.condition[at] ?? 0}`) ?? 0;
    trials[row * seeds + (cells.seed[at] ?? 0)] = at;
  });
  const rows = pairs.map((pair, row) => ({ ...pair, first: pairs[row - 1]?.model !== pair.model }));
  return { rows, columns: seeds, trials };
}

/** The trial at a row and column; null outside, or where the grid has none. */
export function trialAt(layout: GridLayout, row: number, column: number): number | null {
  if (row < 0 || column < 0 || row >= layout.rows.length || column >= layout.columns) return null;
  const trial = layout.trials[row * layout.columns + column] ?? -1;
  return trial < 0 ? null : trial;
}

/** The trials of one row, left to right. */
export function trialsOfRow(layout: GridLayout, row: number): readonly number[] {
  const start = row * layout.columns;
  return [...layout.trials.subarray(start, start + layout.columns)].filter((trial) => trial >= 0);
}

/** How many of a row's trials are in each state, by the state's place in the list. */
export function countStates(trials: readonly number[], state: readonly number[], states: number): readonly number[] {
  const counts = Array.from({ length: states }, () => 0);
  for (const trial of trials) {
    const at = state[trial] ?? -1;
    if (counts[at] !== undefined) counts[at]++;
  }
  return counts;
}

/** Mean of the known values of trials, with how many are known; null where none is. */
export function meanOf(
  trials: readonly number[],
  value: readonly (number | null)[],
): { readonly mean: number | null; readonly n: number } {
  const known = trials.flatMap((trial) => value[trial] ?? []);
  return {
    n: known.length,
    mean: known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0) / known.length,
  };
}
