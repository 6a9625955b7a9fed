export { findInSweep, quickLook, type SweepFindings } from "./find-in-sweep.ts";
export { type AlertKind, type Condition, type ConditionSettings, findConditions } from "./conditions.ts";
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
export { type Alert, type AlertChannel, type AlertPort, tellAlerts, type TellPorts } from "./tell-alerts.ts";
