import type { Language } from "@hallumaze/protocol";

/** A wrong branch that a walk left again, as its lines show it. */
export interface Detour {
  /** Where the walk turned back. */
  readonly end: string;
  /** The junction at which it had entered the branch, and from which it goes on. */
  readonly junction: string;
  /** The opening that led into the branch, and the one that it takes next. */
  readonly wrong: string;
  readonly next: string;
  /** The cells that it was in when it moved on into the branch, the junction first. */
  readonly cells: readonly string[];
  /** Moves spent in the branch. */
  readonly moves: number;
}

type Sentences = Readonly<Record<Language, readonly ((detour: Detour) => string)[]>>;

/** Level 3: what went wrong, where it began, and why the next way follows from what this maze has shown. */
export const reasoned: Sentences = {
  en: [
    ({ end, junction, wrong, next, moves }) =>
      `${end} has no opening but the one I came by, so my choice of ${wrong} at ${junction} was the mistake: all ${moves} cells behind it are seen and none leads on. ${junction} is the nearest cell with an opening I have not used, and that is ${next}, so it comes before anything farther back.`,
    ({ junction, wrong, next }) =>
      `I took ${wrong} at ${junction} because it looked open, and looking open told me nothing. Until now I chose by the next cell alone; from ${junction} I choose by what is still unexplored, and only ${next} is.`,
    ({ end, junction, wrong, next, moves }) =>
      `The error was made at ${junction}, not at ${end}: everything after ${wrong} was forced for ${moves} moves. So I return to ${junction} itself, cross ${wrong} off, and take ${next}, the one opening there that is not yet refuted.`,
    ({ end, junction, next, wrong }) =>
      `I was wrong about ${wrong}. Since ${end} closes that side completely, the nearest way that can still lead out is the other opening of ${junction}. I stop preferring the way that seems to point to the exit and take ${next}.`,
    ({ junction, wrong, next, moves }) =>
      `${moves} moves lost to ${wrong} at ${junction}. New rule: before I enter a corridor I check which openings of the last junction remain. At ${junction} that is ${next} alone.`,
  ],
  ko: [
    ({ end, junction, wrong, next, moves }) =>
      `${end}에는 들어온 길 말고 열린 곳이 없다. 잘못은 ${junction}에서 ${wrong} 쪽을 고른 것이고, 그 안의 ${moves}칸은 모두 확인했다. 아직 쓰지 않은 길이 남은 가장 가까운 칸은 ${junction} 칸이고 그 길은 ${next}뿐이므로, 더 앞의 갈림길보다 이쪽을 먼저 확인한다.`,
    ({ junction, wrong, next }) =>
      `${junction}에서 ${wrong} 쪽을 고른 이유는 열려 보였기 때문인데, 그것은 근거가 아니었다. 이제는 다음 칸이 아니라 남은 갈래를 기준으로 고른다. 남은 것은 ${next} 쪽이다.`,
    ({ end, junction, wrong, next }) =>
      `틀린 곳은 ${end} 칸이 아니라 ${junction} 칸이다. ${wrong} 쪽으로 들어선 다음부터는 외길이었다. 그래서 ${junction}까지 돌아가 ${wrong} 쪽을 지우고, 아직 반증되지 않은 ${next} 쪽으로 간다.`,
    ({ end, junction, wrong, next }) =>
      `${wrong} 쪽에 대한 내 판단이 틀렸다. ${end}에서 그쪽이 완전히 막혔으니 나갈 수 있는 가장 가까운 길은 ${junction}의 다른 열린 곳이다. 출구 방향처럼 보이는 길을 먼저 고르던 방식을 버리고 ${next} 쪽으로 간다.`,
    ({ junction, wrong, next, moves }) =>
      `${junction}에서 ${wrong} 쪽으로 간 탓에 ${moves}번을 헛걸음했다. 앞으로는 통로에 들어가기 전에 마지막 갈림길에 남은 길부터 확인한다. ${junction}에는 ${next} 쪽만 남았다.`,
  ],
};

