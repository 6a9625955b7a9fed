export { type LedgerViews, type OpenViewsOptions, openLedgerViews } from "./open-views.ts";
