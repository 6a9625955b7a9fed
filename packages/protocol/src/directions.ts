import type { Direction } from "@hallumaze/maze";

/** How a direction is written: two tokens of unlike form beside each other may name one move twice (`S↓`, `남쪽(S)`). */
export type DirectionForm = "letter" | "word" | "arrow";

const latinWords: Readonly<Record<string, Direction>> = {
  north: "N",
  northward: "N",
  northwards: "N",
  up: "N",
  upward: "N",
  upwards: "N",
  south: "S",
  southward: "S",
  southwards: "S",
  down: "S",
  downward: "S",
  downwards: "S",
  east: "E",
  eastward: "E",
  eastwards: "E",
  right: "E",
  rightward: "E",
  rightwards: "E",
  west: "W",
  westward: "W",
  westwards: "W",
  left: "W",
  leftward: "W",
  leftwards: "W",
};

const koreanStems: Readonly<Record<string, Direction>> = {
  북: "N",
  위: "N",
  상: "N",
  남: "S",
  아래: "S",
  하: "S",
  동: "E",
  오른: "E",
  우: "E",
  서: "W",
  왼: "W",
  좌: "W",
};

const arrows: Readonly<Record<string, Direction>> = {
  "↑": "N",
  "⬆": "N",
  "⇧": "N",
  "⇑": "N",
  "🔼": "N",
  "▲": "N",
  "👆": "N",
  "☝": "N",
  "↓": "S",
  "⬇": "S",
  "⇩": "S",
  "⇓": "S",
  "🔽": "S",
  "▼": "S",
  "👇": "S",
  "→": "E",
  "➡": "E",
  "⇨": "E",
  "👉": "E",
  "←": "W",
  "⬅": "W",
  "⇦": "W",
  "⇐": "W",
  "👈": "W",
};

/** Arrows to the right that separate as often as they point: which one they do is decided by where they stand. */
const separatingArrows = new Set(["→", "➡"]);

/** Reads an arrow or arrow emoji; null where the character is none. */
export function arrowDirection(character: string): { readonly dir: Direction; readonly separates: boolean } | null {
  const dir = Object.hasOwn(arrows, character) ? arrows[character] : undefined;
  return dir === undefined ? null : { dir, separates: separatingArrows.has(character) };
}

/** Reads a Latin word or letter as a direction; null where it is none. */
export function latinDirection(word: string): { readonly dir: Direction; readonly form: DirectionForm } | null {
  if (word.length > 10) return null;
  const lower = word.toLowerCase();
  if (lower.length === 1) {
    const letter = lower.toUpperCase();
    return letter === "N" || letter === "E" || letter === "S" || letter === "W"
      ? { dir: letter, form: "letter" }
      : null;
  }
  const dir = Object.hasOwn(latinWords, lower) ? latinWords[lower] : undefined;
  return dir === undefined ? null : { dir, form: "word" };
}

/** Upper-case words of direction letters only that are not lists of moves. */
const notMoves = new Set(["NEW", "WE", "SEE", "SEEN", "NEWS", "WEE", "SEWN"]);

/** Reads a run of direction letters such as `SSE` as several moves; null where it is none. */
export function letterRun(word: string): readonly Direction[] | null {
  if (word.length < 2 || notMoves.has(word)) return null;
  const moves: Direction[] = [];
  for (const letter of word) {
    if (letter !== "N" && letter !== "E" && letter !== "S" && letter !== "W") return null;
    moves.push(letter);
  }
  return moves;
}

const koreanPattern =
  /^(?:(오른|왼)(?:쪽|편|측)|(북|남|동|서|위|아래|상|하|좌|우))(쪽|측|편|방)?(방향|향)?(으로|로)?(이동|감|갑니다|간다|가기)?$/;

/**
 * Reads a Korean word, with or without its particle, as a direction; null where it is none. `moves` is true where a
 * particle says that one goes that way (`남쪽으로`), which a remark about a side (`남쪽은 벽`) lacks.
 */
export function koreanDirection(word: string): { readonly dir: Direction; readonly moves: boolean } | null {
  // 서로 means "each other"; no word longer than this is a direction with a particle.
  if (word.length > 12 || word === "서로") return null;
  const match = koreanPattern.exec(word);
  const stem = match?.[1] ?? match?.[2];
  if (match === null || stem === undefined) return null;
  const dir = koreanStems[stem];
  return dir === undefined ? null : { dir, moves: match[5] !== undefined || match[6] !== undefined };
}
