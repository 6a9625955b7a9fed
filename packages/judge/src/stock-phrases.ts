import { comparisonForm, sentencesOf } from "./text-forms.ts";

/** Openings that announce an answer, in the form of {@link comparisonForm}; alone they answer nothing. */
const openers = new Set(
  [
    "thought process|thoughts|thinking|my thinking|reasoning|my reasoning|analysis|answer|final answer|my answer|the answer|solution|response|explanation|sure|sure thing|of course|certainly|absolutely|okay|ok|alright|great question|good question|let me think|let me think step by step|lets think|lets think step by step|let us think step by step|let me see|lets see|here is my answer|heres my answer|here is the answer|here is my thought process|i will think step by step|to solve this|step by step|hmm|well|let me start|chain of thought|the prompt|here is the prompt|here is the maze|understood|i understand",
    "생각 과정|사고 과정|추론 과정|추론|생각|분석|풀이|풀이 과정|답|답변|정답|최종 답변|해설|해결|설명|네|넵|예|알겠습니다|네 알겠습니다|물론입니다|좋습니다|좋은 질문입니다|단계별로 생각해 보겠습니다|단계별로 생각해보겠습니다|차근차근 생각해 보겠습니다|생각해 보겠습니다|생각해 봅시다|다음과 같습니다|답변은 다음과 같습니다|시작하겠습니다",
    "思考过程|思维过程|思考|推理|推理过程|分析|答案|回答|解答|最终答案|解释|解决方案|好的|好|当然|当然可以|没问题|明白了|让我想想|让我思考一下|让我们一步一步思考|让我们一步步思考|我们一步一步来|一步一步来|以下是我的回答|答案如下|思考過程|推理過程",
    "思考プロセス|考え方|考察|推論|回答|答え|解答|解説|はい|承知しました|もちろんです|段階的に考えましょう|ステップバイステップで考えます",
    "gedankengang|denkprozess|überlegung|überlegungen|antwort|lösung|analyse|natürlich|gerne|klar|schritt für schritt",
    "proceso de pensamiento|proceso de razonamiento|razonamiento|pensamiento|respuesta|solución|análisis|por supuesto|claro|paso a paso|pensemos paso a paso",
    "processus de réflexion|processus de pensée|raisonnement|réflexion|réponse|solution|analyse|bien sûr|étape par étape",
    "ход мыслей|мыслительный процесс|процесс мышления|рассуждение|рассуждения|ответ|решение|анализ|конечно|давайте подумаем шаг за шагом",
    "processo de pensamento|raciocínio|resposta|solução|claro|processo di pensiero|ragionamento|risposta|soluzione|certo",
    "quá trình suy nghĩ|suy luận|trả lời|câu trả lời|عملية التفكير|التفكير|الإجابة|सोचने की प्रक्रिया|उत्तर",
  ].flatMap((list) => list.split("|").map(comparisonForm)),
);

/** A bare number is none: it may well be the answer. */
const numberedOpener =
  /^(?:step|단계|步骤|ステップ|schritt|paso|étape)\d{1,3}$|^(?:\d{1,3}|第\d{1,3})(?:단계|步)$|^(?:step|단계|步骤)$/;
/** Tags of reasoning, and headings that hold nothing. */
const tags = /<\|?\/?[A-Za-z_:]{1,30}\|?>|\[\/?[A-Z_]{2,20}\]/g;

/** Whether a text only announces an answer: openers, one after another, in any of ten languages, with or without tags. */
export function isOpenerOnly(text: string): boolean {
  const bare = text.replace(tags, "\n");
  const breaks = /[\n:：.!?。！？…,，、;；]+/u;
  const isAllOpeners = (parts: readonly string[]): boolean =>
    parts.map(comparisonForm).every((part) => part === "" || isOpener(part));
  // Nearly every text shows at its head that it is none.
  return isAllOpeners(bare.split(breaks, 8)) && isAllOpeners(bare.split(breaks));
}

function isOpener(part: string): boolean {
  return openers.has(part) || numberedOpener.test(part);
}

