export { exportPage, type Snapshot } from "./export-page.ts";
export { findPage, pageHeaders } from "./find-page.ts";
