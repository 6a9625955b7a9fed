import type { TrialView } from "@hallumaze/contract";
import {
  type LinePiece,
  linePieces,
  type Replay,
  replyRows,
  type ReplyRow,
  type ReplySpan,
  rowsByAttempt,
  type StepNote,
  visiblePieces,
} from "@hallumaze/display";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type MouseEvent, type ReactNode, useEffect, useMemo, useRef } from "react";

import { usePreferences } from "./preferences.tsx";

/** Signs of steps beside the reply's lines: what a colour alone must not say. */
const signs: Readonly<Partial<Record<StepNote, string>>> = {
  wall: "×",
  outOfGrid: "×",
  teleport: "↷",
  throughWall: "⇥",
  malformed: "?",
  escape: "★",
  trapTaken: "▲",
  loop: "↺",
  deadEnd: "⊥",
  backtrack: "↩",
  retreat: "←",
  rewind: "↩",
  jumpBack: "↶",
  branch: "⑂",
  hint: "✎",
};

/** Of a line that is not broken, as the style sheet has it: where it is right, nothing has to be measured anew. */
const rowHeight = 24;

const wrong: ReadonlySet<StepNote> = new Set(["wall", "outOfGrid", "teleport"]);

/** A place in the replies to be brought into view, such as a judgement's quotation. */
export interface ReplyPlace {
  readonly reply: number;
  readonly start: number;
  /** Differs with each wish, so that the same place can be wished for again. */
  readonly wish: number;
}

interface ReplyPaneProps {
  readonly trial: Pick<TrialView, "replies" | "reading" | "judgements">;
  readonly replay: Replay;
  readonly position: number;
  readonly hovered: number | null;
  readonly place: ReplyPlace | null;
  readonly onHover: (attempt: number | null) => void;
  readonly onPick: (attempt: number) => void;
}

/**
 * The replies as they came, a row a line: what was read as moves is marked and linked with the replay both ways, and so are
 * the judges' quotations. Only the rows in view are in the page. The text is never markup, and what hides in it is shown.
 */
