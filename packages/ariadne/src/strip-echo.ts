/** A shorter stretch than this is no echo by itself: `FINAL_PATH:` stands in the hint, and at the head of a path. */
const shortestEcho = 12;

const breaks = /\r\n|[\n\r\u0085\u2028\u2029]/;

/**
 * Blanks out the lines of an answer that only repeat what the user said: verbatim, quoted, emphasised, in a list, or
 * wrapped anew. The text keeps its length, so that places in it stay true. Linear in the answer.
 *
 * `said` are the further user turns before the answer. SOURCE: benchmark specification, section 7: an echo is no evidence.
 */
export function stripEcho(text: string, said: readonly string[]): string {
  if (said.length === 0) return text;
  const turns = said.map(essence);
  const longest = 4 * Math.max(...said.map((turn) => turn.length));
  // With all its marks, an echo is not that much longer than what it repeats.
  const lines = linesOf(text).map((line) => ({
    ...line,
    essence: line.text.length > longest ? "" : essence(line.text),
  }));
  const kept: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const length = echoLength(lines, at, turns);
    for (const line of lines.slice(at, at + Math.max(1, length))) {
      kept.push(length > 0 ? " ".repeat(line.text.length) : line.text, line.end);
    }
    at += Math.max(1, length);
  }
  return kept.join("");
}

interface Line {
  readonly text: string;
  /** The line break behind it; empty at the end. */
  readonly end: string;
  readonly essence: string;
}

function linesOf(text: string): readonly Omit<Line, "essence">[] {
  const lines: Omit<Line, "essence">[] = [];
  let from = 0;
  for (const match of text.matchAll(new RegExp(breaks, "g"))) {
    lines.push({ text: text.slice(from, match.index), end: match[0] });
    from = match.index + match[0].length;
  }
  lines.push({ text: text.slice(from), end: "" });
  return lines;
}

/** How many lines from `at` on are, taken together, a stretch of one turn; 0 where too little is. */
function echoLength(lines: readonly Line[], at: number, turns: readonly string[]): number {
  let joined = "";
  let length = 0;
  for (let next = at; next < lines.length; next++) {
    const own = lines[next]?.essence ?? "";
    if (own === "") break;
    const longer = joined + own;
    if (!turns.some((turn) => turn.includes(longer))) break;
    joined = longer;
    length = next - at + 1;
  }
  return joined.length < shortestEcho ? 0 : length;
}

/** What is left of a text without marks, spaces, list numbers, tags and letter case. */
function essence(text: string): string {
  return text
    .normalize("NFKC")
    .split(breaks)
    .map((line) => line.replace(/^[^\p{L}\p{N}(]*\(?\d{1,3}[.)]\s+/u, ""))
    .join("\n")
    .toLowerCase()
    .replace(/<\/?[a-z][^<>]{0,100}>|&[a-z]{2,8};|[^\p{L}\p{N}]/gu, "");
}
