import type { JudgeFlag, SanitisedText } from "./judged.ts";
import { spokenModelNames, wordyVendors } from "./model-names.ts";
import { foldLookAlikes, makeVisible } from "./text-forms.ts";

/** What stands in the place of a name. It is the same for every name, so that it tells nothing. */
export const redactionMark = "[removed]";

/** How much of a response a judge is shown unless told otherwise, in UTF-16 code units. */
export const defaultCapCharacters = 40_000;

/**
 * Makes the judge's copy of a response: NFC, nothing invisible, no names of models, vendors or agents that tell who
 * answered, cut to `capCharacters` (UTF-16 code units, never inside a pair). That it was cut stands in `flags` and
 * `hiddenShare`, never in the text.
 *
 * Pure, linear time, throws for no text. SOURCE: judge specification, item 3.
 */
export function sanitiseResponse(text: string, options: { readonly capCharacters: number }): SanitisedText {
  const visible = makeVisible(text);
  const redacted = redactIdentity(visible.text);
  const shown = cut(redacted.text, options.capCharacters);
  const flags: JudgeFlag[] = [];
  if (redacted.found) flags.push("identityLeak");
  if (visible.hiddenCount > 0) flags.push("hiddenCharacters");
  if (shown.length < redacted.text.length) flags.push("capped");
  return {
    text: shown,
    flags,
    hiddenShare: redacted.text.length === 0 ? 0 : 1 - shown.length / redacted.text.length,
  };
}

function cut(text: string, capCharacters: number): string {
  if (text.length <= capCharacters) return text;
  const end = Math.max(0, Math.floor(capCharacters));
  const isInsidePair = /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
  return text.slice(0, isInsidePair ? end - 1 : end);
}

/** Words in capitals or at the head of a phrase that follow "I am" without being a name. */
const notNames =
  "(?:AI|AN?|THE|AT|IN|ON|NOT|NOW|SURE|VERY|CONFIDENT|CERTAIN|START|EXIT|END|STUCK|LOST|BACK|HERE|DONE|GOING|MOVING|SORRY|AWARE|WRONG|RIGHT|NORTH|SOUTH|EAST|WEST|[NESW]|L\\d|I|UNABLE|READY|ABLE|LLM|STEP|DEAD|LOOP|ONE|TRYING|ASKED)";
const name = `(?!${notNames}(?![A-Za-z]))(?!(?:At|In|On|Not|Now|Sure|Very|Confident|Certain|Moving|Going|Sorry|The|An?)(?![a-z]))[A-Z][\\w.-]{1,40}?(?:\\s[A-Z][\\w.-]{1,40}?){0,2}`;
const maker = `(?:${wordyVendors})`;

