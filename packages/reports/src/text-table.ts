import Table from "cli-table3";

const plainCharacters = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};

/** Draws a table without frames: the first column to the left, the others to the right. `columns` is the terminal's width. */
export function drawTable(head: readonly string[], rows: readonly (readonly string[])[], columns: number): string {
  const table = new Table({
    head: [...head],
    chars: plainCharacters,
    colAligns: head.map((_, column) => (column === 0 ? "left" : "right")),
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
  });
  table.push(...rows.map((row) => row.map(singleLine)));
  return table
    .toString()
    .split("\n")
    .map((line) => (line.length > columns && columns > 20 ? `${line.slice(0, columns - 1)}…` : line.trimEnd()))
    .join("\n");
}

/** Text of a model or a server is data: no control character of it reaches the terminal. */
export function singleLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this removes.
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, " ");
}

/** Writes a count with thousands separated, the same in every locale. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Writes a duration for a person: `4.2 s`, `3 min 05 s`, `2 h 10 min`. */
export function formatDuration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(Math.floor(seconds % 60)).padStart(2, "0")} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

/** A name as a shell takes it: in single quotes where it holds more than letters, digits and `._/@:+-`. */
export function quoted(name: string): string {
  return /^[A-Za-z0-9._/@:+-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}
