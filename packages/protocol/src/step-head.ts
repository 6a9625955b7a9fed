/** How a STEP line begins. */
export interface StepHead {
  /** Null where the number is a placeholder (`STEP N`). */
  readonly index: number | null;
  /** Where the rest of the line begins. */
  readonly end: number;
  /** True where a colon or the like follows the number; without one the line must name a move to be a step. */
  readonly marked: boolean;
}

const label = "(?:steps?|스텝|단계)";
const number = "(?<index>\\d{1,9})";
const placeholder = "(?<placeholder>[NnMKXi#?]|\\{[a-z]\\}|<[a-zA-Z]>|…|\\.{3})(?![A-Za-z])";
const heads = new RegExp(
  `^(?:[([{<]\\s?)?(?:${label}\\s{0,4}(?:[#_\\-:=.([]|no\\.?|번호)?\\s{0,4}(?:${number}|${placeholder})|제?\\s?(?<ordinal>\\d{1,9})\\s{0,2}(?:번째\\s?)?(?:단계|스텝))(?:\\s?\\/\\s?\\d{1,6})?\\s{0,4}(?:[)\\]}>](?!=))?\\s{0,4}`,
  "i",
);

/** Reads the beginning of a STEP line (`STEP 1:`, `Step #01 -`, `1단계:`); null where the text has none. */
export function readStepHead(text: string): StepHead | null {
  if (!"sS스단제[({<0123456789".includes(text.charAt(0)) || text === "") return null;
  const head = text.slice(0, 60);
  const match = heads.exec(head);
  if (match === null) return null;
  const digits = match.groups?.["index"] ?? match.groups?.["ordinal"];
  let end = match[0].length;
  const rest = head.slice(end);
  // A number goes on (`STEP 1.5`, `step 3rd`): not a step's.
  if (/^\.\d|^[A-Za-z]{2}/.test(rest) && digits !== undefined && !/\s$/.test(match[0])) return null;
  const mark = /^(?:[:.)|,;]|-{1,2}(?!>)|[–—]|(?=[=~-]{1,2}>|[>→⇒➜➡⟶↦])|$)\s{0,4}/.exec(rest);
  const marked = mark !== null && !rest.startsWith(",");
  if (mark !== null) end += mark[0].length;
  return { index: digits === undefined ? null : Number(digits), end, marked };
}
