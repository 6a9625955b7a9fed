export { type BatchWorkerOptions, startBatchWorker } from "./batch-worker.ts";
export { drainDeadlineMs, type Environment, environmentNames, parseEnvironment } from "./environment.ts";
export { RuntimeError } from "./errors.ts";
export { type House, openHouse, openLedgerDatabase } from "./house.ts";
export { judgeModel, openJudgeCatalog } from "./judge-catalog.ts";
export { type JudgeWorkerOptions, startJudgeWorker } from "./judge-worker.ts";
export { openLaneCatalog } from "./lane-catalog.ts";
export { type Logger, openLogger } from "./logger.ts";
export { defaultSlots, type HousePlan, planInHouse, planPorts } from "./plan-house.ts";
export { houseChecks } from "./readiness.ts";
export { readProvenance } from "./provenance.ts";
export { type RepairReport, repairHouse } from "./repair-house.ts";
export { guardSchema, type SchemaGuard } from "./schema-guard.ts";
export { type Watch, watchHouse } from "./watch-house.ts";
export { type SolveWorker, startSolveWorker, type WorkerOptions, type WorkerTimes, workerTimes } from "./worker.ts";
export {
  checkModel,
  findDefaultLimits,
  findMissingKeys,
  missingPrices,
} from "@hallumaze/providers";
