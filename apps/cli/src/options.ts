import { InvalidArgumentError } from "commander";

/** Makes an option parser for an integer in [min, max]. */
export function integerBetween(min: number, max: number): (word: string) => number {
  return (word) => {
    const value = Number(word);
    if (!/^-?\d+$/.test(word) || value < min || value > max) {
      throw new InvalidArgumentError(`expected a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}

/** Makes a collecting option parser: comma-separated and repeatable. */
export function list(word: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), ...word.split(",").map((part) => part.trim())].filter((part) => part !== "");
}