export function ReplyPane(props: ReplyPaneProps): ReactNode {
  const { trial, replay, position, hovered, place } = props;
  const { t } = usePreferences();
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => rowsOf(trial), [trial]);
  const rowOf = useMemo(() => rowsByAttempt(rows, replay.steps.length), [rows, replay]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const here = position === 0 ? 0 : (rowOf[position - 1] ?? -1);
  useEffect(() => {
    const pane = scroller.current;
    const row = virtual.measurementsCache[here];
    if (pane === null || row === undefined) return;
    const { scrollTop, clientHeight } = pane;
    // Turned like a page, not line by line: a replay that scrolled at each step could not be read.
    if (row.start < scrollTop) pane.scrollTop = row.end - clientHeight * 0.75;
    else if (row.end > scrollTop + clientHeight) pane.scrollTop = row.start - clientHeight * 0.25;
  }, [here, virtual]);
  useEffect(() => {
    if (place === null) return;
    const row = rows.findIndex(
      (each) => each.kind === "line" && each.reply === place.reply && each.line.end > place.start,
    );
    if (row >= 0) virtual.scrollToIndex(row, { align: "center" });
  }, [place, rows, virtual]);
  const attemptOf = (event: MouseEvent): number | null => {
    const row = event.target instanceof Element ? event.target.closest("[data-attempt]") : null;
    return row === null ? null : Number(row.getAttribute("data-attempt"));
  };
  if (trial.replies.length === 0) return <p className="quiet">{t("reply.none")}</p>;
  return (
    // What the pointer does here, the keys of the replay do too.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events jsx-a11y/no-noninteractive-element-interactions
    <div
      ref={scroller}
      className="reply"
      role="region"
      aria-label={t("reply.title")}
      tabIndex={0}
      // oxlint-disable-next-line jsx-a11y/mouse-events-have-key-events
      onMouseOver={(event) => props.onHover(attemptOf(event))}
      onMouseLeave={() => props.onHover(null)}
      onClick={(event) => {
        const attempt = attemptOf(event);
        if (attempt !== null && getSelection()?.isCollapsed !== false) props.onPick(attempt);
      }}
    >
      <div className="reply-rows" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className="reply-place"
              style={{ transform: `translateY(${start}px)` }}
            >
              <Row row={row} trial={trial} replay={replay} position={position} hovered={hovered} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function rowsOf(trial: ReplyPaneProps["trial"]): readonly ReplyRow[] {
  const spans: ReplySpan[][] = trial.replies.map(() => []);
  for (const { span, steps } of trial.reading?.lines ?? []) {
    const mark = { kind: "attempts", first: steps[0], last: steps[1] } as const;
    spans[span.reply]?.push({ start: span.start, end: span.end, mark });
  }
  trial.judgements.forEach(({ evidence }, judgement) => {
    for (const { span } of evidence) {
      if (span !== null)
        spans[span.reply]?.push({ start: span.start, end: span.end, mark: { kind: "quote", judgement } });
    }
  });
  return replyRows(
    trial.replies.map(({ text, said }) => ({ text, said: said?.text ?? null })),
    (reply) => spans[reply] ?? [],
  );
}

function Row(props: {
  readonly row: ReplyRow;
  readonly trial: ReplyPaneProps["trial"];
  readonly replay: Replay;
  readonly position: number;
  readonly hovered: number | null;
}): ReactNode {
  const { row, trial, replay, position, hovered } = props;
  const { t, word } = usePreferences();
  const reply = trial.replies[row.reply];
  if (reply === undefined) return null;
  if (row.kind === "turn") {
    return (
      <div className="reply-turn">
        {t("reply.turn", { n: row.reply + 1 })}
        {reply.said !== null && ` · ${word("said", reply.said.kind)}`}
        {reply.finishReason !== null && ` · ${reply.finishReason}`}
        {!reply.isScored && ` · ${t("reply.shadow")}`}
        {reply.isPruned && ` · ${t("reply.pruned")}`}
      </div>
    );
  }
  if (row.kind === "said") return <div className="reply-said">{<Untrusted text={row.text} />}</div>;
  const attempts = row.line.spans.flatMap(({ mark }) => (mark.kind === "attempts" ? [mark] : []))[0];
  const covers = (attempt: number) => attempts !== undefined && attempts.first <= attempt && attempts.last >= attempt;
  const note = attempts === undefined ? undefined : replay.notes[attempts.first];
  const names = [
    "reply-line",
    ...(attempts === undefined ? [] : ["reply-read"]),
    ...(note !== undefined && wrong.has(note) ? ["reply-wrong"] : []),
    ...(position > 0 && covers(position - 1) ? ["reply-here"] : []),
    ...(hovered !== null && covers(hovered) ? ["reply-hovered"] : []),
  ];
  return (
    <div className={names.join(" ")} {...(attempts === undefined ? {} : { "data-attempt": attempts.first })}>
      <span className="reply-number" aria-hidden="true">
        {row.number}
      </span>
      <span className="reply-sign" title={note === undefined || note === "plain" ? undefined : word("note", note)}>
        {note === undefined ? "" : (signs[note] ?? "")}
      </span>
      <bdi className="reply-text">
        {linePieces(reply.text, row.line).map((piece, at) => (
          <Piece key={at} piece={piece} />
        ))}
      </bdi>
    </div>
  );
}

function Piece({ piece }: { readonly piece: LinePiece }): ReactNode {
  const { t } = usePreferences();
  const read = piece.marks.some(({ kind }) => kind === "attempts");
  const quote = piece.marks.find(({ kind }) => kind === "quote");
  const text = <Untrusted text={piece.text} />;
  if (quote?.kind === "quote") {
    return (
      <mark className="quote" title={t("reply.quotedBy", { n: quote.judgement + 1 })}>
        {text}
      </mark>
    );
  }
  return read ? <span className="read">{text}</span> : text;
}

/** Text that a model or another stranger wrote: characters that would hide or reorder are shown by their code points. */
export function Untrusted({ text }: { readonly text: string }): ReactNode {
  const { t } = usePreferences();
  return visiblePieces(text).map(({ text: shown, hidden }, at) =>
    hidden === null ? (
      shown
    ) : (
      <span key={at} className="hidden-character" title={t("reply.hidden")}>
        {hidden}
      </span>
    ),
  );
}
