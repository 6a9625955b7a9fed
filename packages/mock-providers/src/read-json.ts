import { estimateTokens } from "@hallumaze/protocol";
import type { Message } from "@hallumaze/solvers";

/** A JSON object of unknown content. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Gives the value as an object; an empty one where it is none. */
export function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** Gives the value as a list; an empty one where it is none. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Gives the value where it is a text, else null. */
export function asText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Gives the value where it is a number, else null. */
export function asNumber(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** Joins the text of a message's content, be it a text or a list of parts with `text`; other parts are left out. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  return asList(content)
    .map((part) => (typeof part === "string" ? part : (asText(asObject(part)["text"]) ?? "")))
    .join("");
}

/** Names every value of a body by its path: `temperature`, `generationConfig.maxOutputTokens`. Lists end a path. */
export function parameterPaths(body: unknown): ReadonlySet<string> {
  const paths = new Set<string>();
  const visit = (value: unknown, prefix: string): void => {
    for (const [name, inner] of Object.entries(asObject(value))) {
      const path = prefix === "" ? name : `${prefix}.${name}`;
      paths.add(path);
      visit(inner, path);
    }
  };
  visit(body, "");
  return paths;
}

/** Estimates the tokens of a whole conversation. */
export function inputTokensOf(system: string, messages: readonly Message[]): number {
  return messages.reduce((sum, { content }) => sum + estimateTokens(content), estimateTokens(system));
}

/** Cuts a text into the pieces that a stream sends of about `size` UTF-16 units; none for an empty text. */
export function piecesOf(text: string, size = 48): readonly string[] {
  const pieces: string[] = [];
  let start = 0;
  while (start < text.length) {
    let end = Math.min(text.length, start + size);
    // A surrogate pair stays whole: vendors cut by tokens, not by halves of a character.
    if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(end))) {
      end += 1;
    }
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}