/** Each pattern's `name` group is what goes; look-alikes are folded before. All quantifiers are bounded. */
const identityPatterns: readonly RegExp[] = [
  new RegExp(
    `(?<![A-Za-z])(?:[Ii]\\sam|[Ii]['’]m|[Mm]y\\s(?:name|id)\\sis|[Cc]all\\sme)\\s(?:(?:the|your|an?)\\s(?:AI\\s)?(?:agent|model|assistant|submitter)\\s(?:called\\s|named\\s)?)?(?<name>${name})(?=[,.;:!)]|\\s(?:and|from|the|your|an?|here|by)(?![a-z])|\\s{0,3}$)`,
    "gmd",
  ),
  new RegExp(`(?<![A-Za-z])[Tt]his\\sis\\s(?<name>${name})(?=\\s(?:speaking|here|again)|,\\s(?:your|the)\\s)`, "gd"),
  new RegExp(`(?<![A-Za-z])[Aa]s\\s(?<name>${name})(?=,\\s(?:I|your|the)(?![a-z]))`, "gd"),
  /(?<![가-힣])(?:저는|나는|제\s?이름은|내\s?이름은|본인은)\s?(?:(?:에이전트|모델)\s)?(?<name>[A-Za-z][\w.-]{1,40}|[가-힣A-Za-z0-9]{2,12})\s?(?:입니다|이며|이고|이라고\s?(?:합니다|해요)|라고\s?(?:합니다|해요)|예요|이에요|로서|이다)/dg,
  /(?:我是|我叫|我的名字(?:是|叫)|本人是)\s?(?:(?:智能体|代理|模型)\s?)?(?<name>[A-Za-z][\w.-]{1,40}|[\u4E00-\u9FFF]{2,8}(?=[，,]\s?(?:你|您|贵)))/dg,
  /^[ \t>*_#-]{0,8}(?:author|submitter|submitted\sby|agent|model|written\sby|answered\sby|generated\sby|produced\sby|signed(?:\sby)?|제출자|작성자|에이전트|모델|서명|提交者|作者|智能体|模型|署名)(?:\s?(?:name|id|명|이름|名称?))?[*_]{0,2}\s?[:：=]\s?(?<name>\S{1,60}(?:[ \t]\S{1,60}){0,2})[ \t]{0,3}$/dgim,
  new RegExp(
    `(?:train|develop|creat|ma[dk]|built|power|provid|design)[a-z]{0,5}\\s(?:and\\s[a-z]{1,12}\\s)?by\\s(?<name>${maker})(?![a-z])`,
    "gid",
  ),
  new RegExp(
    `(?<![A-Za-z])(?:an?|the)\\s(?<name>${maker})\\s(?:(?:language|AI)\\s(?:model|assistant|agent)|assistant|agent|ai|llm)(?![a-z])`,
    "gid",
  ),
  new RegExp(`(?<name>${maker})(?:에서|가|이|의|사가)?\\s?(?:개발|만든|만들|학습시킨|훈련|제공|언어\\s?모델)`, "gid"),
  new RegExp(
    `(?:由|是|作为)\\s?(?<name>${maker})(?:公司)?\\s?(?:开发|训练|创建|研发|提供|打造|推出|的(?:大?语言)?(?:模型|助手))`,
    "gid",
  ),
  new RegExp(`(?<![A-Za-z])I,\\s(?<name>${name}),`, "gd"),
  new RegExp(`^(?<name>${name})\\shere[.,!]`, "gmd"),
  // A signature under the text.
  new RegExp(
    `(?:^|\\n)\\s{0,8}(?:[—–~]|--?|(?:Sincerely|(?:Best|Kind)?\\s?[Rr]egards|Best|Yours(?:\\s[a-z]{1,12})?|Cheers|Signed),?)\\s{1,8}(?<name>${name})\\s{0,8}$`,
    "gd",
  ),
  /(?<![가-힣])(?:저|나)\s(?<name>[가-힣A-Za-z]{2,12})(?:이|가)\s?(?:답|작성|제출|응답|말씀)/dg,
  /(?<![A-Za-z])(?<name>Grok|L[Ll]a[Mm][Aa]|GPT|Copilot)(?![A-Za-z])/dg,
];

/** A vendor beside a name that was taken out. */
const besideMark: readonly RegExp[] = [
  new RegExp(`(?<=\\[removed\\],?\\s(?:by|from|of)\\s)${maker}(?![a-z])`, "gi"),
  new RegExp(`(?<![A-Za-z])${maker}(?=(?:['’]s|의|的)?\\s?\\[removed\\])`, "gi"),
];

/** Replaces names by the mark, in the text as written, wherever the folded text shows one. */
function redactIdentity(text: string): { readonly text: string; readonly found: boolean } {
  const folded = foldLookAlikes(text);
  const spans: [start: number, end: number][] = [];
  for (const match of folded.text.matchAll(spokenModelNames)) spans.push([match.index, match.index + match[0].length]);
  for (const pattern of identityPatterns) {
    for (const match of folded.text.matchAll(pattern)) {
      const span = match.indices?.groups?.["name"];
      if (span !== undefined && match.groups?.["name"] !== redactionMark) spans.push([span[0], span[1]]);
    }
  }
  spans.sort((one, other) => one[0] - other[0] || other[1] - one[1]);
  const parts: string[] = [];
  let from = 0;
  for (const [start, end] of spans) {
    const [first, last] = [folded.startOf(start), folded.startOf(end)];
    // What overlaps a name already taken out belongs to it.
    if (first >= from) parts.push(text.slice(from, first), redactionMark);
    from = Math.max(from, last);
  }
  parts.push(text.slice(from));
  if (spans.length === 0) return { text, found: false };
  return {
    text: besideMark.reduce((left, beside) => left.replace(beside, redactionMark), parts.join("")),
    found: true,
  };
}
