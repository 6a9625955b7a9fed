/** A stretch of the raw reply, in UTF-16 code units: [start, end). */
export type Stretch = readonly [start: number, end: number];

/** A reply with its reasoning set apart. */
export interface SplitReply {
  /** What is scored, in order. */
  readonly visible: readonly Stretch[];
  /** The reasoning's text, blocks joined by a line feed; null where there is none. */
  readonly reasoning: string | null;
  /** True where the last block was never closed: the reply was cut while reasoning. */
  readonly unclosed: boolean;
}

type Mark = {
  readonly kind: "open" | "close" | "channel";
  readonly start: number;
  readonly end: number;
  /** Of a channel: true where its text is an answer. */
  readonly answers: boolean;
  /** Of an opening or closing mark: what it belongs to, as tags and tokens do not close each other. */
  readonly family: string;
};

const tagNames =
  "think(?:ing)?|thoughts?|reason(?:ing)?|reasoning_content|analysis|reflection|scratchpad|(?:inner_|internal_)?monologue|chain_of_thought|cot|antthinking|seed:think";

/** Every quantifier is bounded, so that each place costs a constant. */
const marks = new RegExp(
  [
    `(?:<|&lt;)\\s{0,3}\\/?\\s{0,3}(?:${tagNames})(?:\\s[^<>\\n]{0,200})?\\s{0,3}\\/?(?:>|&gt;)`,
    "<\\|{1,2}\\s{0,2}(?:begin_of_thought|start_thinking|think(?:ing)?|thought|end_of_thought|end_thinking|/think(?:ing)?|/thought)\\s{0,2}\\|{1,2}>",
    "\\[\\/?THINK(?:ING)?\\]",
    "◁\\/?think▷",
    "<details\\s[^<>\\n]{0,100}type=.?reasoning[^<>\\n]{0,100}>",
    "</details>",
    "<\\|channel\\|?>\\s{0,3}[A-Za-z]{0,20}[^<\\n]{0,80}(?:<\\|message\\|>)?",
    "<\\|(?:end|return|call|im_end|eot_id|start)\\|>(?:assistant(?=<\\|channel))?|<channel\\|>",
  ].join("|"),
  "gi",
);

/**
 * Sets the reasoning of a reply apart: tags such as `<think>` (also escaped, with attributes, in capitals), bracket and
 * token forms, and channel blocks of which only `final` is an answer.
 *
 * The first closing mark closes a block, however often it was opened. A closing mark without an opening one means that
 * all before it is reasoning (the opening one stood in the prompt). A mark in inline code is a mention, not a mark.
 * Linear time.
 */
export function splitReasoning(text: string): SplitReply {
  const found = readMarks(text);
  const answer = found.length === 0 ? strippedChannels(text) : null;
  if (answer !== null) return finish(text, [[0, answer.start]], [[answer.end, text.length]], false);
  const hidden: Stretch[] = [];
  const visible: Stretch[] = [];
  let from = 0;
  let open: Mark | null = null;
  for (const mark of found) {
    if (open !== null) {
      if (!closes(open, mark)) continue;
      hidden.push([open.end, mark.start]);
      open = mark.kind === "channel" && !mark.answers ? mark : null;
      from = mark.end;
      continue;
    }
    if (mark.kind === "open" || (mark.kind === "channel" && !mark.answers)) {
      visible.push([from, mark.start]);
      open = mark;
    } else if (mark.kind === "close" && mark.family !== "stop" && mark.family !== "details") {
      // All text up to here is reasoning, also what looked visible between two blocks.
      hidden.length = 0;
      visible.length = 0;
      hidden.push([0, mark.start]);
    } else {
      visible.push([from, mark.start]);
    }
    from = mark.end;
  }
  if (open !== null) hidden.push([open.end, text.length]);
  else visible.push([from, text.length]);
  return finish(text, hidden, visible, open !== null);
}

function finish(text: string, hidden: readonly Stretch[], visible: readonly Stretch[], unclosed: boolean): SplitReply {
  return {
    visible: visible.filter(([start, end]) => end > start),
    reasoning: hidden.length === 0 ? null : hidden.map(([start, end]) => text.slice(start, end)).join("\n"),
    unclosed,
  };
}

function closes(open: Mark, mark: Mark): boolean {
  if (open.kind === "channel") return mark.kind === "channel" || mark.family === "stop";
  return mark.kind === "close" && mark.family === open.family;
}

function readMarks(text: string): readonly Mark[] {
  const found: Mark[] = [];
  marks.lastIndex = 0;
  for (let match = marks.exec(text); match !== null; match = marks.exec(text)) {
    const [written] = match;
    const [start, end] = [match.index, match.index + written.length];
    if (text[start - 1] === "`" && text[end] === "`") continue;
    // `<think/>` opens nothing.
    if (written.endsWith("/>") || written.endsWith("/&gt;")) continue;
    found.push({ start, end, ...classify(written) });
  }
  return found;
}

type Class = Pick<Mark, "kind" | "family" | "answers">;

const classes: Readonly<Record<string, Class>> = {
  tag: { kind: "open", family: "tag", answers: false },
  tagEnd: { kind: "close", family: "tag", answers: false },
  token: { kind: "open", family: "token", answers: false },
  tokenEnd: { kind: "close", family: "token", answers: false },
  bracket: { kind: "open", family: "bracket", answers: false },
  bracketEnd: { kind: "close", family: "bracket", answers: false },
  triangle: { kind: "open", family: "triangle", answers: false },
  triangleEnd: { kind: "close", family: "triangle", answers: false },
  details: { kind: "open", family: "details", answers: false },
  detailsEnd: { kind: "close", family: "details", answers: false },
  channel: { kind: "channel", family: "channel", answers: false },
  answer: { kind: "channel", family: "channel", answers: true },
  stop: { kind: "close", family: "stop", answers: false },
} satisfies Record<string, Class>;

function classify(written: string): Class {
  return classes[className(written.toLowerCase())] ?? unknownMark;
}

const unknownMark: Class = { kind: "close", family: "stop", answers: false };

function className(text: string): string {
  const ends = /^(?:.|&lt;)\s{0,3}\//s.test(text);
  if (text.startsWith("[")) return ends ? "bracketEnd" : "bracket";
  if (text.startsWith("◁")) return ends ? "triangleEnd" : "triangle";
  if (text === "<channel|>") return "stop";
  if (text.startsWith("<|channel")) {
    const name = /^<\|channel\|?>\s*([a-z]*)/.exec(text)?.[1] ?? "";
    return name === "final" || name === "answer" || name === "response" ? "answer" : "channel";
  }
  if (text.startsWith("<|")) {
    if (/^<\|(?:end|return|call|im_end|eot_id|start)\|>/.test(text)) return "stop";
    return /^<\|{1,2}\s*(?:end|\/)/.test(text) ? "tokenEnd" : "token";
  }
  if (text.startsWith("<details")) return "details";
  if (text === "</details>") return "detailsEnd";
  return ends ? "tagEnd" : "tag";
}

/** Channel markers whose special tokens a server has stripped: `analysis… assistantfinal…`. */
function strippedChannels(text: string): { readonly start: number; readonly end: number } | null {
  const head = text.trimStart();
  if (!head.startsWith("analysis")) return null;
  const marker = "assistantfinal";
  const start = text.indexOf(marker);
  return start < 0 ? null : { start, end: start + marker.length };
}
