export type { Cell, CellPlan, Group } from "./cell-plan.ts";
