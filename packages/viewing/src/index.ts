export type {
  GridColumn,
  GridRow,
  LedgerVersions,
  MazeRow,
  StoredExchange,
  SweepCounts,
  TrialDossier,
  ViewPort,
} from "./ports.ts";
export { viewTrial } from "./view-trial.ts";
