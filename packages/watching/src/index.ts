export type {
  Figures,
  FiguresPort,
  JudgeAgreement,
  JudgeGroup,
  LaneFigures,
  LedgerFigures,
  PoolUse,
  SweepFigures,
  TrialGroup,
} from "./figures.ts";
export { type FiguresPorts, type FiguresReader, openFiguresReader, type Reading } from "./read-figures.ts";
