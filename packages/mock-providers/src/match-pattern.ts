/** Tells whether a name fits a pattern, in which `*` stands for any text; case counts. */
export function matchesPattern(pattern: string, name: string): boolean {
  const parts = pattern.split("*");
  const [first = "", ...rest] = parts;
  if (rest.length === 0) return pattern === name;
  if (!name.startsWith(first)) return false;
  let position = first.length;
  for (const part of rest.slice(0, -1)) {
    const found = name.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  const last = rest.at(-1) ?? "";
  return name.length - position >= last.length && name.endsWith(last);
}
