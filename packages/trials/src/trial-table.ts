import type { AriadneRecord } from "@hallumaze/ariadne";

import { type MazeFacts, mazeFacts, mazeKeyOf } from "./maze-facts.ts";
import { type Metric, metrics, metricValues, type WalkNumbers } from "./metric-names.ts";
import { type AnswerKind, answerKind, type TrialSource } from "./trial-source.ts";

/** What a trial was run under, apart from model, maze and repeat. */
export interface Condition {
  /** Unique a condition: all its factors. */
  readonly key: string;
  readonly size: number;
  readonly group: "A" | "B" | "C";
  readonly mirage: boolean;
  readonly language: string;
  readonly confidence: boolean;
  readonly placement: string;
}

/** One trial of a table. Null is unknown; a `missing` trial has no value of any metric. */
export interface Trial {
  readonly model: string;
  readonly maze: MazeFacts;
  readonly condition: Condition;
  /** Traps of the maze under this placement, whether the prompt showed them or not. */
  readonly traps: number;
  readonly kind: AnswerKind;
  /** `not-run` where there is none yet. */
  readonly outcome: string;
  /** Null for a missing trial and where none was kept. */
  readonly ariadne: AriadneRecord | null;
  readonly value: (metric: Metric) => number | null;
}

/** Trials kept as columns of numbers: 1,000,000 of them take about 90 MB, and a model's, while it is worked on, some 50 bytes a trial more. */
export interface TrialTable {
  readonly add: (row: TrialSource) => void;
  /** How many trials there are. */
  readonly size: () => number;
  readonly models: () => readonly string[];
  /**
   * A model's trials by maze, condition and repeat, whatever the order of the rows, so that sums over them are the same to
   * the last bit: those that `keep` names, all of them without it.
   */
  readonly ofModel: (model: string, keep?: (trial: Trial) => boolean) => readonly Trial[];
}

const kinds: readonly AnswerKind[] = ["full", "cutOff", "nonAnswer", "missing"];
const chunkRows = 16_384;

/** Opens an empty table. Rows may be added while they are streamed; the stored readings are parsed and let go. */
export function createTrialTable(): TrialTable {
  const columns = metrics.map(() => numberColumn());
  const [models, outcomes] = [interned<string>(), interned<string>()];
  const mazes = interned<MazeFacts>();
  const conditions = interned<Condition>();
  const [modelIds, outcomeIds, mazeIds, conditionIds] = [
    numberColumn(),
    numberColumn(),
    numberColumn(),
    numberColumn(),
  ];
  const [kindIds, trapCounts, repeats] = [numberColumn(), numberColumn(), numberColumn()];
  const traps = new Map<string, number>();
  const records = new Map<number, AriadneRecord>();
  const columnOf = new Map(metrics.map((metric, at) => [metric, columns[at] ?? numberColumn()]));
  let count = 0;
  let ordered: ReadonlyMap<string, Uint32Array> | null = null;

  const add = (row: TrialSource): void => {
    const kind = answerKind(row);
    const maze = mazeOf(row.plan);
    const reading = kind === "missing" || row.readingJson === null ? null : parseReading(row.readingJson);
    const values = kind === "missing" ? null : metricValues(row, reading?.walk ?? null, maze.facts.solutionMoves);
    for (const [metric, column] of columnOf) column.push(values?.[metric] ?? Number.NaN);
    modelIds.push(models.idOf(row.alias, () => row.alias));
    const outcome = row.outcome ?? "not-run";
    outcomeIds.push(outcomes.idOf(outcome, () => outcome));
    mazeIds.push(maze.id);
    const condition = conditionOf(row.plan);
    conditionIds.push(conditions.idOf(condition.key, () => condition));
    kindIds.push(kinds.indexOf(kind));
    trapCounts.push(maze.traps);
    repeats.push(row.plan.repeat);
    if (reading?.ariadne) records.set(count, reading.ariadne);
    count += 1;
    ordered = null;
  };

  const mazeOf = (plan: TrialSource["plan"]): { id: number; facts: MazeFacts; traps: number } => {
    const key = mazeKeyOf(plan);
    const placed = traps.get(`${key} ${plan.placement}`);
    const id = mazes.find(key);
    if (placed !== undefined && id !== undefined) return { id, facts: mazes.at(id), traps: placed };
    const { traps: count, ...facts } = mazeFacts(plan);
    traps.set(`${key} ${plan.placement}`, count);
    return { id: mazes.idOf(key, () => facts), facts, traps: count };
  };

  const read: TrialReader = {
    model: (at) => models.at(modelIds.at(at)),
    maze: (at) => mazes.at(mazeIds.at(at)),
    condition: (at) => conditions.at(conditionIds.at(at)),
    traps: (at) => trapCounts.at(at),
    kind: (at) => kinds[kindIds.at(at)] ?? "missing",
    outcome: (at) => outcomes.at(outcomeIds.at(at)),
    ariadne: (at) => records.get(at) ?? null,
    value: (at, metric) => {
      const value = columnOf.get(metric)?.at(at) ?? Number.NaN;
      return Number.isNaN(value) ? null : value;
    },
  };

  const orderRows = (): ReadonlyMap<string, Uint32Array> => {
    const [mazePlaces, conditionPlaces] = [placesOf(mazes.all()), placesOf(conditions.all())];
    const byModel = new Map<string, number[]>();
    for (let at = 0; at < count; at++) {
      const model = models.at(modelIds.at(at));
      const rows = byModel.get(model);
      if (rows === undefined) byModel.set(model, [at]);
      else rows.push(at);
    }
    const before = (a: number, b: number): number =>
      (mazePlaces[mazeIds.at(a)] ?? 0) - (mazePlaces[mazeIds.at(b)] ?? 0) ||
      (conditionPlaces[conditionIds.at(a)] ?? 0) - (conditionPlaces[conditionIds.at(b)] ?? 0) ||
      repeats.at(a) - repeats.at(b);
    return new Map([...byModel].map(([model, rows]) => [model, Uint32Array.from(rows).sort(before)]));
  };

  return {
    add,
    size: () => count,
    models: () => models.all().toSorted(),
    ofModel: (model, keep) => {
      ordered ??= orderRows();
      const kept: Trial[] = [];
      for (const at of ordered.get(model) ?? []) {
        const trial = new TableTrial(read, at);
        if (keep === undefined || keep(trial)) kept.push(trial);
      }
      return kept;
    },
  };
}

