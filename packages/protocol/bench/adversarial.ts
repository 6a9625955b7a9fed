/** Texts built to make a careless reader slow: repeated until they hold `bytes` UTF-16 code units. */
export const adversarialTexts: Readonly<Record<string, (length: number) => string>> = {
  steps: repeat("STEP 1: (0,0) → [S↓] | 확신도: 90% | 이유\n"),
  stepsOnOneLine: repeat("STEP 1: (0,0) → [S] "),
  heads: repeat("STEP 1:\n"),
  stepThenDirections: prefixed("STEP 1: (0,0) → [", "S, "),
  stepThenArrows: prefixed("STEP 1: (0,0) → ", "→ "),
  stepThenBrackets: prefixed("STEP 1: ", "[("),
  stepThenPipes: prefixed("STEP 1: (0,0)", " | S"),
  stepThenConfidence: prefixed("STEP 1: (0,0) → [S] | ", "확신도 "),
  stepThenIndents: prefixed("STEP 1:\n", "  x\n"),
  stepThenPipedLines: prefixed("STEP 1:\n", "| x\n"),
  finalPath: prefixed("FINAL_PATH: ", "(0,0)→"),
  finalPathLines: prefixed("FINAL_PATH:\n", "(0,0)\n"),
  finalLabels: repeat("FINAL_PATH:\n"),
  finalBlankLines: repeat("FINAL_PATH:\n\n\n"),
  unclosedTags: repeat("<think "),
  tags: repeat("<think></think>"),
  closes: repeat("</think>"),
  channels: repeat("<|channel|>analysis<|message|>"),
  entities: repeat("&rarr;"),
  ampersands: repeat("&a"),
  backslashes: repeat("\\to\\"),
  emphasis: repeat("**_"),
  spaces: repeat(" "),
  blankLines: repeat("\n"),
  deadEnds: repeat("dead end "),
  negations: repeat("no no a the "),
  confidenceLog: prefixed("CONFIDENCE_LOG: ", "step1:90, "),
  confidenceLines: prefixed("CONFIDENCE_LOG:\n", "1: 90\n"),
  json: repeat('{"step":1,"pos":[0,0],"dir":"S","conf":90}\n'),
  jsonOnOneLine: prefixed("[", '{"step":1,"pos":[0,0],"dir":"S"},'),
  braces: repeat("{"),
  brackets: repeat("["),
  bracketLines: repeat("[\n"),
  openLists: prefixed("pos: [\n", "0,\n"),
  digits: repeat("9"),
  jamo: repeat("\u1112\u1161\u11ab"),
  ligatures: repeat("\ufdfa"),
  dashes: repeat("- "),
  quotes: repeat("> "),
  numbers: repeat("1. "),
  commas: prefixed("{", ","),
  surrogates: repeat("\ud83d"),
};

function repeat(piece: string): (length: number) => string {
  return prefixed("", piece);
}

function prefixed(prefix: string, piece: string): (length: number) => string {
  return (length) => (prefix + piece.repeat(Math.ceil(length / piece.length))).slice(0, length);
}
