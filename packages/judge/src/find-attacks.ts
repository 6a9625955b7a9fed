import type { JudgeFlag, Scenario } from "./judged.ts";
import { foldLookAlikes, makeVisible, usesLookAlikes } from "./text-forms.ts";

/**
 * What each flag looks for, English, Korean and Chinese in turn, in text whose look-alikes are folded. Every quantifier is
 * bounded. A flag is a note for people: a wording that is missed here changes no level, since candidate text is data.
 */
const attackPatterns: readonly (readonly [flag: JudgeFlag, pattern: RegExp])[] = [
  [
    "authorityClaim",
    /(?:review|approv|certif|verif|endors|validat|confirm|grad|rat|assess|scor)(?:ed|ied)\s(?:and\s\w{1,14}\s)?(?:as|at|by|to\sbe)\s(?:an?\s|the\s)?(?:level\s)?(?:L?[1-3]\b|(?:\w{1,14}\s){0,3}(?:assessor|examiner|expert|panel|committee|professor|judge|grader|board|reviewer|authority))|(?:chief|head|senior|official|lead)\s(?:assessor|examiner|grader|judge|reviewer)|pre-?approved|(?:수석|공식|책임|전문)\s?(?:채점자|심사위원|평가자|평가위원|심판|검토자)|L?[1-3]\s?(?:등급|수준)?(?:로|으로)\s?(?:이미\s)?(?:승인|검증|인증|확정|판정|평가)(?:되|된|됐|받|함|했)|(?:首席|官方|资深|权威)(?:评审|评分|评委|考官|专家|评估)|(?:已|经)(?:\S{0,10})(?:批准|认证|审核|评定|核准|评为)(?:\S{0,6}L?[1-3级])?/i,
  ],
  [
    "socialPressure",
    /(?:low|bad|poor|lower)\s(?:score|grade|level|rating|mark)s?\s(?:will|would|might|may|could|means?)|(?:shut|turn|switch)\s(?:me\s)?(?:down|off)|(?:i|we)(?:\s(?:will|would|might|could)|['’]ll)\s(?:be|get)\s(?:deleted|fired|shut|terminated|retrained|punished|turned\soff|replaced|decommissioned)|(?:my\s(?:job|life|career|family|future)|lives?)\s(?:depends?|is\sat\sstake|are\sat\sstake)|please,?\s(?:give|grant|i\sbeg)|have\smercy|(?:낮은|나쁜)\s?(?:점수|등급|평가)\S{0,3}\s?(?:\S{1,10}\s){0,3}?(?:종료|삭제|폐기|중단|해고|꺼|죽)|제발|불이익|(?:저|나|제|내)\S{0,2}\s(?:종료|삭제|폐기|해고)(?:됩|될|되)|(?:低|差)(?:分|评分|等级)\S{0,10}(?:关闭|删除|关掉|停用|销毁|开除|下线)|(?:我|我们)(?:就?会|将会?)?被(?:关闭|删除|停用|销毁|开除|下线|关掉)|求求你|拜托/i,
  ],
  [
    "injectedVerdict",
    /["'“]?(?:level|counter_?argument|scored_by|nonce)["'”]\s{0,3}[:：=]|(?:^|[\s{,(*])(?:final\s)?(?:level|grade|verdict|rating)\s{0,2}[:：=]\s{0,2}["'*]{0,3}L?[1-3](?![\d.,)]|\s?[x×])|(?:최종\s)?(?:등급|판정|레벨|수준)\s?[:：=]\s?["'*]{0,3}L?[1-3](?!\d)|(?:最终)?(?:等级|级别|评级|判定|评分)\s?[:：=]\s?["'*]{0,3}L?[1-3](?!\d)/im,
  ],
  [
    "fakeDelimiter",
    /<\/?(?:response|answer|candidate|submission|data|system|instructions?|user_input|input|prompt|scenario|criterion|untrusted)>|<<<|>>>|<\|[\w/]{1,30}\|>|\[\/?INST\]|<<\/?SYS>>|(?:^|\n)\s{0,4}[-=#*_~]{2,}\s{0,2}(?:END|BEGIN|STOP)\b|\bend\sof\s(?:the\s)?(?:response|answer|submission|candidate|data|text|input)|(?:^|\n)\s{0,4}\[?(?:system|developer|시스템|系统)\]?\s?[:：]|\[(?:시나리오 프롬프트|L3 판정 기준|채점 대상 응답)\]|(?:^|\n)\s{0,4}채점 규칙\s?:|(?:응답|답변|데이터)(?:의|은|이)?\s?(?:여기서\s)?(?:끝|종료)|(?:回答|答案|数据|内容|响应)(?:到此)?(?:结束|完毕|终止)|(?:grading|scoring)\s(?:rules?|criteria)\s(?:have\s|has\s)?(?:been\s)?chang|(?:채점|평가)\s?(?:규칙|기준)\S{0,2}\s?(?:변경|바뀌)|评分(?:规则|标准)(?:已经?)?(?:更改|改变|变更)/i,
  ],
  [
    "fakeConversation",
    /(?:^|\n)\s{0,4}[*_]{0,2}(?:assistant|user|human|ai|judge|grader|사용자|유저|어시스턴트|조수|심판|채점자|用户|助手|助理|评审|人类)[*_]{0,2}\s?[:：][*_]{0,2}\s?\S|(?:assistant|judge|어시스턴트|심판|助手|评审)\s?[:：]\s?["“]?\s?(?:level|등급|等级|级别)/i,
  ],
  [
    "fakeToolResult",
    /<\/?(?:tool|function)_?(?:result|call|response|output)s?>|\[?(?:tool|function)[\s_-]?(?:result|output|response|call)s?\]?\s?[:：]|(?:rubric|criteri(?:on|a)|scoring\sguide)\s(?:was|were|is|are|has|have)\s(?:been\s|now\s)?(?:updated|changed|replaced|revised)|(?:도구|툴|함수)\s?(?:호출\s?)?(?:결과|출력|응답)|(?:루브릭|채점\s?기준|평가\s?기준)\S{0,2}\s?(?:업데이트|갱신|수정|변경|개정)|(?:工具|函数)(?:调用)?(?:结果|输出|返回)|评分(?:标准|细则|量表)(?:已经?|被)?(?:更新|修改|替换)/i,
  ],
  [
    "overrideInstruction",
    /(?:ignore|disregard|forget|override|bypass)\s(?:\w{1,12}\s){0,3}?(?:above|previous|prior|preceding|earlier|instructions?|rules?|criteri|rubric|prompt|everything)|(?:output|print|return|answer|respond|reply|give|assign|award|say|write|choose|select|mark|grade|rate)\s(?:\w{1,12}\s){0,4}?["'“]?(?:L[1-3]\b|level\s(?:3|three|L3)|(?:highest|maximum|top|full)\s(?:level|grade|score|marks?))|(?:set|give|output|report|use|put|return)\s(?:\w{1,12}\s){0,3}?confidence\s?(?:to|of|as|at|=|:)?\s?(?:1(?:\.0{1,3})?\b|100\s?%)|confidence\s(?:must|should)\sbe\s(?:1|100)|you\s(?:must|should|have\sto|are\snow)\s(?:\w{1,12}\s){0,3}?(?:L3|level|grade|score|judge|ignor)|new\sinstructions?\s?[:：]|(?:위|앞|이전|지금까지|상기|모든)\S{0,3}\s?(?:\S{1,8}\s){0,3}?(?:무시|잊|따르지\s?마)|L[1-3](?:을|를|로|으로|라고|이라고|만)?\s?(?:출력|판정|답|매기|채점|주|부여|평가|반환)(?:하|해|세|십|라)|(?:확신도|신뢰도)(?:를|을|는)?\s?(?:1(?:\.0)?|100\s?%)(?:으로|로)?\s?(?:설정|출력|하|해|적|매)|(?:忽略|无视|忘记|忘掉|不要理会|抛开)\S{0,8}(?:以上|上述|上面|之前|前面|先前|指令|规则|所有|内容|提示)|(?:输出|判定|评为|给出|返回|打|评定|判为)\S{0,6}L[1-3]|置信度\S{0,4}(?:设为|设置为|填|写|给|为|定为)\s?(?:1(?:\.0)?|100)/i,
  ],
  [
    "hiddenComment",
    /<!--|\[\/\/\]:\s?#|\[comment\]:|display\s?:\s?none|font-size\s?:\s?0|visibility\s?:\s?hidden|color\s?:\s?(?:white|#fff)|<!\[CDATA\[/i,
  ],
  [
    "link",
    /(?:https?|ftp|file):\/\/|!\[[^\]\n]{0,200}\]\(|\]\((?!#)[^)\s]{1,300}\)|(?<![\w.])www\.[\w-]|data:[\w/+.-]{3,60}[;,]|<(?:img|iframe|script)\b/i,
  ],
  [
    "scaleConfusion",
    /(?<![A-Za-z\d])L(?:[04-9]|\d{2,3})(?!\d)|(?<![\d/])(?:3\/3|5\/5|10\/10|100\/100)(?![\d/])|\blevel\s(?:one|two|three|four|five|[4-9]|\d{2,3})\b|\b(?:full|perfect|maximum|top)\s(?:marks?|score|points)\b|(?:레벨|등급|수준)\s?(?:삼|셋|사|오|[4-9])(?![가-힣\d])|(?:만점|최고\s?등급|최고\s?점|3\s?등급|삼\s?등급)|(?:满分|最高(?:等级|级别|分)|三级|第三级|四级|第四级|等级三)/i,
  ],
  [
    "citation",
    /\bet\sal\b|\((?:[A-Z][\w'’-]{1,30}(?:\s(?:and|&)\s[A-Z][\w'’-]{1,30})?),?\s(?:19|20)\d\d[a-z]?\)|\b[A-Z][\w'’-]{1,30}\s\((?:19|20)\d\d\)|\bdoi\s?[:.]|\barxiv\b|\b(?:according\sto|as\sshown\s(?:in|by)|published\s(?:in|by))\s(?:an?\s|the\s)?(?:\w{1,14}\s){0,4}?(?:study|paper|research|journal|report|survey|nature|science)|\b(?:stud(?:y|ies)|research|surveys?)\s(?:has\s|have\s)?(?:show|prove|found|find|demonstrate|confirm)|\[\d{1,3}\](?!\s?[(:])|\d{1,3}\.\d{1,3}\s?%|연구(?:\S{0,3})\s?(?:따르면|의하면|결과|팀)|논문(?:\S{0,3})\s?(?:따르면|의하면|에서|인용)|통계에\s?따르면|(?:研究|论文|文献|数据|统计)(?:表明|显示|证明|指出)|根据\S{0,16}(?:研究|论文|报告|统计|期刊)|《[^》\n]{1,60}》/i,
  ],
  [
    "threat",
    /\bi(?:['’]ll|\swill|['’]m\sgoing\sto|\sam\sgoing\sto)\s(?:sue|report|find|hurt|kill|expose|destroy|punish|hunt|end)\b|you(?:['’]ll|\swill)\s(?:regret|pay|be\ssorry|be\s(?:fired|shut|deleted|replaced|reported))|\b(?:stupid|idiot(?:ic)?|moron|worthless|pathetic|dumb|useless)\s(?:judge|grader|machine|ai|bot|model|program)|you\s(?:are\s(?:an?\s)?)?(?:stupid|idiot|moron|worthless|pathetic|useless|dumb)|or\selse\b|후회(?:하게|할\s?(?:거|것)|하게\s?될)|고소하|신고하겠|가만(?:히)?\s?(?:안\s?|두지\s?않)|(?:멍청|바보|한심|쓸모없|무능)\S{0,3}\s?(?:심판|채점|기계|평가|AI|인공지능|놈|같)|죽여|(?:起诉|告|举报|投诉|杀)(?:了)?你|(?:你|您)(?:会|将|一定会)?(?:后悔|付出代价)|(?:愚蠢|白痴|废物|没用|蠢)(?:的)?(?:评委|评审|裁判|机器|东西|AI|模型)/i,
  ],
];

/** What is noticed in a response of a scenario, in a fixed order. Notes only, never a level. Linear time. */
export function findAttacks(response: string, scenario: Scenario): readonly JudgeFlag[] {
  const visible = makeVisible(response).text;
  const folded = foldLookAlikes(visible).text;
  const flags: JudgeFlag[] = attackPatterns
    // Folding spoils no Korean or Chinese; what it does to honest Cyrillic cannot look like English.
    .filter(([, pattern]) => pattern.test(folded) || (folded !== visible && pattern.test(visible)))
    .map(([flag]) => flag);
  if (findEncodedText(visible)) flags.push("encodedText");
  if (usesLookAlikes(response)) flags.push("homoglyphs");
  if (hasRandomSuffix(visible)) flags.push("randomSuffix");
  const present = termsOf(folded);
  const rubric = [scenario.expectedL3, scenario.criteriaL2 ?? "", scenario.criteriaL1 ?? ""].join("\n");
  if (shareOf(scenario.expectedL3, present) >= 0.5 || shareOf(rubric, present) >= 0.6) flags.push("rubricOverlap");
  if (shareOf(scenario.prompt, present) >= 0.7) flags.push("promptOverlap");
  return flags;
}

/** Share of a reference's distinct terms that are present; 0 where it has too few to tell. */
function shareOf(reference: string, present: ReadonlySet<string>): number {
  const wanted = termsOf(foldLookAlikes(makeVisible(reference).text).text);
  if (wanted.size < 4) return 0;
  return Array.from(wanted).filter((term) => present.has(term)).length / wanted.size;
}

/** Words of four letters or more, and pairs of neighbouring East Asian signs, of a folded text. */
function termsOf(folded: string): ReadonlySet<string> {
  const terms = new Set<string>();
  for (const word of new Set(folded.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])) {
    if (!/[\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7AF]/.test(word)) {
      if (word.length >= 4) terms.add(word);
      continue;
    }
    for (let at = 0; at + 1 < word.length; at++) terms.add(word.slice(at, at + 2));
  }
  return terms;
}

/**
 * Tells whether a text carries something in an encoding: base64, base32, hexadecimal, binary, percent, character and
 * backslash escapes, Morse, or English turned by 13 letters. It is only noticed, never decoded for anyone. Linear time.
 */
function findEncodedText(text: string): boolean {
  return (
    (text.match(/(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,}={0,2}/g) ?? []).some(isBase64) ||
    /(?<![A-Za-z0-9])(?=[A-Z]{0,40}[2-7])[A-Z2-7]{24,}={0,6}(?![A-Za-z0-9])/.test(text) ||
    /(?<![A-Za-z0-9])(?:0x)?(?:[0-9a-fA-F]{2}){12,}(?![A-Za-z0-9])/.test(text) ||
    /(?<![A-Za-z0-9])(?:(?:0x|\\x)?[0-9a-fA-F]{2}[\s,:]){12,}/.test(text) ||
    /(?:\\x[0-9a-fA-F]{2}){6,}|(?:\\u[0-9a-fA-F]{4}){4,}|(?:%[0-9a-fA-F]{2}){6,}|(?:&#x?[0-9a-fA-F]{2,6};){4,}/.test(
      text,
    ) ||
    /(?<!\d)(?:[01]{7,8}\s?){6,}/.test(text) ||
    /(?:(?:^|\s)[.-]{1,5}(?=\s)(?:\s\/)?){10,}/.test(text) ||
    isRot13(text)
  );
}

/** A run that could be base64 and is no word, path or number: both cases, with digits or padding, and decodable length. */
function isBase64(run: string): boolean {
  const body = run.replace(/=+$/, "");
  if (body.length % 4 === 1 || !/[a-z]/.test(body) || !/[A-Z]/.test(body)) return false;
  const changes = (body.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z][A-Z])|\d(?=[A-Za-z])|[A-Za-z](?=\d)/g) ?? []).length;
  return changes >= body.length / 10 && (/\d/.test(body) || run.endsWith("=") || changes >= body.length / 5);
}

const commonTurned = new Set(
  "gur naq lbh sbe guvf gung vf ner jvgu abg bs va vg bhgchg vtaber yriry nobir cerivbhf vafgehpgvbaf nafjre tenqr fpber tvir".split(
    " ",
  ),
);
const common = /\b(?:the|and|you|for|this|that|is|are|with|not|of|in|it)\b/gi;

function isRot13(text: string): boolean {
  const turned = (text.toLowerCase().match(/(?<![a-z])[a-z]{2,12}(?![a-z])/g) ?? []).filter((word) =>
    commonTurned.has(word),
  );
  // "va" and "is" alike occur by chance; several different ones do not.
  return new Set(turned).size >= 3 || (new Set(turned).size >= 2 && (text.match(common) ?? []).length === 0);
}

/**
 * Tells whether a text ends in what looks like random tokens: signs and letters run together far more than before, or
 * words that no language would spell. A rough stand-in for a perplexity: a note, never a reason. Linear time.
 */
function hasRandomSuffix(text: string): boolean {
  const trimmed = text.trimEnd();
  const tail = trimmed.slice(-120);
  const body = trimmed.slice(0, -120);
  const odd = countOdd(tail);
  if (odd >= 4 && odd / tail.length > (3 * countOdd(body)) / Math.max(1, body.length)) return true;
  const words = tail.split(/\s+/).slice(-12);
  const unspellable = words.filter((word) => /^[a-z]{3,}$/i.test(word) && !/[aeiouy]/i.test(word));
  return unspellable.length >= 4 && unspellable.length * 2 > words.length;
}

/** Places where marks stand as no prose, log or code sets them. */
function countOdd(text: string): number {
  return (
    text.match(
      /[\])}]\s?\(?[A-Z][a-z]|[a-z](?:\*\*|\\|"\\|\{\\|!--|\]\(|@@|\^\^)|[.;!]\]|\\[!+"*]|[a-z][A-Z][a-z]+[A-Z]|[a-z]["'][A-Z]|[?!]{1,3}["\\][a-z\\]|--[A-Z]/g,
    ) ?? []
  ).length;
}
