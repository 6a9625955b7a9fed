import { HalluMazeError } from "@hallumaze/foundation";
import { closest } from "fastest-levenshtein";

/** An operator asked for something that cannot be done as asked; the words say what to say instead. */
export class SteeringError extends HalluMazeError {
  constructor(message: string) {
    super("usage", message);
  }
}

/** Refuses a word that names nothing, with the nearest that does: it would select nothing, and look like success. */
export function checkWord(what: string, word: string, known: readonly string[]): void {
  if (known.includes(word)) return;
  // A word may come from anywhere: what is shown is one line without control characters.
  const shown = JSON.stringify(word.slice(0, 200)).slice(1, -1);
  const nearest = known.length === 0 ? "there is none yet." : `did you mean "${closest(word, known)}"?`;
  throw new SteeringError(`unknown ${what} "${shown}"; ${nearest}`);
}
