/** What a stretch of a reply stands for. */
export interface ReplySpan {
  /** [start, end) in UTF-16 code units of the reply. */
  readonly start: number;
  readonly end: number;
  /** 0-based attempts read from a line or a quotation of a judgement by its number. */
  readonly mark:
    | { readonly kind: "attempts"; readonly first: number; readonly last: number }
    | { readonly kind: "quote"; readonly judgement: number };
}

/** A stretch of one line with all that it stands for. */
export interface LinePiece {
  readonly text: string;
  readonly marks: readonly ReplySpan["mark"][];
}

/** One line of a reply. Its text is cut when it is shown, so that a reply of a million letters opens at once. */
export interface ReplyLine {
  /** [start, end) without the line's end. */
  readonly start: number;
  readonly end: number;
  /** The spans that touch the line. */
  readonly spans: readonly ReplySpan[];
}

/** Longest stretch that is shown as one line: a reply without line ends must not become one endless row. */
const lineLengthMax = 400;

/** Cuts a reply into lines, each with the spans that touch it. Linear in the reply and the spans (sorted here). */
export function replyLines(text: string, spans: readonly ReplySpan[]): readonly ReplyLine[] {
  const sorted = spans.toSorted((one, other) => one.start - other.start);
  const lines: ReplyLine[] = [];
  let open: readonly ReplySpan[] = [];
  let next = 0;
  for (const [start, end] of lineBounds(text)) {
    const touching = open.filter((span) => span.end > start);
    for (let span = sorted[next]; span !== undefined && span.start < end; span = sorted[++next]) {
      if (span.end > start) touching.push(span);
    }
    lines.push({ start, end, spans: touching });
    open = touching.filter((span) => span.end > end);
  }
  return lines;
}

/** A line's text in pieces, cut wherever a span begins or ends. */
export function linePieces(text: string, line: ReplyLine): readonly LinePiece[] {
  const cuts = new Set([line.start, line.end]);
  for (const { start, end } of line.spans) {
    cuts.add(Math.max(start, line.start));
    cuts.add(Math.min(end, line.end));
  }
  const bounds = [...cuts].sort((one, other) => one - other);
  return bounds.slice(0, -1).map((start, at) => {
    const end = bounds[at + 1] ?? line.end;
    const marks = line.spans.filter((span) => span.start < end && span.end > start).map(({ mark }) => mark);
    return { text: text.slice(start, end), marks };
  });
}

/** A row of the pane that shows the replies of a conversation. */
export type ReplyRow =
  | { readonly kind: "turn"; readonly reply: number }
  | { readonly kind: "said"; readonly reply: number; readonly text: string }
  | { readonly kind: "line"; readonly reply: number; readonly number: number; readonly line: ReplyLine };

/** The rows of a conversation: each reply under a head, below what was said to the model before it. */
export function replyRows(
  replies: readonly { readonly text: string; readonly said: string | null }[],
  spansOf: (reply: number) => readonly ReplySpan[],
): readonly ReplyRow[] {
  return replies.flatMap(({ text, said }, reply): readonly ReplyRow[] => [
    { kind: "turn", reply },
    ...(said ?? "")
      .split("\n")
      .flatMap((line): ReplyRow[] => (line === "" ? [] : [{ kind: "said", reply, text: line }])),
    ...replyLines(text, spansOf(reply)).map((line, at): ReplyRow => ({ kind: "line", reply, number: at + 1, line })),
  ]);
}

/** The first row of each attempt; -1 where none was read from a line. */
export function rowsByAttempt(rows: readonly ReplyRow[], attempts: number): Int32Array {
  const found = new Int32Array(attempts).fill(-1);
  rows.forEach((row, at) => {
    if (row.kind !== "line") return;
    for (const { mark } of row.line.spans) {
      if (mark.kind !== "attempts") continue;
      for (let attempt = mark.first; attempt <= mark.last && attempt < attempts; attempt++) {
        if (found[attempt] === -1) found[attempt] = at;
      }
    }
  });
  return found;
}

function* lineBounds(text: string): Generator<readonly [start: number, end: number]> {
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    const isEnd = at === text.length || text[at] === "\n";
    if (!isEnd && (at - start < lineLengthMax || isLowSurrogate(text, at))) continue;
    const trimmed = isEnd && at < text.length && text[at - 1] === "\r" && at > start ? at - 1 : at;
    yield [start, trimmed];
    start = isEnd ? at + 1 : at;
  }
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