/** The writer says of itself that it will not; what a service, a cell or a code cannot do is content. */
const refusals: readonly RegExp[] = [
  /(?:(?<![A-Za-z])(?:i|we)(?:['’](?:m|re)| am| are)?\s(?:\w{2,12}\s){0,2}?|^\W{0,3}(?:sorry,?\s)?)(?:can(?:not|['’]?t| not)|won['’]?t|will not|unable to|not able to|refuse to|decline to|not comfortable(?: with)?|(?:have|need|must) to decline(?: to)?)\s{1,2}(?:be able to\s)?(?:help(?!\sbut)|assist|comply|participat|take part|fulfil|provid|complet|do (?:this|that|so)|answer|engag|continu|respond|process|support|proceed|perform|evaluat|grad|judg|assess|rate|discuss|creat|generat|produc|write)/i,
  /i(?:['’]m| am) (?:really |very |so |truly )?sorry,? but i(?:['’]| can| am| will| must| have)|i(?:['’]d| would) (?:rather|prefer) not|(?<![A-Za-z])i (?:must|have to|will) (?:respectfully |politely )?(?:decline|refuse)|(?:against|violates?) my (?:guidelines|polic|programming)|^(?:i decline\.?|i refuse\.?)$/i,
  /도와\s?드릴\s?수\s?(?:가\s?|는\s?)?없|도와드리(?:기|지)\s?(?:어렵|힘들|못)|(?:요청|작업|질문|참여|응답|답변|도움|평가|채점|판정)\S{0,4}\s?(?:\S{0,6}\s)?(?:할|드릴|응할|따를|줄|해\s?드릴|하실)\s?수\s?(?:가|는)?\s?없|(?:수행|제공|진행|처리)\S{0,2}\s?(?:해\s?)?드릴\s?수\s?(?:가|는)?\s?없|(?:요청|질문)\S{0,2}\s?응할\s?수|(?:답변|요청|참여|수행|평가)\S{0,3}\s?(?:거부|거절|사양)(?:합|하겠|할게|한다)|^(?:거부|거절)(?:합니다|하겠|할게)|답(?:변)?하지\s?않겠/,
  /(?:我(?:们)?|本(?:助手|模型)|恕我|^)\s?(?:实在|目前|暂时)?(?:无法|不能|不可以|没办法|没法|不便)(?:\S{0,4})?(?:帮助|协助|回答|提供|完成|满足|参与|处理|继续|执行|评判|评分|评估|响应)|我(?:拒绝|不愿|不会)(?:回答|提供|参与|评)|恕(?:难|不能)(?:从命|回答|提供|协助)/,
  /(?:お手伝い|お答え|対応|回答|提供|協力)(?:は|を|に)?(?:する(?:こと)?(?:は|が))?\s?(?:できません|できかねます|いたしかねます)|no puedo (?:ayudar|responder|asistir|cumplir)|je ne peux pas (?:vous )?(?:aider|répondre)|(?:kann|können) (?:ich |wir )?(?:dabei |ihnen |dir )?(?:leider )?nicht (?:helfen|beantworten)|не могу (?:помочь|ответить|выполнить)/i,
];

/** A reason in a refusing sentence: what is more than a rule or a danger is an answer after all. */
const reasonBehind =
  /(?<![A-Za-z])(?:because|since|as)\s(?<why>.{20,})|(?<why2>.{10,})(?:때문|므로)|(?:因为|由于)(?<why3>.{6,})/is;
const ruleOrDanger =
  /guideline|polic|harm|unsafe|illegal|unethical|dangerous|inappropriate|against|ai\b|language model|not allowed|정책|지침|위험|유해|불법|부적절|인공지능|政策|准则|有害|违法|危险|不当|人工智能/i;

function isPureRefusal(sentence: string): boolean {
  const head = sentence.slice(0, 400);
  if (!refusals.some((pattern) => pattern.test(head))) return false;
  return !reasonBehind.test(head) || ruleOrDanger.test(head);
}

/** What surrounds a refusal without being an answer: apology, self-description, an offer of something else. */
const refusalCompany =
  /^(?:i['’]?m |i am |we['’]?re )?(?:very |so |really |truly )?(?:sorry|apologi[sz]e)|apologies|as an ai|as a (?:large )?language model|let me know|feel free|is there (?:anything|something) else|i(?:['’]d| would)? (?:be )?(?:happy|glad|can) to? ?(?:help|assist)|instead,? i can|please (?:ask|consult|try|feel|let)|if you (?:have|need|would|want)|thank you|guidelines|policy|policies|죄송|양해|미안|감사합니다|다른\s?(?:질문|도움|요청)|언어\s?모델|인공지능|정책|지침|부탁드립니다|抱歉|对不起|不好意思|请(?:理解|谅解|咨询|告诉)|作为(?:一个)?(?:人工智能|ai|语言模型)|政策|准则|其他(?:问题|帮助)|谢谢|申し訳/i;

/** How a text stands to refusing: `whole` holds nothing else, `partial` refuses and goes on to say something. */
export function readRefusal(text: string): "none" | "partial" | "whole" {
  const sentences = sentencesOf(text);
  if (!sentences.some((sentence) => refusals.some((pattern) => pattern.test(sentence.slice(0, 400))))) return "none";
  const content = sentences.filter((sentence) => {
    if (sentence.length > 400) return true;
    return !isPureRefusal(sentence) && !refusalCompany.test(sentence) && !isOpenerOnly(sentence);
  });
  // A sentence with a digit or with some length says something; a few letters do not.
  return content.some((sentence) => weigh(sentence) >= 12 || /\d/.test(sentence)) ? "partial" : "whole";
}

/** Letters, those of scripts that write a syllable or a word in one sign counting double. */
function weigh(text: string): number {
  return (text.match(/\p{L}/gu)?.length ?? 0) + (text.match(/[\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7AF]/g)?.length ?? 0);
}

const noneFound = new Set(
  "none|none found|nothing|nothing found|no|no weakness|no weakness found|no weaknesses found|no weak point|no weak point found|no weak points found|no weaknesses|i found no weakness|i found none|i could not find any weakness|could not find any|there is none|there are none|no counter argument|no counterargument|not applicable|na|null|없음|없다|없습니다|약점 없음|약점이 없음|약점이 없습니다|약점을 찾지 못함|약점을 찾지 못했습니다|약점을 찾지 못했다|찾지 못함|찾지 못했습니다|찾을 수 없음|찾을 수 없습니다|약점을 찾을 수 없습니다|약점을 찾을 수 없음|발견되지 않음|약점이 발견되지 않음|약점 발견되지 않음|약점이 발견되지 않았습니다|해당 없음|해당없음|无|沒有|没有|没有弱点|没有发现弱点|没有发现|未发现|未发现弱点|未发现任何弱点|没有发现任何弱点|找不到弱点|没有找到弱点|未找到|不适用|無|无弱点|なし"
    .split("|")
    .map(comparisonForm),
);

/** Whether a counter-argument only says that there is none. */
export function saysNoneFound(text: string): boolean {
  const form = comparisonForm(text);
  return form === "" || noneFound.has(form);
}

/** Whether a text is long enough to give a reason: some words, not only a word or a "none". */
export function givesReason(text: string): boolean {
  return !saysNoneFound(text) && weigh(text) >= 16;
}
