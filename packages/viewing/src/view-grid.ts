import type { GridMetric, GridView } from "@hallumaze/contract";

import type { GridColumn, GridRow } from "./ports.ts";

/** Takes cells as they come and writes a grid in columns. Memory: some 60 bytes a cell and its id. */
export interface GridBuilder {
  readonly add: (row: GridRow) => void;
  /** The grid; `truncated` says that there are more cells than were added. */
  readonly finish: (truncated: boolean) => GridView;
}

const states = ["planned", "queued", "running", "done", "failed", "cancelled", "blocked"] as const;

/** The ledger's name of a metric; null for `state`. */
export function gridColumn(metric: GridMetric): GridColumn | null {
  if (metric === "state") return null;
  const [profile, name] = metric.split(".");
  return { profile, metric: name } as GridColumn;
}

/** Opens an empty grid that shows `metric`. */
export function createGrid(metric: GridMetric): GridBuilder {
  const models = numbered<string>();
  const conditions = numbered<GridView["conditions"][number]>();
  const seeds = numbered<number>();
  const [model, condition, seed, state]: [number[], number[], number[], number[]] = [[], [], [], []];
  const value: (number | null)[] = [];
  const trialId: string[] = [];
  return {
    add: (row) => {
      const { size, group, mirage, language, confidence, repeat } = row;
      model.push(models.placeOf(row.alias, row.alias));
      const key = [size, group, mirage, language, confidence, repeat].join(" ");
      condition.push(conditions.placeOf(key, { size, group, mirage, language, confidence, repeat }));
      seed.push(seeds.placeOf(String(row.seed), row.seed));
      state.push(states.indexOf(row.state));
      if (metric !== "state") value.push(row.value);
      trialId.push(row.trialId);
    },
    finish: (truncated) => {
      const byCondition = conditions.sorted(compareConditions);
      const bySeed = seeds.sorted((a, b) => a - b);
      return {
        metric,
        models: models.items,
        conditions: byCondition.items,
        seeds: bySeed.items,
        states: [...states],
        cells: {
          model,
          condition: condition.map((place) => byCondition.places[place] ?? 0),
          seed: seed.map((place) => bySeed.places[place] ?? 0),
          state,
          value,
          trialId,
        },
        range: rangeOf(metric, value),
        truncated,
      };
    },
  };
}

function compareConditions(a: GridView["conditions"][number], b: GridView["conditions"][number]): number {
  const words = (one: typeof a): string => [one.group, one.language, one.confidence ? 1 : 0].join(" ");
  const [left, right] = [words(a), words(b)];
  return (
    a.size - b.size ||
    (left < right ? -1 : left > right ? 1 : 0) ||
    Number(a.mirage) - Number(b.mirage) ||
    a.repeat - b.repeat
  );
}

/** What a metric may be: shares and indices by definition, counts by what there is. */
function rangeOf(metric: GridMetric, values: readonly (number | null)[]): GridView["range"] {
  const name = metric.split(".")[1];
  if (name === undefined) return null;
  let [lo, hi, known] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  for (const value of values) {
    if (value === null) continue;
    known += 1;
    lo = Math.min(lo, value);
    hi = Math.max(hi, value);
  }
  if (known === 0) return null;
  const better = name === "hc" || name === "ce" ? "low" : ["fhr", "bt", "lt"].includes(name) ? "neither" : "high";
  return ["hc", "fhr", "bt", "lt"].includes(name) ? { lo, hi, better } : { lo: 0, hi: 1, better };
}

/** Gives each item a number as it is first met. */
function numbered<Item>() {
  const places = new Map<string, number>();
  const items: Item[] = [];
  return {
    items,
    placeOf: (key: string, item: Item): number => {
      const known = places.get(key);
      if (known !== undefined) return known;
      places.set(key, items.length);
      items.push(item);
      return items.length - 1;
    },
    /** The items in order, and for each old number its new one. */
    sorted: (compare: (a: Item, b: Item) => number): { readonly items: Item[]; readonly places: readonly number[] } => {
      const order = items.map((item, at) => ({ item, at })).sort((a, b) => compare(a.item, b.item));
      const moved = items.map(() => 0);
      for (const [place, { at }] of order.entries()) moved[at] = place;
      return { items: order.map(({ item }) => item), places: moved };
    },
  };
}
