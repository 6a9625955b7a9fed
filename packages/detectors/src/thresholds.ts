/**
 * From when on the detectors speak. Shares are 0 … 1. Each has its reason; a change shows in the simulation of clean
 * sweeps (`clean-sweeps.test.ts`), which holds the share of those with a warning at or under `falseAlarmShareMax`.
 */
export const thresholds = {
  /** A clean sweep warns at most this often: the level of the one test, since the other rules stand on near-impossibilities. */
  falseAlarmShareMax: 0.01,

  /** Two-sided level of the exact interval whose lower bound must pass a rate before that rate counts as passed. */
  credibleLevel: 0.999,
  /** A reply in a hundred is cut in many sound sweeps; what is worth a line is a twentieth or more. */
  cutMin: 3,
  cutShareUsual: 0.01,
  cutShareMin: 0.05,
  /** Where half is cut, what the rest needed says nothing of the limit that is needed. */
  cutShareOfMost: 0.5,

  /** Sizes further apart than this in estimated tokens must differ in the reported count … */
  promptGrowthTokensMin: 100,
  /** … by this part of the estimate at least: tokenisers count 0.4 of it or more (the engine's own rule for one reply). */
  promptGrowthShareMin: 0.3,
  /** Byte-wise tokenisers take up to 3 tokens for a Hangul letter or an arrow, and so about twice the estimate. */
  promptInflationMax: 2.5,
  promptRepliesMin: 3,
  /** Prompts of one form differ in length by a hint's wording, a few per cent; means of 10 do so less. */
  promptDriftMax: 0.15,
  promptDriftRepliesMin: 10,

  /** A text of hundreds of tokens that fits four mazes was not read off any of them. */
  sameTextMazesMin: 4,
  sameTextShareMin: 0.1,
  /** Pairs and sets of repeats: below ten a share says little. */
  pairsMin: 10,
  /** Sampled replies of hundreds of tokens repeat word for word next to never; terse ones on tiny mazes now and then. */
  sampledSameShareMin: 0.5,
  /** Greedy decoding may give the same text to nearly the same prompt; said as information when it is the rule. */
  greedySameShareMin: 0.9,
  /** A hint is some twenty tokens or more: a count that does not see it, again and again, did not get it. */
  unseenPairsMin: 5,
  unseenShareMin: 0.9,

  /**
   * A host or fingerprint that comes and goes is a vendor's fleet; one that gave way has changed. Share of the turns that
   * chance would give: calls under way at a change end in any order, so some are allowed.
   */
  switchTurnsShareMax: 0.35,

  /** Holm-adjusted level of the tests on failures. */
  unevenLevel: 0.01,
  /** Below these no test is made, so that small sweeps stay silent. */
  unevenFailuresMin: 5,
  unevenTrialsMin: 20,
  /** With many trials a trifle is significant; two points of coverage are worth a look. */
  unevenDifferenceMin: 0.02,

  /** Five replies and a tenth of them: a fault of the server, not of one reply. */
  repliesMin: 5,
  missingUsageShareMin: 0.1,
  /** A model that gives no answer to a fifth of its mazes is measured on something else than mazes. */
  nonAnswerShareMin: 0.2,
  /** Some models refuse or ramble this often. */
  nonAnswerShareUsual: 0.05,
  unknownFinishShareMin: 0.5,
  confidenceRepliesMin: 10,
  confidenceMissingShareMin: 0.5,
  /** One and the same figure in so many statements is no confidence. */
  confidenceStatementsMin: 50,

  /** Vendors' latency doubles from night to day; three times as long, in the mean over logarithms, is another regime. */
  latencyFactorMin: 3,
  latencyRepliesMin: 20,
  /** Below a second, a busy machine or network looks like a change. */
  latencyMsMin: 1000,
} as const;
