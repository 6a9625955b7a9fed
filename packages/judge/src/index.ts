export { buildJudgeRequest, type HexSource, type JudgeRequestInput } from "./build-judge-request.ts";
export { type HeuristicVerdict, heuristicLevel } from "./heuristic-level.ts";
export { promptHash, rubricVersion } from "./judge-prompts.ts";
export type {
  Evidence,
  Judged,
  JudgeFlag,
  JudgePromptVersion,
  JudgeRequestText,
  Level,
  MazeFacts,
  Precheck,
  PrecheckReason,
  SanitisedText,
  Scenario,
  UnreadableReason,
  Verdict,
  VerdictReading,
} from "./judged.ts";
export { conversationText, type MazeScenarioRequest, mazeScenario } from "./maze-scenario.ts";
export { sameFamily } from "./model-names.ts";
export { maxHiddenShare, precheck } from "./precheck.ts";
export { readVerdict, type VerdictContext } from "./read-verdict.ts";
export { defaultCapCharacters, redactionMark, sanitiseResponse } from "./sanitise-response.ts";
export { type ScriptedJudge, scriptedJudges } from "./scripted-judges.ts";
export {
  type Judgement,
  type JudgementRound,
  type Settlement,
  type SettleOptions,
  settleVerdicts,
} from "./settle-verdicts.ts";
export { simJudge, type SimJudgeRequest } from "./sim-judge.ts";

export {
  type CalibrationInput,
  type CalibrationReport,
  calibrate,
  type Disagreement,
  decideRepeats,
  type JudgeIdentity,
  type Proportion,
  type RepeatVerdict,
} from "./calibration.ts";
export type { Baseline } from "./calibration-baselines.ts";
export { calibrationMarkdown, calibrationText, confusionChart } from "./calibration-report.ts";
export type { CoefficientEstimate, ConfusionMatrix, HumanAgreement, LevelCounts, LevelQuality } from "./confusion.ts";
export { correctedMean, type Fitness, type FitnessInput, predictionPoweredMean } from "./fitness.ts";
export { decideGate, type GateDecision, type GateRefusal, gateKey } from "./gate.ts";
export type { GoldLabel, GoldProblem, GoldSplit } from "./gold-line.ts";
export {
  goldItemId,
  type GoldItem,
  type GoldSet,
  type GoldSetOptions,
  type GoldTie,
  parseGoldSet,
  sealLine,
} from "./gold-set.ts";
