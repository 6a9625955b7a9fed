/**
 * Tells whether some object of a JSON text names a key twice. `JSON.parse` keeps the last one silently, so that a reader
 * and a person could see two different verdicts.
 *
 * `text` must be valid JSON (parse it first): then strings and brackets are all there is to look at, and nesting of any
 * depth costs no call stack. Keys are compared as read, so `"le\u0076el"` is `"level"`. Linear time.
 */
export function hasDuplicateKey(text: string): boolean {
  const open: (Set<string> | null)[] = [];
  for (const match of text.matchAll(/"[^"\\]*(?:\\[\s\S][^"\\]*)*"(?<colon>\s*:)?|[{}[\]]/g)) {
    const token = match[0];
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(null);
    else if (token === "}" || token === "]") open.pop();
    else if (match.groups?.["colon"] !== undefined) {
      const key = String(JSON.parse(token.slice(0, token.lastIndexOf('"') + 1)));
      const keys = open.at(-1);
      if (keys?.has(key) === true) return true;
      keys?.add(key);
    }
  }
  return false;
}
