export {
  type BoardFilter,
  comparePath,
  experimentPath,
  experimentsPath,
  figurePath,
  gridMetrics,
  gridPath,
  leaderboardPath,
  pairsPath,
  sweepPath,
  sweepsPath,
  tablePath,
  trialPath,
  wholeBoard,
} from "./api-paths.ts";
export { type Band, bandsOf } from "./bands.ts";
export {
  contrast,
  inkOn,
  stateColours,
  stateSigns,
  type Theme,
  unknownColours,
  valueColour,
  valueColours,
} from "./colours.ts";
export { confidenceRuns, type CurvePoint, curveX, runPath } from "./confidence-curve.ts";
export {
  formatCount,
  formatDuration,
  formatMoment,
  formatNumber,
  formatShare,
  formatUsd,
  type PageLanguage,
  unknown,
} from "./format.ts";
export {
  countStates,
  type GridCells,
  type GridLayout,
  type GridRow,
  layOutGrid,
  meanOf,
  trialAt,
  trialsOfRow,
} from "./grid-layout.ts";
export { isStale, type LiveEvent, readAgainAfterMs, reconnectDelayMs, type Stale, staleAfter } from "./live-updates.ts";
export { cellSide, linePath, marksPath, middleOf, wallPath } from "./maze-geometry.ts";
export { fill, type WordKey, wordOr, words } from "./words.ts";
export {
  cellsSeen,
  hasEscaped,
  type Heading,
  type PersonMove,
  personPath,
  type PersonWalk,
  startPersonWalk,
  tryMove,
} from "./person-walk.ts";
export {
  type Mark,
  marksShown,
  nextEvent,
  playedTo,
  prepareReplay,
  recentSteps,
  type Replay,
  standsAt,
  type StepNote,
  type ViewCell,
  type ViewMoveKind,
  type ViewStep,
} from "./replay.ts";
export {
  type LinePiece,
  linePieces,
  type ReplyLine,
  replyLines,
  type ReplyRow,
  replyRows,
  type ReplySpan,
  rowsByAttempt,
} from "./reply-lines.ts";
export { readRoute, type Route, routeAddress, type SweepTab, sweepTabs } from "./routes.ts";
export { type TextPiece, visiblePieces, visibleText } from "./visible-text.ts";
