export { addAnalyzeCommand } from "./analyze.ts";
export { addBundleCommand } from "./bundle.ts";
export { addImportCommand } from "./import.ts";
export { addReplayCommand } from "./replay.ts";
export { addReportCommand } from "./report.ts";
