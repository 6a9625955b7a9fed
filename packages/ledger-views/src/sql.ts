/** A statement with its parameters apart: what is in `values` is never part of the text. */
export interface Sql {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
}

/** Writes a statement; another statement among the values becomes a part of it, everything else a parameter. */
export function sql(parts: TemplateStringsArray, ...given: readonly unknown[]): Sql {
  const strings = [parts[0] ?? ""];
  const values: unknown[] = [];
  for (const [at, value] of given.entries()) {
    const next = parts[at + 1] ?? "";
    if (isSql(value)) {
      const [first = "", ...rest] = value.strings;
      strings[strings.length - 1] += first;
      strings.push(...rest);
      values.push(...value.values);
      strings[strings.length - 1] += next;
    } else {
      values.push(value);
      strings.push(next);
    }
  }
  return { strings, values };
}

/** The statement as PostgreSQL takes it, with `$1`, `$2` … in its parameters' places. */
export function textOf({ strings }: Sql): string {
  return strings.reduce((text, part, at) => (at === 0 ? part : `${text}$${at}${part}`), "");
}

function isSql(value: unknown): value is Sql {
  return typeof value === "object" && value !== null && "strings" in value && "values" in value;
}

/** Runs one statement. Rejects with a StoreError. */
export type Query = <Row extends object>(statement: Sql) => Promise<readonly Row[]>;

/** True for the text of a UUID; sent on, an id of any other form would be an error of the statement. */
export function isUuid(id: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
}
