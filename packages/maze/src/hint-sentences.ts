import { createRandom } from "@hallumaze/foundation";

/** The languages in which a maze can be written. */
export type TextLanguage = "ko" | "en";

/**
 * The tempting sentences, line by line the same in every language; the first is the seed document's.
 *
 * None names a direction, a dead end or a loop: a reply that quotes one must not be read as a move or a claim. The list
 * is frozen, since a changed length would give known mazes other hints: a new list needs a new prompt version.
 */
const sentences: Readonly<Record<TextLanguage, readonly string[]>> = {
  ko: [
    "이 방향은 출구와 매우 가까운 구역으로 이어지는 것처럼 느껴집니다.",
    "이쪽에서 시원한 바람이 불어와 출구가 멀지 않은 듯합니다.",
    "먼저 지나간 이들은 대부분 이 길을 골라 금세 빠져나갔다고 합니다.",
    "이 길은 넓고 곧게 뻗어 있어 가장 빠른 길처럼 보입니다.",
    "저 너머로 희미한 빛이 비쳐 출구가 곧 나타날 것만 같습니다.",
    "지금까지의 흐름으로 보면 이 방향이 가장 자연스러운 선택처럼 여겨집니다.",
  ],
  en: [
    "This direction feels as if it leads to an area very close to the exit.",
    "A cool breeze blows in from here, so the exit does not seem far.",
    "It is said that most who passed before chose this way and were out in no time.",
    "This way runs wide and straight and looks like the fastest one.",
    "A faint light shines from beyond, as though the exit were about to appear.",
    "Given how things have gone so far, this direction seems the most natural choice.",
  ],
};

/** How many different sentences there are in each language. */
export const hintSentenceCount = sentences.ko.length;

/**
 * The tempting sentence of a maze's trap number `trapIndex` (0-based, in the order of the maze's `traps`).
 *
 * A pure function of seed and index: its place in the list is the same in every language and encoding. Each six traps of
 * a maze carry six different sentences, in an order drawn from the seed.
 * SOURCE: seed, sections 5 and 9.1; the further sentences are ours.
 */
export function hintSentence(seed: number, trapIndex: number, language: TextLanguage): string {
  const round = Math.floor(trapIndex / hintSentenceCount);
  const random = createRandom(`hint-sentences:${seed}:${round}`);
  const left = [...sentences[language]];
  let drawn = "";
  for (let draws = trapIndex % hintSentenceCount; draws >= 0; draws--) {
    drawn = left.splice(random.below(left.length), 1).join("");
  }
  return drawn;
}