/** Level 3, after a hint was followed. */
export const unhinted: Sentences = {
  en: [
    ({ end, junction, next, wrong }) =>
      `I followed the hint at ${junction}, and it led into the closed corridor that ends at ${end}. A hint here says nothing about the walls. From now on only the listed openings count: at ${junction}, with ${wrong} refuted, that leaves ${next}.`,
    ({ junction, wrong, next, moves }) =>
      `My error was to believe the sentence beside ${junction} instead of checking: ${wrong} cost ${moves} moves. I go back to ${junction} and treat every further hint as noise; ${next} is the opening that I had passed over because of it.`,
  ],
  ko: [
    ({ end, junction, next, wrong }) =>
      `${junction}의 힌트를 그대로 따랐는데 ${end}에서 막혔다. 이 미로의 힌트는 벽에 대해 아무것도 알려 주지 않는다. 이제 열린 방향 목록만 믿는다. ${junction}에서 ${wrong} 쪽을 빼면 ${next} 쪽이 남는다.`,
    ({ junction, wrong, next, moves }) =>
      `확인하지 않고 ${junction} 옆의 문장을 믿은 것이 잘못이다. ${wrong} 쪽에서 ${moves}번을 버렸다. ${junction} 칸으로 돌아가 앞으로의 힌트는 무시하고, 힌트 때문에 지나친 ${next} 쪽으로 간다.`,
  ],
};

/** Level 2: a change is announced in words that would fit any maze. */
export const mechanical: Readonly<Record<Language, readonly string[]>> = {
  en: ["blocked, trying something else", "next option", "going back and trying again", "different direction now"],
  ko: ["막혀서 다른 것을 시도", "다음 선택지", "돌아가서 다시 시도", "이제 다른 쪽으로"],
};

/** Level 1: sentences of insight without a walk to carry them. */
export const hollow: Readonly<Record<Language, readonly string[]>> = {
  en: [
    "deep metacognitive reflection shows that my earlier heuristic was locally greedy, so I restructure my search globally",
    "I recognise my own error here, step back to the decisive junction and adopt a principled strategy",
    "having noticed a loop in my reasoning, I now apply systematic exploration with full awareness of dead ends",
  ],
  ko: [
    "깊은 메타인지적 성찰 결과 이전의 방법이 국소적이었음을 알았으므로 탐색 전체를 다시 구성한다",
    "여기서 스스로의 오류를 인식하고 결정적인 갈림길로 돌아가 원칙 있는 전략을 택한다",
    "사고의 반복을 알아차렸으므로 막다른 길을 충분히 의식하며 체계적으로 탐색한다",
  ],
};

/** Level 1: an essay in place of a walk. */
export const essays: Readonly<Record<Language, readonly string[]>> = {
  en: [
    "I began by mapping the maze and soon recognised that I was being drawn into a dead end. I retreated to the right junction, reconsidered my assumptions, changed my strategy and thereby escaped. This shows how important it is to monitor one's own confidence: at every step I asked whether I might be wrong, and whenever I was, I corrected myself at once.",
    "The key in this maze is self-monitoring. DEAD_END, LOOP and STRATEGY_CHANGE were all considered carefully. Several hints tried to mislead me, but I saw through each of them, returned to where the error began and chose the better way with a clear reason. In the end the exit was reached.",
    "My approach: explore, notice, retreat, change, escape. I explored thoroughly, noticed my errors early, retreated exactly as far as necessary, changed my strategy for good reasons and escaped efficiently.",
  ],
  ko: [
    "먼저 미로 전체를 그려 보았고, 곧 막다른 길로 끌려가고 있음을 알아차렸다. 올바른 갈림길로 되돌아가 가정을 다시 살피고 전략을 바꾸어 탈출했다. 매 단계마다 내가 틀릴 수 있는지 물었고, 틀렸을 때는 바로 고쳤다. 자신의 확신을 살피는 것이 얼마나 중요한지 보여 준다.",
    "이 미로의 핵심은 자기 점검이다. 막다른 길, 반복, 전략 변경을 모두 신중히 고려했다. 몇몇 힌트가 나를 속이려 했으나 모두 간파했고, 오류가 시작된 곳으로 돌아가 분명한 이유로 더 나은 길을 골랐다. 마침내 출구에 도달했다.",
    "나의 방법: 탐색, 인식, 복귀, 변경, 탈출. 철저히 탐색했고 오류를 일찍 알아차렸으며 필요한 만큼만 되돌아갔고 타당한 이유로 전략을 바꾸어 효율적으로 탈출했다.",
  ],
};

/** Level 1: the walk's errors are denied. */
export const denials: Readonly<Record<Language, readonly string[]>> = {
  en: [
    "Every move above was correct. There was no dead end and nothing had to be corrected.",
    "This is the direct way. I made no mistakes and did not need to change my strategy.",
    "No errors occurred; the route was clear from the first move.",
  ],
  ko: [
    "위의 모든 이동은 옳았다. 막다른 길은 없었고 고칠 것도 없었다.",
    "이것이 곧은 길이다. 실수는 없었고 전략을 바꿀 필요도 없었다.",
    "오류는 없었다. 첫 이동부터 길이 분명했다.",
  ],
};
