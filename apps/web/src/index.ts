export { collectSnapshot, exportPage, type ServiceReader, type Snapshot } from "./export-page.ts";
export { findPage, pageHeaders, type PageFile, readPage } from "./find-page.ts";
