/** One event of a streamed reply. */
export interface StreamEvent {
  /** The event's name; null where it has none. */
  readonly name: string | null;
  readonly data: string;
  /** The data read as JSON; undefined where it is none. */
  readonly json: unknown;
}

/** What a reply's bytes hold. */
export type ReplyBody =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "events"; readonly events: readonly StreamEvent[] }
  | { readonly kind: "nothing" }
  | { readonly kind: "text"; readonly text: string };

/**
 * The body as a text that loses nothing: the text itself where the bytes are UTF-8, else a base64 data URL of them.
 * `redact` is applied before the bytes are hidden behind base64.
 */
export function keepBody(body: Buffer, redact: (text: string) => string): string {
  try {
    return redact(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    const clean = Buffer.from(redact(body.toString("latin1")), "latin1");
    return `data:application/octet-stream;base64,${clean.toString("base64")}`;
  }
}

/**
 * Reads a body by what it is, not by what was asked for: some servers stream unasked, and errors of a stream come as
 * plain JSON. Filler that servers send while they queue (blank lines, `: keep-alive`) is skipped.
 */
export function readBody(body: Buffer): ReplyBody {
  const text = body.toString("utf8").replace(/^\uFEFF/, "");
  const start = text.replace(/^(?:[ \t]*(?::[^\r\n]*)?(?:\r\n|\r|\n))+/, "").trimStart();
  if (start.replace(/^:.*$/gm, "").trim() === "") return { kind: "nothing" };
  if (/^(?:data|event|id|retry):/.test(start)) return { kind: "events", events: readEvents(text) };
  const value = readJson(start);
  return value === undefined ? { kind: "text", text: start } : { kind: "json", value };
}

/** SOURCE: WHATWG HTML, "Server-sent events", event stream interpretation. A last event without its blank line counts. */
function readEvents(text: string): readonly StreamEvent[] {
  const events: StreamEvent[] = [];
  let name: string | null = null;
  let data: string[] = [];
  const dispatch = (): void => {
    if (data.length > 0) {
      const joined = data.join("\n");
      events.push({ name, data: joined, json: readJson(joined) });
    }
    name = null;
    data = [];
  };
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line === "") dispatch();
    else if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
    else if (line.startsWith("event:")) name = line.slice(6).trim();
  }
  dispatch();
  return events;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
