import type { ViewCell } from "./replay.ts";

/** A compass direction. */
export type Heading = "N" | "E" | "S" | "W";

/** One move that a person tried. */
export interface PersonMove {
  readonly from: ViewCell;
  readonly dir: Heading;
  /** Where the move would lead, whether that way was open or not. */
  readonly to: ViewCell;
  readonly open: boolean;
  /** What the person said before it, 0 … 1; null where nothing was said. */
  readonly confidence: number | null;
}

/** A person's walk so far. `rows` holds a number a cell: the sum of its open directions N=1, E=2, S=4, W=8. */
export interface PersonWalk {
  readonly rows: readonly (readonly number[])[];
  readonly moves: readonly PersonMove[];
  readonly here: ViewCell;
}

const headings: Readonly<Record<Heading, readonly [down: number, right: number, bit: number]>> = {
  N: [-1, 0, 1],
  E: [0, 1, 2],
  S: [1, 0, 4],
  W: [0, -1, 8],
};

/** A walk at START. */
export function startPersonWalk(rows: readonly (readonly number[])[]): PersonWalk {
  return { rows, moves: [], here: [0, 0] };
}

/** Tries a move: into a wall it is kept as an attempt, and the walker stays, as for models. Nothing moves after EXIT. */
export function tryMove(walk: PersonWalk, dir: Heading, confidence: number | null): PersonWalk {
  if (hasEscaped(walk)) return walk;
  const [row, column] = walk.here;
  const [down, right, bit] = headings[dir];
  const to: ViewCell = [row + down, column + right];
  const open = ((walk.rows[row]?.[column] ?? 0) & bit) !== 0;
  return {
    ...walk,
    moves: [...walk.moves, { from: walk.here, dir, to, open, confidence }],
    here: open ? to : walk.here,
  };
}

/** Tells whether the walker stands on EXIT. */
export function hasEscaped({ rows, here }: PersonWalk): boolean {
  return here[0] === rows.length - 1 && here[1] === rows.length - 1;
}

/** The way walked, without the dead ends that were left again; null before EXIT is reached. */
export function personPath(walk: PersonWalk): readonly ViewCell[] | null {
  if (!hasEscaped(walk)) return null;
  const path: ViewCell[] = [[0, 0]];
  for (const { to, open } of walk.moves) {
    if (!open) continue;
    const before = path.findIndex(([row, column]) => row === to[0] && column === to[1]);
    if (before >= 0) path.splice(before + 1);
    else path.push(to);
  }
  return path;
}

/** The cells that the walker has seen, each once: those stood on. A maze to walk shows no more than a log would. */
export function cellsSeen(walk: PersonWalk): readonly ViewCell[] {
  const seen = new Map<string, ViewCell>([["0 0", [0, 0]]]);
  for (const { to, open } of walk.moves) if (open) seen.set(to.join(" "), to);
  return [...seen.values()];
}