/** Reads one field of the trial at a place. */
type TrialReader = {
  readonly [Field in Exclude<keyof Trial, "value">]: (at: number) => Trial[Field];
} & { readonly value: (at: number, metric: Metric) => number | null };

/** A place in a table: a model's trials are held many at once, so each is two words and reads when it is asked. */
class TableTrial implements Trial {
  readonly #read: TrialReader;
  readonly #at: number;

  constructor(read: TrialReader, at: number) {
    this.#read = read;
    this.#at = at;
  }

  get model(): string {
    return this.#read.model(this.#at);
  }

  get maze(): MazeFacts {
    return this.#read.maze(this.#at);
  }

  get condition(): Condition {
    return this.#read.condition(this.#at);
  }

  get traps(): number {
    return this.#read.traps(this.#at);
  }

  get kind(): AnswerKind {
    return this.#read.kind(this.#at);
  }

  get outcome(): string {
    return this.#read.outcome(this.#at);
  }

  get ariadne(): AriadneRecord | null {
    return this.#read.ariadne(this.#at);
  }

  value(metric: Metric): number | null {
    return this.#read.value(this.#at, metric);
  }
}

/** Puts rows into a table. */
export function trialTable(rows: Iterable<TrialSource>): TrialTable {
  const table = createTrialTable();
  for (const row of rows) table.add(row);
  return table;
}

/** Some models' trials that are not missing, one model's held at a time. */
export function* answeredTrials(table: TrialTable, models: readonly string[]): Generator<Trial> {
  for (const model of models) yield* table.ofModel(model, ({ kind }) => kind !== "missing");
}

function conditionOf({ size, group, mirage, language, confidence, placement }: TrialSource["plan"]): Condition {
  const key = [size, group, mirage ? "mirage" : "plain", language, confidence ? "asked" : "unasked", placement].join(
    " ",
  );
  return { key, size, group, mirage, language, confidence, placement };
}

/** The place of each item in the order of their keys. */
function placesOf(items: readonly { readonly key: string }[]): readonly number[] {
  const order = items.map(({ key }, id) => ({ key, id })).sort((a, b) => (a.key < b.key ? -1 : 1));
  const places = items.map(() => 0);
  for (const [place, { id }] of order.entries()) places[id] = place;
  return places;
}

function parseReading(json: string): { walk: WalkNumbers | null; ariadne: AriadneRecord | null } {
  const { walk = null, ariadne = null } = JSON.parse(json) as {
    readonly walk?: WalkNumbers;
    readonly ariadne?: AriadneRecord;
  };
  return { walk, ariadne };
}

interface NumberColumn {
  readonly push: (value: number) => void;
  readonly at: (index: number) => number;
}

/** Codes that two bytes hold. */
const mostCodes = 65_536;

/**
 * A growing column in chunks: growing one array would hold it twice for a moment. Most columns have few different values
 * (ids, counts, shares of small numbers): a chunk holds two bytes a row, places in the column's list of values, until
 * that list is full; from then on chunks hold the numbers themselves. NaN is unknown.
 */
function numberColumn(): NumberColumn {
  const chunks: (Uint16Array | Float64Array)[] = [];
  const values: number[] = [];
  const codes = new Map<number, number>();
  let length = 0;
  const codeOf = (value: number): number | null => {
    const known = codes.get(value);
    if (known !== undefined) return known;
    if (values.length === mostCodes) return null;
    codes.set(value, values.length);
    values.push(value);
    return values.length - 1;
  };
  return {
    push: (value) => {
      if (length % chunkRows === 0)
        chunks.push(values.length < mostCodes ? new Uint16Array(chunkRows) : new Float64Array(chunkRows));
      let chunk = chunks.at(-1);
      let written = value;
      if (chunk instanceof Uint16Array) {
        const code = codeOf(value);
        if (code === null) {
          chunk = Float64Array.from(chunk, (place) => values[place] ?? Number.NaN);
          chunks[chunks.length - 1] = chunk;
        } else written = code;
      }
      if (chunk !== undefined) chunk[length % chunkRows] = written;
      length += 1;
    },
    at: (index) => {
      const chunk = chunks[Math.floor(index / chunkRows)];
      const held = chunk?.[index % chunkRows] ?? Number.NaN;
      return chunk instanceof Uint16Array ? (values[held] ?? Number.NaN) : held;
    },
  };
}

interface Interned<Item> {
  readonly idOf: (key: string, make: () => Item) => number;
  readonly find: (key: string) => number | undefined;
  readonly at: (id: number) => Item;
  readonly all: () => readonly Item[];
}

function interned<Item>(): Interned<Item> {
  const ids = new Map<string, number>();
  const items: Item[] = [];
  return {
    idOf: (key, make) => {
      const known = ids.get(key);
      if (known !== undefined) return known;
      ids.set(key, items.length);
      items.push(make());
      return items.length - 1;
    },
    find: (key) => ids.get(key),
    at: (id) => {
      const item = items[id];
      if (item === undefined) throw new RangeError(`expected an id below ${items.length}, got ${id}`);
      return item;
    },
    all: () => items,
  };
}
