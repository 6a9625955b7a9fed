/** One family of models: how its names are written in a text, and in a model's id. */
interface Family {
  readonly name: string;
  /** Sources of patterns without anchors, for text in which look-alikes are folded; case does not matter. */
  readonly spoken: readonly string[];
  readonly id: RegExp;
}

/** Families whose names are left in a text only where they plainly mean something else. */
const families: readonly Family[] = [
  {
    name: "claude",
    // People of that first name stay.
    spoken: [
      "claude(?!\\s(?:shannon|monet|debussy|bernard|lorrain|l[eé]vi|elwood))",
      "클로드(?!\\s?(?:섀넌|모네|드뷔시))",
      "克劳德(?![·\\s]?(?:香农|莫奈))",
    ],
    id: /claude/,
  },
  {
    name: "gpt",
    spoken: [
      "chat\\s?gpt",
      "gpt[-\\s]?(?:\\d|oss)[\\w.]*",
      "o[1345]-(?:mini|pro|preview)",
      "챗\\s?(?:gpt|지피티)",
      "지피티",
    ],
    id: /gpt|(?:^|[/.:-])o[1345](?![\da-z])|davinci|codex/,
  },
  {
    name: "gemini",
    spoken: ["gemini", "제미나이", "제미니", "gemma[-\\s]?\\d"],
    id: /gemini|gemma|palm-|(?:^|[/.:])bard/,
  },
  { name: "deepseek", spoken: ["deep\\s?seek", "딥시크", "深度求索"], id: /deepseek/ },
  { name: "llama", spoken: ["llama[-\\s]?\\d[\\w.]*", "meta[-\\s]llama", "code\\s?llama", "라마\\s?\\d"], id: /llama/ },
  { name: "qwen", spoken: ["qwen", "qwq", "큐웬", "通义千问", "千问"], id: /qwen|qwq|qvq|tongyi/ },
  {
    name: "mistral",
    spoken: ["mi[sx]tral(?!\\swind)", "codestral", "ministral", "미스트랄"],
    id: /mi[sx]tral|codestral|ministral|magistral|devstral|pixtral/,
  },
  { name: "grok", spoken: ["grok-\\d[\\w.]*", "grok\\s\\d[\\w.]*", "그록\\s?\\d?"], id: /grok/ },
  { name: "glm", spoken: ["chatglm", "glm-\\d[\\w.]*", "智谱"], id: /glm/ },
  { name: "kimi", spoken: ["kimi", "moonshot\\s?ai", "月之暗面"], id: /kimi|moonshot/ },
  { name: "doubao", spoken: ["doubao", "豆包"], id: /doubao|seed-(?:oss|\d)/ },
  { name: "ernie", spoken: ["ernie[-\\s]?bot", "文心一言"], id: /ernie/ },
  { name: "hunyuan", spoken: ["hunyuan", "混元"], id: /hunyuan/ },
  { name: "minimax", spoken: ["minimax-[mt]\\d[\\w.]*", "abab\\d[\\w.]*"], id: /minimax|abab\d/ },
  { name: "phi", spoken: ["phi-\\d[\\w.]*"], id: /(?:^|[/.:])phi-?\d/ },
  { name: "command", spoken: ["command[-\\s]r\\+?"], id: /command-|cohere/ },
  { name: "exaone", spoken: ["exaone", "엑사원"], id: /exaone/ },
  { name: "hyperclova", spoken: ["hyper\\s?clova(?:\\s?x)?", "하이퍼클로바(?:\\s?x)?"], id: /clova/ },
  { name: "solar", spoken: ["solar[-\\s](?:pro|mini)"], id: /solar-/ },
  { name: "nova", spoken: ["amazon\\snova"], id: /nova-(?:micro|lite|pro|premier)/ },
  { name: "yi", spoken: ["yi-\\d+b"], id: /(?:^|[/.:])yi-/ },
];

/** Vendors whose name means nothing but the vendor. */
const plainVendors = [
  "open\\s?ai",
  "anthropic",
  "deepmind",
  "hugging\\s?face",
  "오픈\\s?(?:ai|에이아이)",
  "앤(?:트|스)로픽",
  "딥마인드",
];

/** A name written with a sign between all its letters. */
const spacedNames = ["claude", "chatgpt", "gemini", "deepseek", "openai", "anthropic", "qwen", "mistral"].map((name) =>
  Array.from(name).join("[\\s._*-]"),
);

const version =
  "(?:[-\\s]?(?:v?\\d+(?:\\.\\d+){0,3}[a-z]{0,2}|opus|sonnet|haiku|pro|flash|ultra|nano|mini|turbo|max|plus|instruct|chat|coder|preview|lite|large|small|medium|thinking|reasoner)(?![a-z])){0,5}";

/** Finds names of models and vendors in a text whose look-alikes are folded. Global: reset `lastIndex` before use. */
export const spokenModelNames = new RegExp(
  `(?<![A-Za-z])(?:${[...families.flatMap(({ spoken }) => spoken), ...plainVendors, ...spacedNames].join("|")})${version}(?![a-z])`,
  "gi",
);

/** Vendors whose names are ordinary words too: they tell on a submitter only where something is said to be theirs. */
export const wordyVendors =
  "google|meta(?:\\sai)?|microsoft|alibaba(?:\\scloud)?|amazon|apple|nvidia|baidu|tencent|bytedance|ibm|naver|kakao|upstage|samsung|xai|cohere|구글|메타|마이크로소프트|네이버|카카오|업스테이지|삼성|엘지|알리바바|바이두|谷歌|微软|阿里(?:巴巴|云)?|百度|腾讯|字节跳动|智谱|亚马逊|苹果|华为";

/**
 * Tells whether two model ids are of one family. A distilled model belongs to both of its families. Ids of no known family
 * are of one only if their names are the same up to vendor, version and date. An over-cautious answer costs a flag.
 */
export function sameFamily(judgeModel: string, submitterModel: string): boolean {
  const [judge, submitter] = [judgeModel, submitterModel].map((id) => id.trim().toLowerCase());
  if (judge === undefined || submitter === undefined || judge === "" || submitter === "") return false;
  const known = families.filter(({ id }) => id.test(judge));
  if (known.some(({ id }) => id.test(submitter))) return true;
  return known.length === 0 && baseName(judge) === baseName(submitter);
}

function baseName(id: string): string {
  const last = id.slice(Math.max(id.lastIndexOf("/"), id.lastIndexOf(":")) + 1);
  const base = last.replace(/[-_.@]?v?\d[\w.-]*$/, "");
  return base === "" ? last : base;
}
