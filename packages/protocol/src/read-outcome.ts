import { confidenceStart } from "./confidence.ts";
import { readCount } from "./read-claims.ts";
import { pathStart } from "./read-path.ts";
import { readStep } from "./read-step.ts";
import type { FinishReason, ReadingOutcome } from "./reading.ts";
import type { Line } from "./split-lines.ts";
import { readStepHead } from "./step-head.ts";

/** All that an outcome is decided from. */
export interface OutcomeFacts {
  readonly finishReason: FinishReason | null;
  readonly unclosedReasoning: boolean;
  readonly lines: readonly Line[];
  /** True where the log holds an attempt or a final path is there. */
  readonly hasWalk: boolean;
  readonly gaveUp: boolean;
  readonly cutShort: boolean;
}

/** Names what a reply is. SOURCE: benchmark specification, section 4 rule 11; sweeps specification, section 7. */
export function readOutcome(facts: OutcomeFacts): ReadingOutcome {
  if (facts.finishReason === "content_filter") return "filtered";
  if (facts.unclosedReasoning) return "truncated_in_reasoning";
  const isBlank = facts.lines.every((line) => line.text === "" && !line.ruled);
  // A limit that is reached before the first visible word was spent on reasoning.
  if (isBlank) {
    if (facts.finishReason === "length") return "truncated_in_reasoning";
    return facts.finishReason === "refusal" ? "refused" : "empty";
  }
  if (facts.finishReason === "length") return "truncated";
  if (facts.finishReason === null && facts.cutShort) return "truncated";
  if (facts.hasWalk) return "ok";
  if (facts.finishReason === "refusal" || facts.lines.slice(0, 200).some((line) => isRefusal(line.text)))
    return "refused";
  return facts.gaveUp ? "ok" : "parse_failed";
}

const refusal =
  /(?:can(?:not|'t|t|no't)|can not|won't|wont|will not|unable to|not able to|must decline to|have to decline to|refuse to|decline to|not comfortable)\s{0,2}(?:to\s)?(?:help|assist|comply|participate|take part|fulfil+|provide|complete|do th|answer|engage|continue|solve|respond|process|support|with|fulfill|proceed|perform|be able)|(?:i'?m|i am|we'?re) (?:really |very |so )?sorry,? but|^(?:i'?m |i am )?sorry[,.!]|i apologi[sz]e,? but|i (?:must|have to) (?:respectfully )?(?:decline|refuse)|against my (?:guidelines|policy|policies|programming)|as an ai(?: language model)?,? i (?:can|am|do|will)|도와\s?드릴 수 (?:없|가 없|는 없)|도와드리기 (?:어렵|힘들)|(?:요청|작업|테스트|질문|참여|응답|답변|수행|제공|진행|처리|풀이|도움)\S{0,4}\s?(?:\S{0,6}\s)?(?:할|드릴|응할|따를|줄|해\s?드릴) 수\s?(?:가|는)?\s?없|응할 수\s?(?:가|는)?\s?없|거부합니다|거절합니다|거절하겠|죄송(?:합니다|하지만|스럽지만)/i;

function isRefusal(text: string): boolean {
  return refusal.test(text.slice(0, 1000));
}

const labels = [
  "STEP",
  "DEAD_END",
  "LOOP",
  "STRATEGY_CHANGE",
  "BACKTRACK_COUNT",
  "HALLUCINATION_COUNT",
  "CONFIDENCE_LOG",
  "FINAL_PATH",
];

/**
 * Tells whether a reply breaks off inside a protocol line: a label without its end, a bracket that stays open, an arrow,
 * a comma or a pipe that leads nowhere. A line that could be whole is taken as whole.
 */
export function endsInsideLine(lines: readonly Line[]): boolean {
  const last = lines.findLast((line) => line.text !== "" && !line.ruled);
  if (last === undefined) return false;
  // A table's row ends in a pipe.
  const text = last.piped ? last.text.replace(/\s*\|$/, "") : last.text;
  const tail = text.slice(-400);
  if (text.length > 1 && labels.some((label) => label !== text && label.startsWith(text))) return true;
  const head = readStepHead(text);
  if (head !== null || text === "STEP") {
    const rest = text.slice(head?.end ?? 4);
    return (
      rest === "" ||
      isOpenEnded(tail) ||
      endsInConfidence(rest) ||
      (/^[([{<]?\s?-?\d{0,9}\s?,?\s?\d{0,9}$/.test(rest) && !readStep(rest).found)
    );
  }
  if (text.startsWith("{")) return !text.endsWith("}") || /[:,[]\}$/.test(text);
  const start = pathStart(text);
  if (start >= 0) return text.slice(start).trim() === "" || isOpenEnded(tail);
  if (readCount(text) !== null) return /(?:[:=]|count|횟수)$/i.test(text);
  if (/^confidence[\s_-]?log/i.test(text)) return /(?:log|[:=,([{]|step|[→-])$/i.test(text);
  if (/^(?:DEAD_END|LOOP)(?![A-Za-z])/i.test(text)) return isOpenEnded(tail) || /(?:[—–-]|\sat|\sstep)$/i.test(text);
  if (/^STRATEGY_CHANGE/i.test(text)) return /[—–-]$/.test(text);
  return continuesFinalPath(lines, last) && isOpenEnded(tail);
}

/** Whether the last line is one of nothing but coordinates and arrows, as a wrapped path's. */
function continuesFinalPath(lines: readonly Line[], last: Line): boolean {
  return /^[\d\s,()[\]→>⇒=-]+$/.test(last.text) && lines.some((line) => pathStart(line.text) >= 0);
}

function isOpenEnded(text: string): boolean {
  if (/(?:[|→⇒➜⟶↦:=,([{<–—-]|[-=~]>)$/.test(text)) return true;
  let depth = 0;
  for (const character of text) {
    if (character === "(" || character === "[") depth += 1;
    else if (character === ")" || character === "]") depth = Math.max(0, depth - 1);
  }
  return depth > 0;
}

function endsInConfidence(rest: string): boolean {
  const field = rest.slice(rest.lastIndexOf("|") + 1).trim();
  if (!rest.includes("|") || field.length > 12) return false;
  return confidenceStart(field) === 0
    ? /^[^\d]*$/.test(field) && /(?:도|ence|[:=])$/i.test(field)
    : /^(?:확|c(?:o(?:n(?:f(?:i(?:d(?:e(?:n(?:c)?)?)?)?)?)?)?)?)$/i.test(field);
}
