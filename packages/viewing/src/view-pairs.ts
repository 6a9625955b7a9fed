import type { PairList } from "@hallumaze/contract";
import type { CellPlan } from "@hallumaze/sweep";

import type { MazeRow, PersonRow } from "./ports.ts";

type Pair = PairList["pairs"][number];

const order: readonly Pair["relation"][] = ["mirage", "model", "human", "repeat", "condition"];

/** The trials on a trial's maze, itself left out, by what differs: mirage alone first, then the model, people, the rest. */
export function viewPairs(
  trial: { readonly trialId: string; readonly alias: string; readonly plan: CellPlan },
  rows: readonly MazeRow[],
  people: readonly Pair[],
): PairList {
  const pairs = rows
    .filter(({ trialId }) => trialId !== trial.trialId)
    .map((row) => toPair(row, relationOf(trial, row)));
  const place = ({ relation }: Pair): number => order.indexOf(relation);
  return { pairs: [...pairs, ...people].sort((a, b) => place(a) - place(b)) };
}

/** A sweep's trials on the maze that a person walked, those with the same hints first. */
export function viewPairsOfPerson(person: Pick<PersonRow, "mirage">, rows: readonly MazeRow[]): PairList {
  const isAlike = (row: MazeRow): boolean => row.mirage === (person.mirage ?? true);
  const pairs = rows.map((row) => toPair(row, isAlike(row) ? "model" : "condition"));
  return { pairs: pairs.sort((a, b) => order.indexOf(a.relation) - order.indexOf(b.relation)) };
}

function toPair(row: MazeRow, relation: Pair["relation"]): Pair {
  const { trialId, alias, size, group, mirage, language, confidence, repeat, state, outcome, sr, mei } = row;
  return {
    trialId,
    relation,
    model: alias,
    size,
    group,
    mirage,
    language,
    confidence,
    repeat,
    state,
    outcome,
    sr,
    mei,
  };
}

function relationOf(
  { alias, plan }: { readonly alias: string; readonly plan: CellPlan },
  row: MazeRow,
): Pair["relation"] {
  const differs = {
    model: row.alias !== alias,
    mirage: row.mirage !== plan.mirage,
    repeat: row.repeat !== plan.repeat,
    condition: row.group !== plan.group || row.language !== plan.language || row.confidence !== plan.confidence,
  };
  const [only, ...more] = (["model", "mirage", "repeat", "condition"] as const).filter((name) => differs[name]);
  return only === undefined || more.length > 0 ? "condition" : only;
}
